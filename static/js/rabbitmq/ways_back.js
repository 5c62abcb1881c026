// The two ways back of the exchange graph. A dead letter leaves its queue at the right, goes below all nodes and up to
// its exchange; what is returned goes from its exchange over all nodes to its publisher. Neither passes behind a node
// that is not its end: where others stand below or above, it runs in the gap beside the column and ends at the side.

import { round } from "../drawing/shapes.js";

const BEND = 6, HEAD = 5, LANE = 9, STUB = 8;
// px: beside a queue before the first lane, before an exchange for arcs to its alternate, and at the far end of a gap.
const AFTER_QUEUE = 20, ARCS = 24, FREE = 8;
const ENDS = 40;                                         // px of a node's width that no line enters from below or above
const OVER_LINE = 11;                                    // px from a short line to the middle of its words above it
const LOW = 9, HIGH = -11;                               // px from the middle of a node's side

const rightOf = ({ x, width }) => x + width, topOf = ({ y, height }) => y - height / 2;

// lanes: of places.js. -> [{id, kind, d, head, x, y}]: x, y: the place of its words, head: the arrow.
export function waysBack(view, nodes, { back, down, words, before, beside }) {
  // The first is the innermost of the dead letters, the outermost of the returns.
  const letters = drawn(view.dead_letters, (edge) => [nodes.queue[edge.queue], nodes.exchange[edge.exchange]])
    .sort((one, other) => other.to.y - one.to.y);
  const returns = drawn(view.returns, (edge) => [nodes.exchange[edge.exchange], nodes.publisher[edge.publisher]])
    .sort((one, other) => one.from.y - other.from.y);
  const lowest = Math.max(...ysOf(nodes.exchange));
  const [top, first] = [nodes.exchange, nodes.publisher].map((all) => Math.min(...ysOf(all)));
  // Those that end below the lowest exchange, begin above the highest, end above the highest publisher.
  const below = letters.filter(({ to }) => to.y === lowest), over = returns.filter(({ from }) => from.y === top);
  const above = returns.filter(({ to }) => to.y === first).reverse();
  // All others have a lane in the gap before the exchanges, and those that leave and end at a side have two.
  const besides = [
    ...letters.filter((way) => !below.includes(way)), ...returns.filter((way) => !over.includes(way)),
    ...returns.filter((way) => !above.includes(way)).reverse(),
  ];
  const step = stepIn(before, ARCS, besides.length), outer = stepIn(beside, AFTER_QUEUE, letters.length);
  const laneAt = (place) => before[1] - ARCS - place * step;
  return [
    ...letters.map((way, place) => deadLetter(way, {
      out: beside[0] + AFTER_QUEUE + place * outer, down: down + place * words,
      into: below.includes(way) ? among(below, way, way.to) : null, lane: laneAt(besides.indexOf(way)),
    })),
    ...returns.map((way, place) => returned(way, {
      back: back + place * words, start: over.includes(way) ? among(over, way, way.from) : null,
      lane: laneAt(besides.indexOf(way)), into: above.includes(way) ? among(above, way, way.to) : null,
      last: laneAt(besides.lastIndexOf(way)),
    })),
  ];
}

const ysOf = (all) => Object.values(all).map(({ y }) => y);
const drawn = (edges, endsOf) => Object.entries(edges).map(([id, edge]) => [id, ...endsOf(edge)])
  .filter(([, from, to]) => from && to).map(([id, from, to]) => ({ id, from, to }));

// Lanes as far apart as the gap allows.
const stepIn = ([left, right], taken, count) => Math.min(LANE, (right - left - taken - FREE) / Math.max(1, count - 1));

// Where one of those that all meet the upper or lower side of a node does so, from right to left.
function among(all, way, { x, width }) {
  const apart = Math.min(LANE, (width - ENDS) / Math.max(1, all.length - 1));
  return x + width / 2 + ((all.length - 1) / 2 - all.indexOf(way)) * apart;
}

// A line through these points with round corners.
function through(points) {
  const parts = points.slice(1, -1).map(([x, y], at) => {
    const toward = ([toX, toY]) => [x + Math.sign(toX - x) * BEND, y + Math.sign(toY - y) * BEND].map(round).join(" ");
    return `L${toward(points[at])}Q${round(x)} ${round(y)} ${toward(points[at + 2])}`;
  });
  const at = ([x, y]) => `${round(x)} ${round(y)}`;
  return `M${at(points[0])}${parts.join("")}L${at(points.at(-1))}`;
}

// An arrow's head, which comes from the point before the last.
function headOf(points) {
  const [[fromX, fromY], [x, y]] = points.slice(-2), [alongX, alongY] = [Math.sign(fromX - x), Math.sign(fromY - y)];
  const wing = (side) =>
    `${round(x + alongX * STUB + alongY * side * HEAD)} ${round(y + alongY * STUB + alongX * side * HEAD)}`;
  return `M${wing(-1)}L${round(x)} ${round(y)}L${wing(1)}`;
}

function deadLetter({ id, from, to }, { out, down, into, lane }) {
  const begin = [[rightOf(from), from.y + 10], [out, from.y + 10], [out, down]];
  const points = into === null
    ? [...begin, [lane, down], [lane, to.y + LOW], [to.x + 2, to.y + LOW]]
    : [...begin, [into, down], [into, to.y + to.height / 2 + 3]];
  return {
    id, kind: "dead_letter", d: through(points), head: headOf(points), y: down,
    x: round(((into ?? lane) + from.x) / 2),
  };
}

function returned({ id, from, to }, { back, start, lane, into, last }) {
  const first = start === null ? [[from.x + 6, from.y + HIGH], [lane, from.y + HIGH], [lane, back]]
    : [[start, topOf(from)], [start, back]];
  const end = into === null ? [[last, back], [last, to.y + HIGH], [rightOf(to), to.y + HIGH]]
    : [[into, back], [into, topOf(to) - 3]];
  const points = [...first, ...end];
  return {
    id, kind: "return", d: through(points), head: headOf(points), y: back - OVER_LINE,
    x: round(((start ?? lane) + (into ?? last)) / 2),
  };
}
