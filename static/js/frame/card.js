// A card of the room above the page: it folds to its first line, and leaves what it is about in sight.

import { speak } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { openLane } from "../lane/open_lane.js";
import { pictureOf } from "./mark_places.js";

// codes: [to fold, to open] of the button. -> fold(isFolded)
export function createFold(button, body, codes) {
  function fold(isFolded) {
    body.hidden = isFolded;
    button.setAttribute("aria-expanded", String(!isFolded));
    setText(button, isFolded ? "+" : "–");
    speak(button, codes[Number(isFolded)], "sayLabel");
  }

  button.addEventListener("click", () => fold(!body.hidden));
  return fold;
}

// The lane stands open, and the card on the other side.
export function standBeside(card, lane) {
  openLane(lane);
  const { left, right } = pictureOf(lane)?.getBoundingClientRect() ?? { left: 0, right: 0 };
  card.dataset.side = left + right > innerWidth ? "left" : "right";
}
