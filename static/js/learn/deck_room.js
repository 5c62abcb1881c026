// A room at a deck: who follows has the presenter's slide, with the answers that are open on it, and answers what it
// asks. A step that the presenter opens live is a lab in the same tab, so that the room goes along.

import { createNotice } from "../base/notice.js";
import { createRoom } from "../room/room.js";
import { createSlideAsk } from "./slide_ask.js";

const NO_PAST = { isComing: () => false, isShown: () => false, place: () => null, seek() {}, back() {} };

// slides: their elements, below root. read(): the slide's texts by name; show(texts): a slide as the presenter has it.
// changed(): the room's line is there, or a slide is higher. inner(): as createRoom has it.
export function createDeckRoom({ root, slides, read, show, changed, inner }) {
  const notice = createNotice(document.getElementById("notice"));
  const room = createRoom({
    notice, past: NO_PAST, link: { read, show }, inner, changed: () => { ask.draw(); changed(); },
  });
  const ask = createSlideAsk({ slides, room, notice, changed });
  root.addEventListener("submit", ({ target }) => {
    if (room.isPresenter()) target.target = "_self";
  });
  return room;
}
