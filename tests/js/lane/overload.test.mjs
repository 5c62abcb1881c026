// More records than the consumers handle: said with how many and how much, where it is so and nowhere else.
import assert from "node:assert/strict";
import test from "node:test";

import { overloadWords } from "../../../static/js/lane/overload.js";
import { load, say } from "../fixtures/load.mjs";

const lane = (kind, ...consumers) => ({
  picture: { kind },
  consumers: Object.fromEntries(
    consumers.map(([state, capacity, share], place) => [`c${place}`, { state, capacity, share }]),
  ),
});

test("six more a second than three consumers handle", () => {
  const three = lane("grid", ["live", 10, 0.4], ["live", 10, 0.3], ["slow", 4, 0.3]);
  assert.equal(overloadWords(three, 30, say), 'overload {"count":3,"excess":6}');
  for (const rate of [0, 20, 24]) assert.equal(overloadWords(three, rate, say), "", String(rate));
});

test("only who works counts: not the paused, the silent, the gone and who waits to be served, " +
  "nor who owns nothing", () => {
  const some = [
    ["live", 10, 0.5], ["paused", 10, 0.5], ["crashed", 10, 0.5], ["gone", 10, 0.5], ["frozen", 10, 0.5],
    ["stuck", 10, 0.5], ["waiting", 10, 0.5], ["live", 10, 0],
  ];
  assert.equal(overloadWords(lane("grid", ...some), 11, say), 'overload {"count":1,"excess":1}');
  assert.equal(overloadWords(lane("queue", ...some), 21, say), 'overload {"count":2,"excess":1}');
  assert.equal(
    overloadWords(lane("queue", ["crashed", 10, 1]), 21, say),
    "",
    "no consumer at all has a sentence of its own",
  );
});

test("every lane of a real view tells it once its rate is above its capacities", () => {
  for (const each of Object.values(load("article").lanes)) {
    const said = overloadWords(each, 1000, say), { count, excess } = JSON.parse(said.slice(said.indexOf("{")));
    assert.equal(overloadWords(each, 1000 - excess, say), "");
    assert.ok(count > 0 && count <= Object.keys(each.consumers).length);
  }
});
