// One message with all that it says: a card beside its dot in the chart, while it is pointed at, has the focus, or was
// pressed.

import { place } from "../base/place.js";
import { messageWords } from "./words.js";

export function createMessage(card, parts) {
  let shown = "";
  return function write(exchange, dot, group, moment, say) {
    if (!exchange || !dot) {
      if (card.matches(":popover-open")) card.hidePopover();
      shown = "";
      return;
    }
    const words = messageWords(exchange, group, moment, say, Number(dot.dataset.count ?? 1));
    const key = JSON.stringify(words);
    if (key !== shown) {
      shown = key;
      parts.title.textContent = words.title;
      parts.about.textContent = words.about;
      parts.code.textContent = words.code;
      list(parts.times, words.times);
      list(parts.asked, words.asked);
      list(parts.answered, words.answered);
      parts.askedHead.hidden = !words.asked.length;
      parts.answeredHead.hidden = !words.answered.length;
    }
    if (!card.matches(":popover-open")) card.showPopover();
    place(card, dot);
  };
}

function list(target, rows) {
  target.replaceChildren(
    ...rows.flatMap(([name, value]) => [
      Object.assign(document.createElement("dt"), { textContent: name, className: "m" }),
      Object.assign(document.createElement("dd"), { textContent: value === "" ? "∅" : value, className: "n" }),
    ]),
  );
}
