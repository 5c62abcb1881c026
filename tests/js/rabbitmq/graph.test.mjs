// The exchange graph: whole pictures, columns, nothing on top of another, keys at their queues, and a tried message.
import assert from "node:assert/strict";
import test from "node:test";

import { layout } from "../../../static/js/rabbitmq/graph.js";
import { ordered } from "../../../static/js/rabbitmq/order.js";
import { placesOf } from "../../../static/js/rabbitmq/places.js";
import { check } from "../pulsar/known.mjs";
import { EMPTY, ORDERS, WORDS } from "./known.mjs";

const colorOf = (name) => Number(name.slice(1));
const drawn = (view, more = {}) => layout(view, { width: 854, colorOf, words: WORDS, ...more });
const shape = ({ shapes }, id) => shapes.find((each) => each.id === id);

// Any topology, by a seed: exchanges bound to one another and to themselves, queues without consumers, many of all.
function anyTopology(seed) {
  let state = seed * 2654435761 + 1;
  const chance = (count) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * count);
  };
  const view = structuredClone(EMPTY), [exchanges, queues] = [1 + chance(8), chance(12)];
  const take = (object) => structuredClone(Object.values(object)[chance(Object.keys(object).length)]);
  for (let at = 0; at < exchanges; at += 1) {
    const alternate = chance(3) ? "" : `x${chance(exchanges)}`;
    view.exchanges[`x${at}`] = { ...take(ORDERS.exchanges), name: `x${at}`, alternate };
  }
  for (let at = 0; at < queues; at += 1) view.queues[`q${at}`] = { ...take(ORDERS.queues), name: `q${at}` };
  for (let at = 0; at < chance(20); at += 1) {
    const kind = queues && chance(4) ? "queue" : "exchange";
    const destination = kind === "queue" ? `q${chance(queues)}` : `x${chance(exchanges)}`;
    view.bindings[`b${at}`] = { ...ORDERS.bindings.k1, source: `x${chance(exchanges)}`, kind, destination };
  }
  for (let at = 0; at < chance(6); at += 1) {
    view.publishers[at] = take(ORDERS.publishers);
    view.publishes[`p${at}`] = { publisher: String(at), exchange: `x${chance(exchanges + 1)}`, published: at };
    view.returns[`r${at}`] = { ...ORDERS.returns.r, exchange: `x${chance(exchanges)}`, publisher: String(at) };
  }
  for (let at = 0; queues && at < chance(9); at += 1) {
    view.consumers[at] = { ...take(ORDERS.consumers), queue: `q${chance(queues + 1)}` };
    const exchange = `x${chance(exchanges)}`;
    view.dead_letters[`d${at}`] = { ...ORDERS.dead_letters.x, queue: `q${chance(queues)}`, exchange };
  }
  return view;
}

const TOPOLOGIES = [ORDERS, EMPTY, ...Array.from({ length: 60 }, (_, seed) => anyTopology(seed + 1))];

test("every picture is whole, and all of it is inside", () => {
  for (const view of TOPOLOGIES) for (const width of [700, 854, 1000]) {
    const { shapes, height } = drawn(view, { width });
    check(shapes);
    for (const { id, tag, x, y, width: wide, height: tall } of shapes.filter(({ tag }) => tag === "rect")) {
      if (id.startsWith("plate-")) continue;
      assert.ok(x >= 0 && x + wide <= width && y >= 0 && y + tall <= height, `${id} (${tag}) is outside`);
    }
  }
});

test("nodes of a column stand apart, each column in its place", () => {
  for (const view of TOPOLOGIES) {
    const { nodes } = placesOf(view, 854);
    for (const [kind, places] of Object.entries(nodes)) {
      const column = Object.values(places).sort((one, other) => one.y - other.y);
      assert.equal(column.length, Object.keys(view[`${kind}s`]).length);
      assert.ok(column.length === 0 || new Set(column.map(({ x }) => x)).size === 1);
      column.slice(1).forEach(({ y, height }, place) => {
        const above = column[place];
        assert.ok(y - height / 2 >= above.y + above.height / 2, `${kind}: ${above.y} and ${y}`);
      });
    }
  }
});

test("a binding's line ends within its queue, and two of one queue are two lines", () => {
  for (const view of TOPOLOGIES) {
    const { nodes, lines } = placesOf(view, 854);
    for (const [id, y] of Object.entries(lines)) {
      const queue = nodes.queue[view.bindings[id].destination];
      assert.ok(Math.abs(y - queue.y) <= queue.height / 2);
    }
    const ends = Object.keys(lines).map((id) => `${view.bindings[id].destination} ${lines[id]}`);
    assert.equal(new Set(ends).size, ends.length);
  }
});

test("the order keeps lines from crossing where none has to", () => {
  const order = ordered(ORDERS), at = (kind, name) => order[kind].indexOf(name);
  const apart = Math.abs(at("queue", "eu_orders") - at("queue", "all_orders"));
  assert.ok(apart <= 3, "queues of one exchange stand together");
  const only = [["audit", "audit_log"], ["docs", "pdf"], ["dead", "parked"]];
  for (const [one, other] of [[0, 1], [1, 2], [0, 2]]) {
    const above = at("exchange", only[one][0]) < at("exchange", only[other][0]);
    assert.equal(at("queue", only[one][1]) < at("queue", only[other][1]), above);
  }
});

test("a frame with the same nodes keeps its order without asking again", () => {
  const first = drawn(ORDERS);
  assert.deepEqual(drawn(ORDERS, { order: first.order }).shapes, first.shapes);
  const kinds = Object.keys(first.ways).map((id) => id.slice(0, id.indexOf(":")));
  const count = (kind) => kinds.filter((one) => one === kind).length;
  const counts = Object.fromEntries([...new Set(kinds)].map((kind) => [kind, count(kind)]));
  assert.deepEqual(counts, { publish: 4, dead_letter: 1, return: 1, binding: 10, alternate: 1, consume: 6 });
});

test("a tried key: matching lines are strong, those of its exchange that do not match are dashed and muted", () => {
  const picture = drawn(ORDERS, { tried: { source: "orders", matches: new Set(["k3", "k4", "k5", "k6"]) } });
  assert.equal(shape(picture, "way-binding:k3")["stroke-width"], 2.5);
  const missed = shape(picture, "way-binding:k2");
  assert.deepEqual([missed.stroke, missed["stroke-dasharray"]], ["var(--muted)", "4 4"]);
  assert.equal(shape(picture, "way-binding:k1")["stroke-dasharray"], null, "another exchange's line stays");
  assert.equal(shape(picture, "queue:created")["stroke-width"], 2.5);
  assert.equal(shape(picture, "queue:invoices")["stroke-width"], 1.5);
});

test("rings say what is in flight, numbers where there would be too many", () => {
  const picture = drawn(ORDERS);
  const isRing = (own, id) => /^(rim-)?ring-/.test(own) && own.endsWith(`consumer:${id}`);
  const rings = (id) => picture.shapes.filter(({ id: own }) => isRing(own, id));
  assert.equal(rings(1).filter((each) => "stroke-dasharray" in each).length, 2, "three of five in flight");
  assert.equal(rings(3).filter(({ id }) => id.startsWith("rim-")).length, 10);
  assert.equal(shape(picture, "unacked-consumer:5").text, "1", "without a limit there are no free places to draw");
  assert.equal(shape(picture, "unacked-consumer:6").text, "40/250");
});

test("what a consumer holds stands beside its name, however long that is", () => {
  const wide = 10.5;                                     // of a bold letter of 15 px in the font that Linux gives
  for (const name of ["c1", "c12", "c128", "billing"]) {
    const view = structuredClone(ORDERS);
    view.consumers[1] = { ...view.consumers[1], name, prefetch_count: 5, unacked: 2 };
    const picture = drawn(view), { x, text } = shape(picture, "name-consumer:1");
    const rings = picture.shapes.filter(({ id }) => /^(rim-)?ring-/.test(id) && id.endsWith("consumer:1"));
    assert.ok(Math.min(...rings.map(({ cx }) => cx)) - 6.5 >= x + text.length * wide, name);
  }
});

test("a consumer with auto-ack has no window: no ring is drawn, whatever its prefetch count", () => {
  for (const [count, unacked] of [[1, 0], [5, 0], [250, 0], [0, 0]]) {
    const view = structuredClone(ORDERS);
    view.consumers[1] = { ...view.consumers[1], no_ack: true, prefetch_count: count, unacked };
    const picture = drawn(view), own = picture.shapes.filter(({ id }) => id.endsWith("consumer:1"));
    assert.ok(!own.some(({ id }) => /^(rim-)?ring-/.test(id)), `prefetch ${count}`);
    assert.equal(shape(picture, "auto-consumer:1").text, "auto-ack");
    assert.equal(shape(picture, "consumer:1")["aria-label"], "c1 auto-ack");
  }
});

test("both ways back have their words and their arrows", () => {
  const picture = drawn(ORDERS);
  assert.equal(shape(picture, "key-dead_letter:x").text, "rejected: 12");
  assert.equal(shape(picture, "key-return:r").text, "no route for refund: 4 returned");
  assert.ok(shape(picture, "head-dead_letter:x").d && shape(picture, "head-return:r").d);
  assert.equal(shape(picture, "way-dead_letter:x").stroke, "var(--warning)");
});

test("a publisher's and an exchange's name has its whole node, also in the narrowest picture", () => {
  const view = structuredClone(ORDERS);
  view.publishers[1] = { ...view.publishers[1], name: "inspector", published: 123456 };
  view.exchanges.returns = { ...view.exchanges.docs, name: "returns" };
  const picture = drawn(view, { width: 800 });
  assert.equal(shape(picture, "name-publisher:1").text, "inspector");
  assert.equal(shape(picture, "name-exchange:returns").text, "returns");
  view.publishers[1].name = "an inspector of everything";
  const named = shape(drawn(view, { width: 800 }), "name-publisher:1");
  assert.ok(named.text.endsWith("…") && named.title === "an inspector of everything");
});

test("no name makes two parts of a picture one: ids of all kinds may be equal", () => {
  const view = structuredClone(ORDERS);
  view.publishes = { 1: view.publishes.a };
  view.returns = { 1: view.returns.r };
  view.bindings = { 1: view.bindings.k3 };
  view.dead_letters = { 1: view.dead_letters.x };
  for (const name of ["eu_orders-name", "name-eu_orders", "eu_orders-bar"]) {
    view.queues[name] = { ...view.queues.eu_orders, name, ready: 3 };
  }
  view.exchanges.eu_orders = { ...view.exchanges.orders, name: "eu_orders" };
  const ids = drawn(view).shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test("the words of several ways back stand apart", () => {
  const view = structuredClone(ORDERS);
  for (const at of [1, 2, 3]) {
    view.dead_letters[`d${at}`] = { ...ORDERS.dead_letters.x, queue: ["created", "pdf", "parked"][at - 1] };
    view.returns[`r${at}`] = { ...ORDERS.returns.r, publisher: String(at) };
  }
  const { shapes, height } = drawn(view);
  const plates = shapes.filter(({ id }) => /^plate-(dead_letter|return):/.test(id));
  assert.equal(plates.length, 8);
  for (const one of plates) for (const other of plates) {
    const isApart = one.y + one.height <= other.y || other.y + other.height <= one.y;
    assert.ok(one === other || isApart || one.x + one.width <= other.x || other.x + other.width <= one.x, one.id);
  }
  assert.ok(plates.every(({ y, height: tall }) => y >= 20 && y + tall <= height));
});

test("a large broker is laid out whole", () => {
  const view = structuredClone(EMPTY);
  for (let at = 0; at < 20; at += 1) {
    view.exchanges[`x${at}`] = { ...ORDERS.exchanges.orders, name: `x${at}`, alternate: "" };
  }
  for (let at = 0; at < 100; at += 1) {
    view.queues[`q${at}`] = { ...ORDERS.queues.pdf, name: `q${at}` };
    for (let more = 0; more < 2; more += 1) {
      const source = `x${(at * 7 + more * 3) % 20}`;
      view.bindings[`b${at}-${more}`] = { ...ORDERS.bindings.k1, source, destination: `q${at}` };
    }
  }
  check(drawn(view).shapes);
});

test("no words of lines lie on others, also of bindings between exchanges", () => {
  const crowded = structuredClone(ORDERS);
  for (let place = 0; place < 3; place += 1) {
    crowded.bindings[`e${place}`] = {
      ...crowded.bindings.k10, routing_key: `from.the.same.to.the.same.${place}`, destination: "audit",
    };
  }
  for (const view of [ORDERS, crowded]) for (const width of [800, 960]) {
    const { shapes } = layout(view, { width, colorOf: () => null, words: WORDS });
    const plates = shapes.filter(({ id }) => id.startsWith("plate-"));
    const met = plates.flatMap((one, place) => plates.slice(place + 1).filter((other) =>
      one.x < other.x + other.width - 0.1 && other.x < one.x + one.width - 0.1 &&
      one.y < other.y + other.height - 0.1 && other.y < one.y + one.height - 0.1));
    assert.deepEqual(met.map(({ id }) => id), []);
  }
});

// Points along a path of M, L, H, V, Q and C, close to one another.
function pointsOf(d) {
  const points = [];
  let at = [0, 0];
  for (const [, letter, numbers] of d.matchAll(/([MLHVQC])([^MLHVQC]*)/g)) {
    const all = numbers.trim().split(/[ ,]+/).map(Number);
    const last = letter === "H" ? [all[0], at[1]] : letter === "V" ? [at[0], all[0]] : all.slice(-2);
    const inner = letter === "Q" || letter === "C" ? all.slice(0, -2) : [];
    const knots = [at, ...Array.from({ length: inner.length / 2 }, (_, place) => inner.slice(2 * place, 2 * place + 2)),
      last];
    for (let step = 0; letter !== "M" && step <= 200; step += 1) {
      let level = knots;
      while (level.length > 1) level = level.slice(1).map(([x, y], place) => [
        level[place][0] + (x - level[place][0]) * step / 200, level[place][1] + (y - level[place][1]) * step / 200,
      ]);
      points.push(level[0]);
    }
    at = last;
  }
  return points;
}

// The two nodes that a way joins, as "kind:name".
function endsOf(way, view) {
  const [kind, id] = [way.slice(0, way.indexOf(":")), way.slice(way.indexOf(":") + 1)];
  if (kind === "publish") {
    return [`publisher:${view.publishes[id].publisher}`, `exchange:${view.publishes[id].exchange}`];
  }
  if (kind === "consume") return [`queue:${view.consumers[id].queue}`, `consumer:${id}`];
  if (kind === "alternate") return [`exchange:${id}`, `exchange:${view.exchanges[id].alternate}`];
  if (kind === "return") return [`exchange:${view.returns[id].exchange}`, `publisher:${view.returns[id].publisher}`];
  if (kind === "dead_letter") {
    return [`queue:${view.dead_letters[id].queue}`, `exchange:${view.dead_letters[id].exchange}`];
  }
  const { source, kind: to, destination } = view.bindings[id];
  return [`exchange:${source}`, `${to}:${destination}`];
}

// A definitions file with more exchanges below the one that takes dead letters, and a ladder of retries.
function behindOthers() {
  const view = structuredClone(EMPTY);
  for (const name of ["orders", "docs", "dead", "audit", "del"]) {
    view.exchanges[name] = { ...ORDERS.exchanges.docs, name };
    view.queues[`of ${name}`] = { ...ORDERS.queues.parked, name: `of ${name}` };
    view.bindings[name] = { ...ORDERS.bindings.k1, source: name, destination: `of ${name}` };
    view.dead_letters[name] = { ...ORDERS.dead_letters.x, queue: `of ${name}`, exchange: "dead" };
    view.publishers[name] = { ...ORDERS.publishers[1], name };
    view.publishes[name] = { publisher: name, exchange: name, published: 1 };
    view.returns[name] = { ...ORDERS.returns.r, exchange: name, publisher: name };
  }
  return view;
}

test("no way runs behind a node that is not one of its ends", () => {
  for (const view of [behindOthers(), ...TOPOLOGIES]) for (const width of [800, 960]) {
    const { ways, height } = drawn(view, { width }), { nodes } = placesOf(view, width);
    const boxes = Object.entries(nodes).flatMap(([kind, all]) =>
      Object.entries(all).map(([name, box]) => ({ id: `${kind}:${name}`, ...box })));
    for (const [way, d] of Object.entries(ways)) {
      const ends = endsOf(way, view), points = pointsOf(d);
      assert.ok(points.length && points.every(([x, y]) => x > 0 && x < width && y > 0 && y < height), `${way}: ${d}`);
      for (const { id, x, y, width: wide, height: tall } of boxes.filter(({ id }) => !ends.includes(id))) {
        const isIn = ([atX, atY]) => atX > x && atX < x + wide && atY > y - tall / 2 && atY < y + tall / 2;
        assert.ok(!points.some(isIn), `${way} runs behind ${id}: ${d}`);
      }
    }
  }
});

test("a way back ends at its node, with its arrow's head outside", () => {
  for (const view of [behindOthers(), ...TOPOLOGIES]) {
    const { ways, shapes } = drawn(view), { nodes } = placesOf(view, 854);
    for (const way of Object.keys(ways).filter((each) => /^(dead_letter|return):/.test(each))) {
      const id = endsOf(way, view)[1], cut = id.indexOf(":"), box = nodes[id.slice(0, cut)][id.slice(cut + 1)];
      const [x, y] = pointsOf(ways[way]).at(-1), { d } = shapes.find((each) => each.id === `head-${way}`);
      assert.ok(x > box.x - 4 && x < box.x + box.width + 4 && Math.abs(y - box.y) < box.height / 2 + 4, way);
      const [from, tip, to] = d.slice(1).split("L").map((point) => point.split(" ").map(Number));
      assert.deepEqual(tip, [x, y]);
      for (const [atX, atY] of [from, to]) {
        const isOut = atX < box.x || atX > box.x + box.width || Math.abs(atY - box.y) > box.height / 2;
        assert.ok(isOut && (atX !== tip[0] || atY !== tip[1]), `${way}: ${d}`);
      }
    }
  }
});
