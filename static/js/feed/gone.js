// The lab was deleted while its page was open: told when its feed ends, and to whoever presses something then.

import { say } from "../base/chrome.js";

const LABS = "/labs/";

export const tellGone = (notice) =>
  notice(say("notice.gone"), {
    near: document.getElementById("fresh"), label: say("notice.to_labs"), onAction: () => location.assign(LABS),
  });

// It is tried again and again, and told once, until a frame says that the lab is there again. -> {state: of the socket,
// frame}
export function createGone(notice) {
  let isTold = false;
  return {
    state(state) {
      if (state !== "gone" || isTold) return;
      isTold = true;
      tellGone(notice);
    },
    frame() { isTold = false; },
  };
}
