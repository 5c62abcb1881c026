// A link that a program gives to the lab that it has made: #own= and the lab's token, which no server sees in an
// address. Whoever opens it has the lab in this browser from then on.

import { page } from "../base/chrome.js";
import { send } from "../base/requests.js";

const LINK = /^#own=([\w-]{16,128})$/u;

// failed(error): the lab is not theirs.
export async function takeOver(failed) {
  const secret = LINK.exec(location.hash)?.[1];
  if (!secret || page.player) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (page.owner) return;
  try {
    await send(page.urls.own, {}, secret);
    location.reload();
  } catch (error) {
    failed(error);
  }
}
