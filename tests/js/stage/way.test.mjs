// The way of one record: pieces of time, a picture to scale, and words.

import assert from "node:assert/strict";
import test from "node:test";

import { layout, piecesOf, stepWords, ticksOf } from "../../../static/js/stage/way.js";

const at = (kind, seconds, consumer = "c1") => ({ kind, at_us: 20e6 + seconds * 1e6, consumer });
const SENT = 20e6, UNTIL = 30e6;

test("it waits until it is received, is held until it is done, and then there is nothing more", () => {
  assert.deepEqual(piecesOf([at("received", 1), at("done", 3)], SENT, UNTIL), [
    { kind: "waits", from: 0, to: 1e6, consumer: null, end: null },
    { kind: "held", from: 1e6, to: 3e6, consumer: "c1", end: "done" },
  ]);
});

test("what is not done goes on to the moment that is shown, with whoever has it", () => {
  assert.deepEqual(piecesOf([], SENT, UNTIL), [{ kind: "waits", from: 0, to: 10e6, consumer: null, end: null }]);
  assert.deepEqual(piecesOf([at("received", 1)], SENT, UNTIL)[1], {
    kind: "held", from: 1e6, to: 10e6, consumer: "c1", end: null,
  });
});

test("another gets it without a word of the first, which crashed; and one that releases it says so", () => {
  const crashed = piecesOf([at("received", 1), at("received", 4, "c2"), at("done", 5, "c2")], SENT, UNTIL);
  assert.deepEqual(crashed.map(({ kind, consumer }) => [kind, consumer]), [
    ["waits", null], ["held", "c1"], ["held", "c2"],
  ]);
  const released = piecesOf([at("received", 1), at("dropped", 2), at("received", 4, "c2")], SENT, UNTIL);
  assert.deepEqual(released.map(({ kind, end }) => [kind, end]), [
    ["waits", null], ["held", "dropped"], ["waits", null], ["held", null],
  ]);
});

test("ticks are round and few", () => {
  for (const span of [1000, 7_300, 999_999, 18_852_899, 240e6]) {
    const ticks = ticksOf(span);
    assert.ok(ticks.length >= 2 && ticks.length <= 6, `${span}: ${ticks}`);
    assert.ok(ticks.at(-1) <= span && /^[125]0*$/.test(String(ticks[1])));
  }
});

test("all lanes are on one scale, and a bar has its consumer's colour", () => {
  const told = {
    sent_us: SENT, until_us: UNTIL, lanes: { a: { steps: [at("received", 1), at("done", 8)] }, b: { steps: [] } },
  };
  const lanes = [{ id: "a", name: "A", colors: { c1: 3 } }, { id: "b", name: "B", colors: {} }];
  const words = { second: "s", millisecond: "ms", minute: "min" };
  const { shapes, height } = layout(told, lanes, { width: 500, words });
  const of = (id) => shapes.find((shape) => shape.id === id);
  assert.equal(of("a-1").fill, "var(--id-3)");
  assert.ok(Math.abs(of("a-1").x + of("a-1").width - of("a-1-end").cx) < 0.2);
  assert.ok(of("b-0").x + of("b-0").width > of("a-1-end").cx && of("b-0").class === "waits");
  assert.ok(shapes.every(({ y = 0 }) => y < height));
});

test("in words: partition, steps, and what is still to come", () => {
  const say = (code, params = {}) => [code, ...Object.values(params)].join(" ");
  const words = (steps, rest = {}) => stepWords({ home: { unit: "7" }, steps, is_switched: false, ...rest }, SENT, say);
  assert.deepEqual(words([at("received", 1), at("done", 3)]), [
    "way.partition 7", "way.received c1 1000000", "way.done c1 3000000",
  ]);
  assert.equal(words([at("received", 1)]).at(-1), "way.in_hand");
  assert.equal(words([]).at(-1), "way.waits");
  assert.deepEqual(words([], { home: null, is_switched: true }), ["way.switched"]);
});
