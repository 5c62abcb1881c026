// What the system did on its own, on the line of time.
import assert from "node:assert/strict";
import test from "node:test";

import { speaker } from "../../../static/js/base/say.js";
import { withEvents } from "../../../static/js/lane/system_marks.js";
import { layout as stopsLayout } from "../../../static/js/lesson/stops.js";
import { AT, layout } from "../../../static/js/lane/timeline.js";

const rules = { kinds: ["k.expired", "k.isr"], at_once_us: 1_000_000 };
const event = (kind, at, data = {}) => ({ kind, at_us: at, lane: "kafka", inputs: {}, data });
const words = { "each.more": "and {count} more", "list.comma": ", ", "list.named": "{name}: {what}" };
const say = speaker(words);

test("only events of the kinds are marks, and several at once of one kind, lane and consumer are one", () => {
  const told = [
    event("k.other", 1), event("k.isr", 5_000_000), event("k.isr", 5_900_000), event("k.isr", 6_000_000),
    event("k.expired", 5_000_000, { consumer: "c2" }), event("k.expired", 5_100_000, { consumer: "c3" }),
  ];
  const marks = withEvents([], told, rules);
  assert.deepEqual(marks.map(({ kind, consumer, count }) => [kind, consumer, count]), [
    ["k.isr", null, 2], ["k.isr", null, 1], ["k.expired", "c2", 1], ["k.expired", "c3", 1],
  ]);
  assert.equal(withEvents(marks, [event("k.isr", 6_500_000)], rules)[1].count, 2);
});

const view = {
  at_us: 100_000_000, lane_order: ["kafka", "pulsar"], lanes: { kafka: { model: "kafka" } },
  consumers: { c2: { color: 2 } },
  timeline: { 1: { at_us: 20_000_000, kind: "crash", color: 2, consumer: "c2" } },
};
const mark = (at, given = {}) => ({
  at_us: at, kind: "k.expired", lane: "kafka", consumer: null, count: 1, by: "system",
  caption: { en: `at ${at / 1e6}` }, ...given,
});
const shapesOf = (system) => layout(view, { width: 500, say, system });
const ids = (system) => shapesOf(system).map(({ id }) => id);

test("a mark of its own is an open square, in colour only for a consumer, and says what the system did", () => {
  const found = shapesOf([mark(60_000_000, { consumer: "c2" })]), id = `tick-${AT}60000000`;
  const square = found.find((shape) => shape.id === id), hit = found.find((shape) => shape.id === `hit-${AT}60000000`);
  assert.equal(square.tag, "rect");
  assert.equal(square.fill, "none");
  assert.notEqual(square.stroke, undefined);
  assert.match(hit["data-tip"], /^1:00\.0 .*at 60$/);
  assert.equal(hit["data-part"], `${AT}60000000`);
  const plain = shapesOf([mark(60_000_000)]).find((shape) => shape.id === id);
  assert.equal(plain.class, "o panel");
  assert.equal(found.some((shape) => shape.id === `name-${AT}60000000`), false);
});

test("beside an order it is told in that order's caption, and the order keeps its place and its mark", () => {
  const before = shapesOf([]).find(({ id }) => id === "tick-1");
  const found = shapesOf([mark(21_000_000)]);
  assert.deepEqual(found.find(({ id }) => id === "tick-1"), before);
  assert.equal(found.some(({ id }) => id.startsWith(`tick-${AT}`)), false);
  const hit = found.find(({ id }) => id === "hit-1");
  assert.match(hit["data-tip"], /tick\.crash[\s\S]*at 21/);
  assert.equal(hit["data-part"], "1");
});

test("several that overlap are one with their number, and one of many says how many more", () => {
  const close = ids([mark(60_000_000), mark(60_500_000), mark(90_000_000, { count: 12 })]);
  assert.ok(close.includes(`tick-${AT}60500000-n`) && close.includes(`tick-${AT}90000000`));
  const hit = shapesOf([mark(90_000_000, { count: 12 })]).find(({ id }) => id === `hit-${AT}90000000`);
  assert.match(hit["data-tip"], /at 90, and 11 more/);
});

test("what is later than the line, or before it, is not on it", () => {
  assert.equal(ids([mark(160_000_000)]).some((id) => id.startsWith(`tick-${AT}`)), false);
});

test("in a lesson it stands between the stops, and at a stop in that one's caption", () => {
  const captions = [20, 80].map((second) => ({ at_us: second * 1e6, stop_us: second * 1e6, text: {}, speed: 1 }));
  const lesson = { captions, lasts_us: 80_000_000, meddled_us: null };
  const found = stopsLayout({ ...view, lesson }, {
    width: 600, say, system: [mark(50_000_000), mark(21_000_000), mark(120_000_000)],
  });
  const squares = found.filter(({ id }) => id.startsWith(`tick-${AT}`)).map(({ id }) => id);
  assert.deepEqual(squares, [`tick-${AT}50000000`]);
  const [first, second] = ["hit-1", "hit-2"].map((id) => found.find((shape) => shape.id === id)["data-tip"]);
  assert.match(first, /\n0:21\.0 .*at 21/);
  assert.doesNotMatch(second, /\n/);
});
