// The lines of the exchange graph: publishing, bindings, consuming, and the two ways back. A binding's key stands on
// its last, level part at the queue.

import { round } from "../drawing/shapes.js";
import { waysBack } from "./ways_back.js";

const HEAD = 5;
const LEVEL = 0.77;                                      // of a binding's way to its queue is level
const LOOP_ROOM = 96;                                    // px for the key of a binding between exchanges

const rightOf = ({ x, width }) => x + width;
const curve = (x1, y1, x2, y2) => {
  const half = round((x1 + x2) / 2);
  return `M${round(x1)} ${round(y1)}C${half} ${round(y1)} ${half} ${round(y2)} ${round(x2)} ${round(y2)}`;
};

// -> [{id, kind, d, ...}] of what is drawn, from what the places say. Of a binding also x, y: the middle of its key,
// room: px for it, and isFree: it may stand higher or lower; of a way back: the place of its words, and head: the
// arrow.
export function waysOf(view, { nodes, lines, lanes }) {
  return [
    ...Object.entries(view.publishes).flatMap(([id, edge]) => publish(id, edge, nodes)),
    ...waysBack(view, nodes, lanes),
    ...Object.entries(view.bindings).flatMap(([id, edge]) => binding(id, edge, view, nodes, lines)),
    ...Object.entries(view.exchanges).flatMap(([name, exchange]) => alternate(name, exchange, nodes)),
    ...Object.entries(view.consumers).flatMap(([id, consumer]) => consume(id, consumer, nodes)),
  ];
}

function publish(id, { publisher, exchange }, nodes) {
  const from = nodes.publisher[publisher], to = nodes.exchange[exchange];
  return from && to ? [{ id, kind: "publish", d: curve(rightOf(from), from.y, to.x, to.y) }] : [];
}

function binding(id, edge, view, nodes, lines) {
  const from = nodes.exchange[edge.source], to = nodes[edge.kind]?.[edge.destination];
  if (!from || !to) return [];
  if (edge.kind === "exchange") return [{ id, kind: "binding", ...loop(from, to), room: LOOP_ROOM, isFree: true }];
  const own = Object.keys(view.bindings).filter((each) => view.bindings[each].source === edge.source && each in lines)
    .sort((one, other) => lines[one] - lines[other]);
  const x1 = rightOf(from), y1 = from.y + (own.indexOf(id) - (own.length - 1) / 2) * Math.min(6, 24 / own.length);
  const y2 = lines[id], level = x1 + (to.x - x1) * (1 - LEVEL);
  return [
    {
      id, kind: "binding", d: `${curve(x1, y1, level, y2)}H${round(to.x)}`,
      x: round((level + to.x) / 2), y: y2, room: round(to.x - level - 8),
    },
  ];
}

// From an exchange to another one, or to itself: an arc at the column's right.
function loop(from, to) {
  const x = round(rightOf(from)), y = round(from.y - 8), end = round(to.y + (from === to ? 8 : 4));
  const reach = round(x + 26 + Math.min(30, Math.abs(to.y - from.y) / 8));
  return {
    d: `M${round(x - 4)} ${y}C${reach} ${y} ${reach} ${end} ${x} ${end}`,
    head: `M${round(x + 7)} ${end - HEAD}L${x} ${end}L${round(x + 7)} ${end + HEAD}`,
    x: reach, y: round((from.y + to.y) / 2),
  };
}

// What an exchange cannot route goes to its alternate: an arc at the column's left.
function alternate(name, exchange, nodes) {
  const from = nodes.exchange[name], to = nodes.exchange[exchange.alternate];
  if (!exchange.alternate || !to || from === to) return [];
  const reach = round(from.x - 18), y1 = round(from.y + 8), y2 = round(to.y - 4);
  return [
    {
      id: name, kind: "alternate", d: `M${from.x + 4} ${y1}C${reach} ${y1} ${reach} ${y2} ${to.x} ${y2}`,
      head: `M${to.x - 7} ${y2 - HEAD}L${to.x} ${y2}L${to.x - 7} ${y2 + HEAD}`,
    },
  ];
}

function consume(id, { queue }, nodes) {
  const from = nodes.queue[queue], to = nodes.consumer[id];
  if (!from || !to) return [];
  const x = rightOf(from);
  return [{ id, kind: "consume", d: to.y === from.y ? `M${x} ${from.y}H${to.x}` : curve(x, from.y, to.x, to.y) }];
}
