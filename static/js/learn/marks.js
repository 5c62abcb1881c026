// The tick and the place of lessons, written into a page.

import { say } from "../base/chrome.js";
import { markOf } from "./course.js";

const TICK = "M2 7.5l3.5 3.5L12 3.5", SVG = "http://www.w3.org/2000/svg";

export function showMark(element, place) {
  const mark = markOf(place);
  if (mark?.kind !== "done") {
    element.textContent = mark ? `${mark.frame}/${mark.frames}` : "";
    if (mark) element.append(unseen(` ${say("learn.at_frame", mark)}`));
    return;
  }
  const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
  for (const [name, value] of [["width", 14], ["height", 14], ["viewBox", "0 0 14 14"], ["aria-hidden", "true"]]) {
    svg.setAttribute(name, value);
  }
  path.setAttribute("d", TICK);
  svg.append(path);
  element.replaceChildren(svg, unseen(say("learn.done")));
}

function unseen(textContent) {
  return Object.assign(document.createElement("span"), { className: "unseen", textContent });
}

// Where a lesson that was begun goes on.
export const goOnAt = (address, lab) => `${address}?lab=${encodeURIComponent(lab)}`;
