// What "Why?" is asked about in a column: a part of the picture, else the lane's last change; or a figure of the
// bill, which is of the whole course. What is another lab's has its answers on that lab's page.

import { TOTALS } from "../why/things.js";
import { placeIn, shapeAt } from "../why/at.js";

// lane: of the view, `id` its name. event: null where the target has the focus. -> a thing, null for nothing that can
// be asked about.
export function thingIn(target, id, lane, event) {
  const { figure } = target.closest("[data-figure]")?.dataset ?? {}, picture = target.closest("svg[role=img]");
  if (figure) return target.closest("td")?.cellIndex > 1 ? null : thingOf(figure);
  if (picture?.closest("figure").previousElementSibling) return null;
  return (picture && shapeAt(target, lane, placeIn(picture, event))) ?? (picture || !event ? `lane:${id}` : null);
}

function thingOf(figure) {
  if (TOTALS.includes(figure)) return `total:${figure}`;
  return `figure:${figure === "lag" ? "waiting" : figure}`;
}
