// The ranges at true scale: the line of all slots before the last change above, now below, and what changed hands
// between them, the giver's colour over the taker's. Hatched: nobody serves it.

import { isTextured, paint, textOn, waitingPaint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { segments } from "../drawing/slices.js";
import { handovers } from "./space.js";

export const TALL = 232;
const WAS = { y: 30, h: 34 }, NOW = { y: 128, h: 58 }, OUTLINED = 3;

export function bands(picture, colorOf, width, say) {
  const shapes = [], at = (slot) => round((slot / picture.space) * width);
  const fill = (owner, isDark) =>
    !colorOf(picture.names[owner])
      ? "url(#void)"
      : isDark
        ? waitingPaint(colorOf(picture.names[owner]))
        : paint(colorOf(picture.names[owner]));
  const bar = (id, pieces, { y, h }) => pieces.forEach(([from, to, owner, isDark], place) => {
    const x = at(from), wide = Math.max(0.5, at(to) - x), name = picture.names[owner], color = colorOf(name);
    shapes.push({
      id: `${id}-${place}`, tag: "rect", x, y, width: wide, height: h, fill: fill(owner, isDark),
      class: wide < OUTLINED ? "thin" : "o",
    });
    const text = name ?? say("subscription.gap");
    if (wide > text.length * 8 + 10) shapes.push({
      id: `${id}-name-${place}`, tag: "text", x: round(x + wide / 2), y: y + h / 2 + 5,
      class: `n mid b${!color || isDark || isTextured(color) ? " halo" : ""}`,
      fill: !color || isDark || isTextured(color) ? "var(--ink)" : textOn(color), text,
    });
  });
  if (picture.before) {
    bar("was", segments(picture.before, picture.space, false), WAS);
    const middle = (WAS.y + WAS.h + NOW.y) / 2;
    handovers(picture, false).forEach(([from, to, giver, taker], place) => {
      const x = at(from), wide = Math.max(0.5, at(to) - x);
      shapes.push(
        {
          id: `given-${place}`, tag: "rect", x, y: WAS.y + WAS.h, width: wide, height: middle - WAS.y - WAS.h,
          fill: fill(giver, false), class: "hand given",
        },
        {
          id: `taken-${place}`, tag: "rect", x, y: middle, width: wide, height: NOW.y - middle,
          fill: fill(taker, false), class: "hand taken",
        },
      );
    });
    shapes.push(
      { id: "was-word", tag: "text", x: 0, y: 20, class: "m", text: say("picture.bar_was") },
      { id: "now-word", tag: "text", x: width, y: 20, class: "m end", text: say("picture.bar_now") },
    );
  }
  bar("now", segments(picture.now, picture.space, false), NOW);
  return shapes;
}

export function marks(picture, width, { lens, slot, draining, number }) {
  const at = (where) => round((where / picture.space) * width), shapes = [], low = NOW.y + NOW.h;
  shapes.push(
    { id: "zero", tag: "text", x: 0, y: low + 34, class: "m n", text: "0" },
    { id: "end", tag: "text", x: width, y: low + 34, class: "m n end", text: number(picture.space - 1) },
  );
  if (lens.to - lens.from < picture.space) {
    shapes.push({
      id: "lens", tag: "rect", x: at(lens.from), y: NOW.y - 4, width: Math.max(2, at(lens.to) - at(lens.from)),
      height: NOW.h + 8, class: "lens-mark",
    });
  }
  for (const one of draining) {
    shapes.push({ id: `drain-${one}`, tag: "path", class: "drain-mark", d: `M${at(one + 0.5)} ${low + 4}v10` });
  }
  if (slot !== null) {
    shapes.push(
      { id: "asked", tag: "path", class: "needle", d: `M${at(slot + 0.5)} ${NOW.y - 12}V${low + 10}` },
      { id: "asked-dot", tag: "circle", cx: at(slot + 0.5), cy: NOW.y - 13, r: 4.5, class: "ink" },
    );
  }
  return shapes;
}

export const slotAt = ([x], picture, width) =>
  Math.max(0, Math.min(picture.space - 1, Math.floor((x / width) * picture.space)));
