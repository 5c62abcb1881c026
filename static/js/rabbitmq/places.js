// Where each node of the exchange graph stands: four columns, publishers, exchanges, queues and consumers. A queue
// is as tall as its lines need, one for each binding and one for each consumer; whatever leads to queues stands
// beside them.

import { round } from "../drawing/shapes.js";
import { ordered } from "./order.js";

const HEAD = 54, ROW = 44, LINE = 20, CONSUMER_LINE = 30, WORDS = 22, BOTTOM = 14, MARGIN = 10;
const BOX = 38;                                          // height of a node
// Of the width: left edge and width of each column.
const COLUMNS = { publisher: [0, 0.14], exchange: [0.225, 0.155], queue: [0.605, 0.165], consumer: [0.845, 0.155] };

// order: `ordered` of the last layout with the same nodes, so that a frame does not ask dagre again.
// -> {height, order, lanes: of the ways back, which have a line of words each (back: y of the first above all nodes,
// down: below them, words: from one to the next; before, beside: [left, right] of the gaps before the exchanges and
// beside the queues), nodes: {publisher|exchange|queue|consumer: {name: {x, y, width, height}}}, lines: {binding's id:
// y at its queue}}; y is a node's middle.
export function placesOf(view, width, order = ordered(view)) {
  const inner = width - 2 * MARGIN;
  const column = (kind) => ({ x: round(MARGIN + COLUMNS[kind][0] * inner), width: round(COLUMNS[kind][1] * inner) });
  const nodes = { publisher: {}, exchange: {}, queue: {}, consumer: {} }, lines = {};
  const least = HEAD + Math.max(0, Object.keys(view.returns).length - 1) * WORDS;
  let top = least;
  for (const name of order.queue) {
    const own = Object.keys(view.bindings).filter((id) => leadsTo(view.bindings[id], name));
    const isMore = (id) => Number(view.consumers[id].more > 0);   // the node of all others stands last
    const readers = order.consumer.filter((id) => view.consumers[id].queue === name)
      .sort((one, other) => isMore(one) - isMore(other));
    const tall = Math.max(ROW, own.length * LINE + 8, readers.length * CONSUMER_LINE + 4), middle = top + tall / 2;
    nodes.queue[name] = { ...column("queue"), y: round(middle), height: round(tall - 10) };
    bySource(own, view, order).forEach((id, place) => {
      lines[id] = round(middle + (place - (own.length - 1) / 2) * LINE);
    });
    readers.forEach((id, place) => {
      const y = round(middle + (place - (readers.length - 1) / 2) * CONSUMER_LINE);
      nodes.consumer[id] = { ...column("consumer"), y, height: CONSUMER_LINE - 6 };
    });
    top += tall;
  }
  // A consumer whose queue is not in this picture.
  for (const id of order.consumer.filter((each) => !nodes.consumer[each])) {
    nodes.consumer[id] = { ...column("consumer"), y: round(top + CONSUMER_LINE / 2), height: CONSUMER_LINE - 6 };
    top += CONSUMER_LINE;
  }
  const beside = (kind, names, wantedOf) => spread(names, wantedOf, least, top).forEach((y, place) => {
    nodes[kind][names[place]] = { ...column(kind), y: round(y), height: BOX };
  });
  beside("exchange", order.exchange, (name) =>
    Object.keys(lines).filter((id) => view.bindings[id].source === name).map((id) => lines[id]));
  beside("publisher", order.publisher, (name) =>
    Object.values(view.publishes)
      .filter(({ publisher, exchange }) => publisher === name && nodes.exchange[exchange])
      .map(({ exchange }) => nodes.exchange[exchange].y));
  const ends = Object.values(nodes).flatMap(Object.values).map(({ y, height }) => y + height / 2 + 5);
  const bottom = Math.max(top, ...ends);
  const deadLetters = Object.keys(view.dead_letters).length;
  const gap = (left, right) => [column(left).x + column(left).width, column(right).x];
  const lanes = {
    back: 41, down: round(bottom + 12), words: WORDS, before: gap("publisher", "exchange"),
    beside: gap("queue", "consumer"),
  };
  return { height: round(bottom + 12 + deadLetters * WORDS + BOTTOM), order, lanes, nodes, lines };
}

const leadsTo = (binding, queue) => binding.kind === "queue" && binding.destination === queue;

// The lines of a queue from the upper exchange first, so that they do not cross before it.
function bySource(ids, view, order) {
  const rank = (id) => order.exchange.indexOf(view.bindings[id].source);
  return [...ids].sort((one, other) => rank(one) - rank(other));
}

// Middles of a column's nodes, each as near to the middle of what it leads to as the ones above it allow; those that
// lead nowhere come where there is room.
function spread(names, wantedOf, top, bottom) {
  const wanted = names.map((name) => {
    const all = wantedOf(name);
    return all.length ? all.reduce((sum, y) => sum + y, 0) / all.length : null;
  });
  const middles = [];
  wanted.forEach((y, place) => {
    const least = place ? middles[place - 1] + ROW : top + ROW / 2;
    middles.push(Math.max(least, y ?? least));
  });
  // What was pushed out below moves up again as far as the ones above it allow.
  let most = Math.max(bottom - ROW / 2, top + ROW / 2 + (names.length - 1) * ROW);
  for (let place = names.length - 1; place >= 0; place -= 1) {
    middles[place] = Math.min(middles[place], most);
    most = middles[place] - ROW;
  }
  return middles;
}
