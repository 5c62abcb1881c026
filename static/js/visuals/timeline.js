// What was done, by virtual time: a tick for each change, in the colour of its consumer. Shape says what: full = joined, ring = left,
// cross = crashed, half = slow or paused. The newest has its name in bold; older names show where there is room.

import { draw, round } from "../draw.js";
import { paint } from "../paint.js";

const LINE = 20, TEXT = 44, LETTER = 7.4;

export function layout(view, { width, say }) {
  const ticks = Object.entries(view.timeline).map(([position, tick]) => ({ position, ...tick })).sort((a, b) => a.position - b.position);
  const from = ticks.length >= 60 ? ticks[0].at_us : 0, span = Math.max(1, view.at_us - from), left = 10, right = Math.max(60, width - 14);
  const x = (at) => round(left + ((at - from) / span) * (right - left));
  const shapes = [{ id: "line", tag: "path", d: `M${left} ${LINE}H${right}`, class: "axis" }];
  for (const tick of ticks) shapes.push(...mark(tick, x(tick.at_us)));
  shapes.push({ id: "now", tag: "path", d: `M${right} 8V32`, class: "here" });
  return [...shapes, ...labels(ticks, x, right, say)];
}

function mark({ position, kind, color }, x) {
  const id = `tick-${position}`, fill = paint(color);
  if (kind === "leave") {
    return [{ id: `${id}-e`, tag: "circle", cx: x, cy: LINE, r: 6.5, class: "o panel" }, { id, tag: "circle", cx: x, cy: LINE, r: 4.5, fill: "none", stroke: fill, "stroke-width": 3 }];
  }
  if (kind === "crash") {
    return [{ id: `${id}-e`, tag: "circle", cx: x, cy: LINE, r: 6, class: "o", fill }, { id, tag: "path", d: `M${x - 3} ${LINE - 3}L${x + 3} ${LINE + 3}M${x + 3} ${LINE - 3}L${x - 3} ${LINE + 3}`, class: "cross" }];
  }
  if (kind === "slow" || kind === "pause") {
    return [{ id, tag: "path", d: `M${x - 6} ${LINE}A6 6 0 0 0 ${x + 6} ${LINE}Z`, class: "o", fill }];
  }
  if (kind === "set_algorithm") {
    return [{ id, tag: "rect", x: x - 5, y: LINE - 5, width: 10, height: 10, class: "o panel", transform: `rotate(45 ${x} ${LINE})` }];
  }
  return [{ id, tag: "circle", cx: x, cy: LINE, r: 6, class: "o", fill }];
}

// Newest first: a name that would touch one already placed is left out.
function labels(ticks, x, right, say) {
  const placed = [], shapes = [];
  for (const [index, tick] of [...ticks].reverse().entries()) {
    const text = say(`tick.${tick.kind === "join" && tick.count > 1 ? "join_many" : tick.kind}`, tick);
    const half = ([...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 13 : LETTER), 0)) / 2;
    const at = Math.min(right - half + 8, Math.max(half, x(tick.at_us)));
    if (placed.some(([from, to]) => at + half + 8 > from && at - half - 8 < to)) continue;
    placed.push([at - half, at + half]);
    shapes.push({ id: `name-${tick.position}`, tag: "text", x: round(at), y: TEXT, class: index === 0 ? "mid b" : "mid m", text });
  }
  return shapes;
}

export function render(root, view, context) {
  draw(root, layout(view, context));
}
