// What a button does: it is busy until that is done, and a refusal stands beside it.

import { whileBusy } from "./pressed.js";
import { refusalOf } from "./reasons.js";

// -> act(near, doing): whether it was done. notice: of createNotice.
export const createAct = (notice) => async (near, doing) => {
  try {
    await whileBusy(near, doing);
    return true;
  } catch (error) {
    notice(refusalOf(error), { near });
    return false;
  }
};
