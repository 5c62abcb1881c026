// Pulsar's hash ring, true to scale: inner band before the last change, outer band now, ticks = points, raised =
// changed hands, hatched = nobody serves it. Each
// consumer is one stroke-dash circle per band (1 kB for 100 points), so a ring of thousands of points costs a few
// elements.

import { ROUND, byOwner, dash } from "../../drawing/arcs.js";
import { paint, waitingPaint } from "../../drawing/paint.js";
import { draw, round } from "../../drawing/shapes.js";
import { fingerprint, moved, segments } from "../../drawing/slices.js";
import { light } from "./lit.js";
import { TALL, WIDTH } from "./size.js";

const TICKS_MAX = 1600, TICK = 24, OUTLINED_MAX = 600;
// HOLE: the radius left for four lines of words, as far as the height allows
const CX = WIDTH / 2, HOLE = 54;

// Radii from the hole to the rim: each band is a part of what is between.
function radii(height) {
  const rim = height / 2 - 2, hole = Math.min(HOLE, rim * 0.62), at = (part) => round(hole + (rim - hole) * part);
  return { hole, rim, cy: height / 2, at, band: (from, to) => [at((from + to) / 2), round(at(to) - at(from))] };
}

export function layout(lane, { say, height = TALL }) {
  const { picture } = lane, color = (owner) => lane.consumers[picture.names[owner]]?.color;
  return [...bands(picture, color, lane, height), ...needle(picture, height), ...words(lane, say, height)];
}

function bands(picture, color, lane, height) {
  const shapes = [], { cy, at, band: ringOf } = radii(height);
  const circle = (id, r, width, stroke, dashes) =>
    shapes.push({
      id, tag: "circle", cx: CX, cy, r, fill: "none", stroke, "stroke-width": width, pathLength: ROUND,
      "stroke-dasharray": dashes, transform: `rotate(-90 ${CX} ${cy})`,
    });
  const band = (cut, name, [r, width]) => {
    for (const [owner, isDark, pieces] of byOwner(segments(cut, picture.space, true))) {
      const fill = owner < 0 ? "url(#void)" : isDark ? waitingPaint(color(owner)) : paint(color(owner));
      circle(
        `${name}-${picture.names[owner] ?? "nobody"}${isDark ? "-dark" : ""}`,
        r,
        width,
        fill,
        dash(pieces, picture.space),
      );
    }
  };
  if (picture.before) band(picture.before, "was", ringOf(0, 0.15));
  band(picture.now, "now", ringOf(0.24, 0.7));
  if (picture.points && picture.points <= TICKS_MAX) {
    const points = picture.now.bounds.map((bound, index) => [bound, bound, picture.now.owners[index], false]);
    for (const [owner, , pieces] of byOwner(points)) {
      circle(
        `tick-${picture.names[owner]}`,
        ...ringOf(0.71, 0.83),
        paint(color(owner)),
        dash(pieces, picture.space, TICK),
      );
    }
  }
  if (picture.before) {
    const pieces = moved(picture, true), isCrowded = pieces.length > OUTLINED_MAX;
    const [raisedAt, raisedWidth] = ringOf(0.26, 0.98);
    for (const [owner, isDark, own] of byOwner(pieces)) {
      if (owner < 0) continue;
      const dashes = dash(own, picture.space), name = picture.names[owner];
      const waits = isDark || lane.consumers[name]?.state === "waiting";
      if (!isCrowded) {
        circle(`edge-${name}${isDark ? "-dark" : ""}`, raisedAt, raisedWidth + 3, "var(--outline)", dashes);
      }
      circle(
        `raised-${name}${isDark ? "-dark" : ""}`,
        raisedAt,
        raisedWidth,
        waits ? waitingPaint(color(owner)) : paint(color(owner)),
        dashes,
      );
    }
  }
  for (const part of [0, 0.15, 0.24]) {
    shapes.push({ id: `rim-${part}`, tag: "circle", cx: CX, cy, r: at(part), fill: "none", class: "o" });
  }
  return shapes;
}

function needle({ needle: slot, space }, height) {
  if (slot === null || slot === undefined) return [];
  const turn = (slot / space) * 2 * Math.PI, x = Math.sin(turn), y = -Math.cos(turn), { hole, rim, cy } = radii(height);
  const at = (r) => `${(CX + r * x).toFixed(1)} ${(cy + r * y).toFixed(1)}`;
  const dot = at(hole - 4).split(" ");
  return [
    { id: "needle", tag: "path", d: `M${at(hole - 4)}L${at(rim)}`, class: "needle" },
    { id: "needle-dot", tag: "circle", cx: dot[0], cy: dot[1], r: 3.5, class: "ink" },
  ];
}

// Four short lines fit into the ring: what waits to be sent again takes the place of what is in hands. The hole is
// round, so a number is above its word.
function words(lane, say, height) {
  const { picture } = lane, { waiting } = picture, cy = height / 2, low = height - 4;
  const silent = Object.values(lane.consumers).filter(({ state }) => state === "crashed").length;
  let unacked = 0;
  for (const name in lane.consumers) unacked += lane.consumers[name].unacked ?? 0;
  const [hands, handsWord] = inTwo(waiting ? say("picture.waiting", { waiting }) : say("picture.unacked", { unacked }));
  const shapes = [
    { id: "count", tag: "text", x: CX, y: cy - 20, class: "b mid big", text: String(picture.connected) },
    { id: "count-word", tag: "text", x: CX, y: cy - 5, class: "mid", ...ringWords(picture.connected, silent, say) },
    { id: "hands", tag: "text", "data-term": "in_flight", x: CX, y: cy + 11, class: "m mid halo", text: hands },
    {
      id: "hands-word", tag: "text", "data-term": "in_flight", x: CX, y: cy + 25, class: "m mid halo", text: handsWord,
    },
    { id: "outer", tag: "text", x: 0, y: 14, class: "m", text: say("picture.now") },
  ];
  if (picture.points) {
    shapes.push({
      id: "points", tag: "text", "data-term": "point", x: WIDTH, y: 14, class: "m end",
      text: say("picture.points", { points: picture.points }),
    });
  }
  if (picture.before) {
    shapes.push({ id: "inner", tag: "text", x: 0, y: low, class: "m", text: say("picture.was") },
      { id: "raised-word", tag: "text", x: WIDTH, y: low, class: "m end", text: say("picture.raised") });
  }
  return shapes;
}

// The ring counts a silent consumer, too, until the broker has noticed.
const ringWords = (count, silent, say) =>
  silent
    ? {
        text: say("picture.on_ring_silent", { silent }), "data-term": "silent",
        title: say("picture.on_ring_silent_title", { count, silent }),
      }
    : { text: say("picture.on_ring") };

// "1 520 to deliver" -> ["1 520", "to deliver"]: at the first ordinary space, which is none of those inside a number.
function inTwo(text) {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

// The ranges that a step of "Why?" names: over the whole width of the ring, however small they are.
function litRanges(picture, lit, height) {
  if (!lit?.ranges.length) return [];
  const { cy, band } = radii(height), [r, width] = band(0.15, 1);
  const pieces = lit.ranges
    .flatMap(([from, to]) =>
      from > to
        ? [
            [from, picture.space], [0, to],
          ]
        : [[from, to]],
    )
    .sort(([a], [b]) => a - b);
  return [
    {
      id: "lit-ranges", tag: "circle", cx: CX, cy, r, fill: "none", stroke: "var(--ink)", "stroke-width": width,
      pathLength: ROUND, "stroke-dasharray": dash(pieces, picture.space, 2 * TICK),
      transform: `rotate(-90 ${CX} ${cy})`,
    },
  ];
}

// The bands change only with the owners; the needle and the counts every frame.
export function render(root, lane, context) {
  const { picture } = lane, { height = TALL } = context;
  const states = lane.order.map((name) => (lane.consumers[name].state === "waiting" ? name : "")).join();
  const cuts = [picture.now, picture.before].map(fingerprint);
  const key = [...cuts, picture.names.join(), picture.space, states, height].join("/");
  const old = kept.get(root);
  const color = (owner) => lane.consumers[picture.names[owner]]?.color;
  const drawnBands = old?.key === key ? old.bands : bands(picture, color, lane, height);
  kept.set(root, { key, bands: drawnBands });
  const shapes = [
    ...drawnBands, ...litRanges(picture, context.lit, height), ...needle(picture, height),
    ...words(lane, context.say, height),
  ];
  draw(root, light(root, shapes, context.lit));
}
const kept = new WeakMap();
