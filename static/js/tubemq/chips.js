// A partition as a chip: in its owner's colour, hatched where it is not subscribable, dashed where it is given away.

import { isTextured, paint, textOn } from "../drawing/paint.js";

export const CHIP = { height: 28, gap: 6, least: 44 };
const CHARACTER = 8;

// "3:flights:10001" is 3:10001 where the lane has one topic.
export const shortKey = (key) => `${key.slice(0, key.indexOf(":"))}:${key.slice(key.lastIndexOf(":") + 1)}`;
export const widthOf = (key) => Math.max(CHIP.least, shortKey(key).length * CHARACTER + 14);

// Chips of `keys` side by side, in as many lines as they need. -> [{key, x, y}], x and y from 0
export function placed(keys, width) {
  const places = [];
  let [x, y] = [0, 0];
  for (const key of keys) {
    const wide = widthOf(key);
    if (x > 0 && x + wide > width) [x, y] = [0, y + CHIP.height + CHIP.gap];
    places.push({ key, x, y });
    x += wide + CHIP.gap;
  }
  return places;
}

export const tallOf = (places) => (places.length ? places.at(-1).y + CHIP.height : CHIP.height);

// look: "has" in its owner's colour, "moved" the same with a thick outline, "void" assigned and not subscribable,
// "goes" given away, "comes" about to be registered, "refused" by the broker, "free" nobody's.
export function chipShapes(id, key, x, y, { look, color, title, part = null, isPressed = false }) {
  const wide = widthOf(key), isFilled = look === "has" || look === "moved";
  const fill = isFilled ? paint(color) : look === "void" ? "url(#void)" : look === "goes" ? "none" : "var(--panel)";
  const box = {
    id: `${id}/box`, tag: "rect", x: x + 0.75, y: y + 0.75, width: wide - 1.5, height: CHIP.height - 1.5, rx: 4, fill,
    title, class: `chip ${look}`, "stroke-width": look === "moved" ? 2.5 : isPressed ? 2.5 : 1.25,
  };
  if (part !== null) Object.assign(box, {
    "data-part": part, role: "button", "aria-pressed": String(isPressed), "aria-label": title, tabindex: -1,
  });
  const needsPlate = look === "void" || (isFilled && isTextured(color));
  const plate = {
    id: `${id}/plate`, tag: "rect", x: x + 6, y: y + 6, width: wide - 12, height: CHIP.height - 12, rx: 3,
    fill: "var(--panel)", class: "deaf",
  };
  const text = {
    id: `${id}/text`, tag: "text", x: x + wide / 2, y: y + 19, "text-anchor": "middle", text: shortKey(key),
    class: `n deaf${look === "goes" ? " m" : ""}${look === "moved" ? " b" : ""}${
      isFilled && !needsPlate ? ` ${textOn(color) === "var(--on-id-1)" ? "on-first" : "on"}` : ""
    }`,
  };
  const strike = { id: `${id}/strike`, tag: "path", d: `M${x + 5} ${y + 14}H${x + wide - 5}`, class: "strike deaf" };
  return [box, ...(needsPlate ? [plate] : []), text, ...(look === "goes" || look === "refused" ? [strike] : [])];
}
