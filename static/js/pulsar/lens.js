// The zoom lens: a window of the hash space, unrolled and to scale, each slice with its first and last slot. Points of
// the ring are the ends of slices.

import { number } from "../base/say.js";
import { isTextured, paint, textOn, waitingPaint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { seen } from "./space.js";

const WAS = { y: 4, h: 14 }, NOW = { y: 24, h: 42 }, PIECES_MAX = 400;

// window: {from, to}. draining: {slot: {from, to, count}}. slot: of the typed key, or null.
export function layout(picture, { window, width, colorOf, slot, draining, say }) {
  const shapes = [], at = (where) => round(((where - window.from) / (window.to - window.from)) * width);
  const bar = (id, cut, { y, h }, isLabelled) => {
    const pieces = seen(cut, picture, window);
    if (pieces.length > PIECES_MAX) return false;
    pieces.forEach(([from, to, owner, isDark, first, end], place) => {
      const x = at(from), wide = Math.max(0.5, at(to) - x), name = picture.names[owner], color = colorOf(name);
      shapes.push({
        id: `${id}-${place}`, tag: "rect", x, y, width: wide, height: h,
        fill: !color ? "url(#void)" : isDark ? waitingPaint(color) : paint(color), class: wide < 3 ? "thin" : "o",
      });
      if (!isLabelled) return;
      const text = name ?? say("subscription.gap"), isPlain = color && !isDark && !isTextured(color);
      // The needle stands before the middle of the slice that was asked for: its name steps aside.
      const middle = round(x + wide / 2);
      const isHidden = slot !== null && Math.abs(at(slot + 0.5) - middle) < text.length * 4 + 6;
      if (wide > text.length * 8 + 8 && !(isHidden && wide < 120)) {
        shapes.push({
          id: `${id}-name-${place}`, tag: "text", x: isHidden ? middle - 40 : middle, y: y + h / 2 + 5,
          class: `n mid b${isPlain ? "" : " halo"}`, fill: isPlain ? textOn(color) : "var(--ink)", text,
        });
      }
      const range = `${number(first)}..${number(end - 1)}`;
      if (wide > range.length * 8 + 10) {
        shapes.push({
          id: `${id}-range-${place}`, tag: "text", x: round(x + wide / 2), y: NOW.y + NOW.h + 18, class: "n mid m",
          text: range,
        });
      }
    });
    return true;
  };
  if (picture.before) bar("was", picture.before, WAS, false);
  if (!bar("now", picture.now, NOW, true)) {
    shapes.push({
      id: "too-many", tag: "text", x: width / 2, y: NOW.y + 26, class: "mid m", text: say("subscription.lens_many"),
    });
  }
  for (const [one, { count }] of Object.entries(draining)) {
    const where = Number(one);
    if (where < window.from || where >= window.to) continue;
    const x = at(where + 0.5);
    shapes.push(
      { id: `drain-${one}`, tag: "path", class: "drain-mark", d: `M${x} ${NOW.y}V${NOW.y + NOW.h + 4}` },
      { id: `drain-count-${one}`, tag: "text", x, y: NOW.y + 13, class: "n mid halo", text: String(count) },
    );
  }
  if (slot !== null && slot >= window.from && slot < window.to) {
    const x = at(slot + 0.5), side = x < width * 0.15 ? "" : x > width * 0.85 ? "end" : "mid";
    shapes.push(
      { id: "asked", tag: "path", class: "needle", d: `M${x} 0V${NOW.y + NOW.h + 6}` },
      { id: "asked-slot", tag: "text", x, y: NOW.y + NOW.h + 36, class: `n b ${side}`, text: number(slot) },
    );
  }
  return shapes;
}
