// A room at a deck: who follows has the presenter's slide, with the answers that are open on it. A step that the
// presenter opens live is a lab in the same tab, so that the room goes along.

import { createNotice } from "../base/notice.js";
import { createRoom } from "../room/room.js";

const NO_PAST = { isShown: () => false, place: () => null, seek() {}, back() {} };

// read(): the slide's texts by name; show(texts): a slide as the presenter has it. changed(): the room's line is there.
export function createDeckRoom({ root, read, show, changed }) {
  const notice = createNotice(document.getElementById("notice"));
  const room = createRoom({ notice, past: NO_PAST, link: { read, show }, changed });
  root.addEventListener("submit", ({ target }) => {
    if (room.isPresenter()) target.target = "_self";
  });
  return room;
}
