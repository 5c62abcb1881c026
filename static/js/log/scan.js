// One gap of the index, batch by batch: headers are read one after another until a batch reaches the offset.

import { number } from "../base/say.js";
import { draw, round } from "../drawing/shapes.js";
import { figuresWidth } from "./format.js";
import { isBelow } from "./offsets.js";

export const HEIGHT = 96;
const TOP = 12, TALL = 34, FOOT = TOP + TALL, DIP = 16;

// Which batch holds the offset: the first that ends at or above it.
export const hitOf = (step, found) =>
  found === null ? -1 : step.batches.findIndex((batch) => !isBelow(batch.last_offset, found));

// How many headers are passed on the way: up to the batch that holds it, or all.
export function hopsOf(step, found) {
  const hit = hitOf(step, found);
  return hit < 0 ? step.batches.length - 1 : hit;
}

// context: {width, scanned: how many headers have been passed, isFound, found: offset or null}
export function layout(step, { width, scanned, isFound, found }) {
  const { from, to, batches } = step, x = (position) => ((position - from) * width) / Math.max(1, to - from);
  const shapes = [{ id: "rim", tag: "path", d: `M0.5 0V8M${width - 0.5} 0V8`, class: "funnel" }];
  const hit = hitOf(step, found), middles = [];
  batches.forEach((batch, place) => {
    const left = x(batch.position), wide = Math.max(1, x(batch.position + batch.bytes) - left);
    const id = `batch-${batch.position}`;
    const isHit = isFound && place === hit, text = String(batch.base_offset);
    middles.push(left + wide / 2);
    shapes.push({
      id, tag: "rect", x: round(left + 0.5), y: TOP + 0.5, width: round(Math.max(1, wide - 1)), height: TALL,
      class: isHit ? "row-box chosen" : "row-box", role: "button", tabindex: -1, "data-position": batch.position,
      "data-offset": batch.base_offset, "aria-label": `${batch.base_offset}–${batch.last_offset}`,
    });
    if (wide > figuresWidth(text) + 4) {
      const tone = isHit ? " on-ink b" : place > hit && hit >= 0 ? " m" : "";
      shapes.push({ id: `${id}-no`, tag: "text", x: round(left + wide / 2), y: TOP + 22, class: `n mid${tone}`, text });
    }
  });
  arcs(shapes, middles, Math.min(isFound ? hopsOf(step, found) : scanned, middles.length - 1));
  edges(shapes, step, (isFound && batches[hit]) || null, middles[hit], width);
  return shapes;
}

function arcs(shapes, middles, count) {
  for (let place = 0; place < count; place += 1) {
    const [from, to] = [middles[place], middles[place + 1]];
    shapes.push({
      id: `arc-${place}`, tag: "path",
      d: `M${round(from)} ${FOOT + 3}C${round(from)} ${FOOT + DIP} ${round(to)} ${FOOT + DIP} ${round(to)} ${FOOT + 5}`,
      class: "hop",
    });
  }
  const tip = middles[count];
  if (tip !== undefined) {
    shapes.push({ id: "tip", tag: "path", d: `M${round(tip)} ${FOOT + 2}l-4.5 7h9Z`, class: "ink" });
  }
}

function edges(shapes, { from, to }, batch, middle, width) {
  const left = number(from), right = number(to), y = HEIGHT - 8;
  if (batch) {
    const text = number(batch.position), half = figuresWidth(text) / 2;
    const at = Math.min(width - half, Math.max(half, middle));
    shapes.push({ id: "at", tag: "text", x: round(at), y, class: "n mid", text });
    if (at - half > figuresWidth(left) + 12) {
      shapes.push({ id: "from", tag: "text", x: 0, y, class: "n m", text: left });
    }
    if (at + half < width - figuresWidth(right) - 12) {
      shapes.push({ id: "to", tag: "text", x: width, y, class: "n m end", text: right });
    }
    return;
  }
  shapes.push({ id: "from", tag: "text", x: 0, y, class: "n m", text: left });
  shapes.push({ id: "to", tag: "text", x: width, y, class: "n m end", text: right });
}

export function render(root, step, context) {
  root.setAttribute("viewBox", `0 0 ${context.width} ${HEIGHT}`);
  draw(root, layout(step, context));
}
