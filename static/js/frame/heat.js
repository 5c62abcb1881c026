// What the whole room has marked on a picture, as heat: the more have marked a thing, the fuller it is, with their
// number; and what the change is about, once the truth is out.

import { draw } from "../drawing/shapes.js";
import { placesOn } from "./mark_places.js";

const SVG = "http://www.w3.org/2000/svg", LEAST = 0.2, MOST = 0.75, TICK = 3;

export function createHeat({ current }) {
  const overlay = document.body.appendChild(document.createElementNS(SVG, "svg"));
  overlay.setAttribute("class", "marks");
  overlay.setAttribute("aria-hidden", "true");

  // lane: that is asked about; heat: of a tally, null where it is not shown.
  return (lane, heat) => {
    const view = heat && current().lanes[lane];
    if (!view) return draw(overlay, []);
    const placeOf = placesOn({ lane, kind: heat.kind, view });
    return draw(overlay, [...heatShapes(heat, placeOf), ...truthShapes(heat, placeOf)]);
  };
}

export function heatShapes({ who, marks }, placeOf) {
  return Object.entries(marks).flatMap(([name, count]) => {
    const at = placeOf(name);
    if (!at) return [];
    const { x, y, width, height } = at, full = (LEAST + ((MOST - LEAST) * count) / Math.max(1, who)).toFixed(2);
    return [
      { id: `heat-${name}`, tag: "rect", x, y, width, height, rx: 6, class: "heat", "fill-opacity": full },
      { id: `count-${name}`, tag: "text", x: x + width / 2, y: y + height / 2 + 5, text: String(count) },
    ];
  });
}

// true: names, or [low, high] of slots, which are ticks: there are many.
export function truthShapes({ kind, true: names = [] }, placeOf) {
  return names.flatMap((name) => {
    const at = placeOf(kind === "slot" ? name : String(name));
    if (!at) return [];
    const shape = { id: `true-${[name].flat().join("-")}`, tag: "rect", class: "right" }, { x, y, width, height } = at;
    if (kind !== "slot") return [{ ...shape, x: x - 2, y: y - 2, width: width + 4, height: height + 4, rx: 8 }];
    const middle = { x: x + width / 2 - TICK, y: y + height / 2 - TICK };
    return [{ ...shape, ...middle, width: 2 * TICK, height: 2 * TICK, rx: TICK }];
  });
}
