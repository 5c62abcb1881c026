import assert from "node:assert/strict";
import test from "node:test";

import { createThrottle } from "../../../static/js/base/throttle.js";

function throttled(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 5000;
  const drawn = [], due = createThrottle(() => now);
  return {
    drawn,
    ask: (what, { everyMs = 1000, isForced = false } = {}) =>
      due(() => drawn.push(`${what} at ${now}`), { everyMs, isForced }),
    pass: (ms) => {
      now += ms;
      t.mock.timers.tick(ms);
    },
  };
}

test("the last is always drawn, once it may be, and what came before it is not", (t) => {
  const { drawn, ask, pass } = throttled(t);
  for (const what of ["a", "b", "c"]) {
    ask(what);
    pass(100);
  }
  assert.deepEqual(drawn, ["a at 5000"]);
  pass(699);
  assert.equal(drawn.length, 1);
  pass(1);
  assert.deepEqual(drawn, ["a at 5000", "c at 6000"]);
  pass(10_000);
  assert.equal(drawn.length, 2, "and not again");
});

test("in a stream of frames one is drawn each time, however quick they are", (t) => {
  const { drawn, ask, pass } = throttled(t);
  for (let at = 0; at <= 3000; at += 100) {
    ask(at);
    pass(100);
  }
  assert.deepEqual(drawn.map((one) => Number(one.split(" at ")[1])), [5000, 6000, 7000, 8000]);
});

test("what is forced is drawn at once, in place of what waits", (t) => {
  const { drawn, ask, pass } = throttled(t);
  ask("a");
  ask("b");
  pass(10);
  ask("c", { isForced: true });
  pass(5000);
  assert.deepEqual(drawn, ["a at 5000", "c at 5010"]);
});

test("what waits long is drawn sooner when it may be", (t) => {
  const { drawn, ask, pass } = throttled(t);
  ask("a", { everyMs: 10_000 });
  ask("b", { everyMs: 10_000 });
  pass(1500);
  ask("c");
  assert.deepEqual(drawn, ["a at 5000", "c at 6500"]);
});
