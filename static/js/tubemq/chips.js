// A partition as a chip: in its owner's colour, hatched where it is not subscribable, dashed where it is given away.

import { isTextured, paint, textOn } from "../drawing/paint.js";

export const CHIP = { height: 26, gap: 3, least: 36 };
const CHARACTER = 8;

// "3:flights:10001" is 3:10001 where the lane has one topic.
export const shortKey = (key) => `${key.slice(0, key.indexOf(":"))}:${key.slice(key.lastIndexOf(":") + 1)}`;
export const widthOf = (key) => Math.max(CHIP.least, shortKey(key).length * CHARACTER + 12);

const columnsOf = (keys, width) => {
  const wide = Math.max(CHIP.least, ...keys.map(widthOf));
  return Math.max(1, Math.floor((width + CHIP.gap) / (wide + CHIP.gap)));
};

// How many lines `count` of these keys take at this width.
export const linesOf = (keys, count, width) => Math.max(1, Math.ceil(count / columnsOf(keys, width)));

// Chips of `keys` side by side in at most `lines` lines; where there are more, the last place says how many.
// -> {places: [{key, x, y}], rest: {keys, x, y} or null}, x and y from 0
export function placed(keys, width, lines) {
  const columns = columnsOf(keys, width), room = columns * lines;
  const shown = keys.length <= room ? keys : keys.slice(0, room - 1);
  const wide = Math.max(CHIP.least, ...keys.map(widthOf));
  const at = (place) => ({
    x: (place % columns) * (wide + CHIP.gap), y: Math.floor(place / columns) * (CHIP.height + CHIP.gap),
  });
  return {
    places: shown.map((key, place) => ({ key, ...at(place) })),
    rest: shown.length === keys.length ? null : { keys: keys.slice(shown.length), ...at(shown.length) },
  };
}

export const tallOf = (lines) => lines * (CHIP.height + CHIP.gap) - CHIP.gap;

// look: "has" in its owner's colour, "moved" the same with a thick outline, "void" assigned and not subscribable,
// "goes" given away, "comes" about to be registered, "refused" by the broker, "free" nobody's.
export function chipShapes(id, key, x, y, { look, color, title, part = null, isPressed = false }) {
  const wide = widthOf(key), isFilled = look === "has" || look === "moved", middle = y + CHIP.height / 2;
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
    id: `${id}/plate`, tag: "rect", x: x + 5, y: y + 5, width: wide - 10, height: CHIP.height - 10, rx: 3,
    fill: "var(--panel)", class: "deaf",
  };
  const text = {
    id: `${id}/text`, tag: "text", x: x + wide / 2, y: middle + 5, "text-anchor": "middle", text: shortKey(key),
    class: `n deaf${look === "goes" ? " m" : ""}${look === "moved" ? " b" : ""}${
      isFilled && !needsPlate ? ` ${textOn(color) === "var(--on-id-1)" ? "on-first" : "on"}` : ""
    }`,
  };
  const strike = { id: `${id}/strike`, tag: "path", d: `M${x + 5} ${middle}H${x + wide - 5}`, class: "strike deaf" };
  return [box, ...(needsPlate ? [plate] : []), text, ...(look === "goes" || look === "refused" ? [strike] : [])];
}
