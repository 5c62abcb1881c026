// Pulsar's hash ring, true to scale: inner band before the last change, outer band now, ticks = points, raised = changed hands. Each
// consumer is one stroke-dash circle per band (1 kB for 100 points), so a ring of thousands of points costs a few elements.

import { draw } from "../draw.js";
import { paint, waitingPaint } from "../paint.js";
import { fingerprint, moved, segments } from "./slices.js";

const ROUND = 36000;                                  // path length of the whole ring
const TICKS_MAX = 1600, TICK = 24, OUTLINED_MAX = 600;
const CX = 156, CY = 114;

export function layout(rig, { say }) {
  const { picture } = rig, color = (owner) => rig.consumers[picture.names[owner]]?.color;
  return [...bands(picture, color, rig), ...needle(picture), ...words(rig, say)];
}

function bands(picture, color, rig) {
  const shapes = [];
  const circle = (id, r, width, stroke, dashes) => shapes.push({
    id, tag: "circle", cx: CX, cy: CY, r, fill: "none", stroke, "stroke-width": width, pathLength: ROUND, "stroke-dasharray": dashes,
    transform: `rotate(-90 ${CX} ${CY})`,
  });
  const band = (cut, name, r, width) => {
    for (const [owner, pieces] of byOwner(segments(cut, picture.space, true))) {
      circle(`${name}-${picture.names[owner] ?? "nobody"}`, r, width, owner < 0 ? "url(#void)" : paint(color(owner)), dash(pieces, picture.space));
    }
  };
  if (picture.before) band(picture.before, "was", 63, 8);
  band(picture.now, "now", 84, 24);
  if (picture.points && picture.points <= TICKS_MAX) {
    const points = new Map();
    picture.now.bounds.forEach((bound, index) => push(points, picture.now.owners[index], [bound, bound]));
    for (const [owner, pieces] of points) circle(`tick-${picture.names[owner]}`, 100, 6, paint(color(owner)), dash(pieces, picture.space, TICK));
  }
  if (picture.before) {
    const pieces = moved(picture, true), isCrowded = pieces.length > OUTLINED_MAX;
    for (const [owner, own] of byOwner(pieces)) {
      if (owner < 0) continue;
      const dashes = dash(own, picture.space), name = picture.names[owner];
      const waits = rig.consumers[name]?.state === "waiting" || picture.draining?.[name] > 0;
      if (!isCrowded) circle(`edge-${name}`, 92, 41, "var(--outline)", dashes);
      circle(`raised-${name}`, 92, 38, waits ? waitingPaint(color(owner)) : paint(color(owner)), dashes);
    }
  }
  for (const r of [59, 67, 72]) shapes.push({ id: `rim-${r}`, tag: "circle", cx: CX, cy: CY, r, fill: "none", class: "o" });
  return shapes;
}

function byOwner(pieces) {
  const owners = new Map();
  for (const [from, to, owner] of pieces) push(owners, owner, [from, to]);
  return new Map([...owners].sort(([a], [b]) => a - b));
}

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

// Pieces [from, to] in slots -> "0 gap dash gap dash ... end". A point is a piece without length and gets `least`.
function dash(pieces, space, least = 0) {
  const out = [0];
  let at = 0;
  for (const [from, to] of pieces) {
    const start = Math.max(at, Math.round((from / space) * ROUND)), end = Math.min(ROUND, Math.max(start + Math.max(1, least), Math.round((to / space) * ROUND)));
    if (end <= start) continue;
    if (start === at && out.length > 1) out[out.length - 1] += end - start;
    else out.push(start - at, end - start);
    at = end;
  }
  out.push(ROUND);
  return out.join(" ");
}

function needle({ needle: slot, space }) {
  if (slot === null || slot === undefined) return [];
  const turn = (slot / space) * 2 * Math.PI, x = Math.sin(turn), y = -Math.cos(turn);
  const at = (r) => `${(CX + r * x).toFixed(1)} ${(CY + r * y).toFixed(1)}`;
  const dot = at(55).split(" ");
  return [
    { id: "needle", tag: "path", d: `M${at(55)}L${at(112)}`, class: "needle" },
    { id: "needle-dot", tag: "circle", cx: dot[0], cy: dot[1], r: 3.5, class: "ink" },
  ];
}

// Three lines fit into the ring: what waits to be sent again takes the place of what is in hands.
function words(rig, say) {
  const { picture } = rig, { waiting } = picture;
  let unacked = 0;
  for (const name in rig.consumers) unacked += rig.consumers[name].unacked ?? 0;
  const shapes = [
    { id: "count", tag: "text", x: CX, y: 99, class: "b mid big", text: String(picture.connected) },
    { id: "count-word", tag: "text", x: CX, y: 116, class: "mid", text: say("picture.on_ring") },
    { id: "hands", tag: "text", x: CX, y: 132, class: "m mid small", text: waiting ? say("picture.waiting", { waiting }) : say("picture.unacked", { unacked }) },
    { id: "outer", tag: "text", x: 0, y: 14, class: "m", text: say("picture.now") },
  ];
  if (picture.points) shapes.push({ id: "points", tag: "text", x: 312, y: 14, class: "m end", text: say("picture.points", { points: picture.points }) });
  if (picture.before) {
    shapes.push({ id: "inner", tag: "text", x: 0, y: 224, class: "m", text: say("picture.was") },
      { id: "raised-word", tag: "text", x: 312, y: 224, class: "m end", text: say("picture.raised") });
  }
  return shapes;
}

// The bands change only with the owners; the needle and the counts every frame.
export function render(root, rig, context) {
  const { picture } = rig;
  const states = rig.order.map((name) => (rig.consumers[name].state === "waiting" ? name : "")).join();
  const key = `${fingerprint(picture.now)}/${fingerprint(picture.before)}/${picture.names.join()}/${picture.space}/${states}`;
  const old = kept.get(root);
  const color = (owner) => rig.consumers[picture.names[owner]]?.color;
  const drawnBands = old?.key === key ? old.bands : bands(picture, color, rig);
  kept.set(root, { key, bands: drawnBands });
  draw(root, [...drawnBands, ...needle(picture), ...words(rig, context.say)]);
}
const kept = new WeakMap();
