// What "Why?" is asked about on this page.

import { shapeOf } from "../drawing/shapes.js";
import { placeIn, slotIn } from "../why/at.js";

// In the picture of the hash space a slot, in that of the cursor the cursor.
export function thingAt(target, event, lane, { picture }, partition) {
  const svg = target.closest("svg"), { id } = shapeOf(target) ?? {};
  if (!svg || id === undefined) return null;
  if (svg.id === "strip") return { lane, thing: `cursor:${partition}` };
  const slot = svg.id === "space" && event ? slotIn(id, picture, placeIn(svg, event)) : null;
  return slot && { lane, thing: slot };
}

export const chosenThing = (lane, chosen) =>
  ({ lane, thing: chosen === null ? `lane:${lane}` : `consumer:${chosen}` });
