// What a presenter points at, as a text that finds the same thing on another screen: a place in the page, and after |
// the id of a shape in its picture.

import { shapeOf } from "../drawing/shapes.js";

const PLACES = ["slot", "consumer", "partition", "member", "broker", "queue", "term"];
const attribute = (name, value) => `[data-${name}="${CSS.escape(value)}"]`;

export function thingAt(element) {
  const inLane = element.closest("[data-lane]"), lane = inLane ? attribute("lane", inLane.dataset.lane) : "";
  const shape = shapeOf(element)?.id ?? shapeOf(element.parentElement)?.id ?? "";
  const place = element.closest([...PLACES.map((name) => `[data-${name}]`), "[data-picture]", "[id]"].join(","));
  if (!place || place.id === "main") return lane || null;
  const name = PLACES.find((each) => each in place.dataset);
  const own = shape ? pictureOf(element) : name ? attribute(name, place.dataset[name]) : selfOf(place);
  const thing = `${own === lane ? lane : `${lane} ${own}`.trim()}${shape ? `|${shape}` : ""}`;
  return thing.length <= 200 ? thing : null;
}

const selfOf = (place) => (place.id ? `#${CSS.escape(place.id)}` : "[data-picture]");
const pictureOf = (element) => {
  const svg = element.closest("svg");
  return svg.id ? `#${CSS.escape(svg.id)}` : "svg";
};

// -> the elements of a thing on this page; none where it is another page's.
export function elementsOfThing(root, thing) {
  const [place, shape] = thing.split("|");
  try {
    const found = [...root.querySelectorAll(place)];
    if (!shape) return found.slice(0, 1);
    return found.flatMap((svg) => [...svg.querySelectorAll("*")]).filter((each) => shapeOf(each)?.id === shape);
  } catch {
    return [];                                           // of a later version's page
  }
}
