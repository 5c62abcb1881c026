// Pulsar's hash ranges, true to scale: the line of all slots, above before the last change, below now; a band joins
// what changed hands.
// Hatched: nobody serves it.

import { isTextured, paint, textOn, waitingPaint } from "../../drawing/paint.js";
import { draw, round } from "../../drawing/shapes.js";
import { moved, segments } from "../../drawing/slices.js";
import { light } from "./lit.js";
import { TALL, WIDTH } from "./size.js";

const OUTLINED_MAX = 24, STROKED_WIDTH = 4;
const WAS_TOP = 22, BELOW = 52;                      // BELOW: three lines of words under the lower bar

// The two bars, by the picture's height.
function bars(height) {
  const was = { y: WAS_TOP, h: Math.round(height * 0.12) }, h = Math.round(height * 0.21);
  return { was, now: { y: height - BELOW - h, h } };
}

export function layout(lane, { say, height = TALL }) {
  const { picture } = lane, shapes = [], { was: WAS, now: NOW } = bars(height);
  const [ends, counts, last] = [height - 38, height - 20, height - 4];
  const at = (slot) => round((slot / picture.space) * WIDTH);
  const consumer = (owner) => lane.consumers[picture.names[owner]];
  const fill = (owner, isDark = false) =>
    owner < 0 || !consumer(owner)
      ? "url(#void)"
      : isDark
        ? waitingPaint(consumer(owner).color)
        : paint(consumer(owner).color);
  const was = segments(picture.before, picture.space, false), now = segments(picture.now, picture.space, false);
  const changed = picture.before ? moved(picture, false) : [];
  const edge = (from, to) => (at(to) - at(from) < STROKED_WIDTH ? "thin" : "o");
  was.forEach(([from, to, owner], index) =>
    shapes.push({
      id: `was-${index}`, of: picture.names[owner], tag: "rect", x: at(from), y: WAS.y,
      width: Math.max(0.5, at(to) - at(from)), height: WAS.h, fill: fill(owner), class: edge(from, to),
    }),
  );
  if (picture.before) {
    changed.forEach(([from, to, owner, isDark], index) => {
      const x = at(from), width = Math.max(0.5, at(to) - at(from));
      const isWaiting = isDark || consumer(owner)?.state === "waiting";
      const hue = isWaiting && owner >= 0 && consumer(owner) ? waitingPaint(consumer(owner).color) : fill(owner);
      shapes.push({
        id: `flow-${index}`, of: picture.names[owner], tag: "rect", x, y: WAS.y + WAS.h, width,
        height: NOW.y - WAS.y - WAS.h, fill: hue, class: "flow",
      });
    });
  }
  now.forEach(([from, to, owner, isDark], index) =>
    shapes.push({
      id: `now-${index}`, of: picture.names[owner], tag: "rect", x: at(from), y: NOW.y,
      width: Math.max(0.5, at(to) - at(from)), height: NOW.h, fill: fill(owner, isDark), class: edge(from, to),
    }),
  );
  label(shapes, "was-name", was, at, WAS, picture, consumer);
  label(shapes, "now-name", now, at, NOW, picture, consumer);
  if (picture.before) {
    if (changed.length <= OUTLINED_MAX) changed.forEach(([from, to, owner], index) =>
      shapes.push({
        id: `edge-${index}`, of: picture.names[owner], tag: "rect", x: at(from), y: NOW.y,
        width: Math.max(0.5, at(to) - at(from)), height: NOW.h, fill: "none", class: "oo",
      }),
    );
    shapes.push({ id: "was-word", tag: "text", x: 0, y: 14, class: "m", text: say("picture.bar_was") });
  }
  shapes.push(
    {
      id: "slots", tag: "text", "data-term": "slot", x: WIDTH, y: 14, class: "m end",
      text: say("picture.slots", { space: picture.space }),
    },
    { id: "now-word", tag: "text", x: 0, y: counts, class: "m", text: picture.before ? say("picture.bar_now") : "" },
    { id: "zero", tag: "text", x: 0, y: ends, class: "m n", text: "0" },
    { id: "end", tag: "text", x: WIDTH, y: ends, class: "m n end", text: String(picture.space - 1) },
  );
  let unacked = 0;
  for (const name in lane.consumers) unacked += lane.consumers[name].unacked ?? 0;
  shapes.push({
    id: "count", tag: "text", "data-term": "in_flight", x: WIDTH, y: counts, class: "end",
    text: say("picture.unacked", { unacked }),
  });
  if (picture.waiting) {
    shapes.push({
      id: "waiting", tag: "text", "data-term": "redelivered", x: WIDTH, y: last, class: "m end",
      text: say("picture.waiting", { waiting: picture.waiting }),
    });
  }
  if (picture.needle !== null && picture.needle !== undefined) {
    const x = at(picture.needle + 0.5);
    shapes.push({ id: "needle", tag: "path", d: `M${x} ${NOW.y - 8}V${NOW.y + NOW.h + 6}`, class: "needle" },
      { id: "needle-dot", tag: "circle", cx: x, cy: NOW.y - 8, r: 3.5, class: "ink" });
  }
  return shapes;
}

// A name where its slice is wide enough for it.
function label(shapes, id, pieces, at, band, picture, consumer) {
  pieces.forEach(([from, to, owner, isDark], index) => {
    const name = picture.names[owner], width = at(to) - at(from);
    if (owner < 0 || !consumer(owner) || width < name.length * 8 + 6) return;
    shapes.push({
      id: `${id}-${index}`, of: name, tag: "text", x: round((at(from) + at(to)) / 2), y: band.y + band.h / 2 + 5,
      class: isDark || isTextured(consumer(owner).color) ? "n mid b halo" : "n mid b",
      fill: isDark || isTextured(consumer(owner).color) ? "var(--ink)" : textOn(consumer(owner).color), text: name,
    });
  });
}

export function render(root, lane, context) {
  draw(root, light(root, layout(lane, context), context.lit));
}
