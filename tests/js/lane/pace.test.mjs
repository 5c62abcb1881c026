import assert from "node:assert/strict";
import { test } from "node:test";

import { createPace } from "../../../static/js/lane/pace.js";

const VIEW = { playing: true, speed: 1, own_speed: 1, at_changes: null, changing: false };

test("what was asked last counts until the page shows it, or two seconds have passed", () => {
  let view = VIEW, at = 0;
  const pace = createPace({ current: () => view, now: () => at });
  assert.deepEqual(pace.chosen(), { speed: 1, atChanges: null });
  pace.ask(10, null);
  assert.equal(pace.chosen().speed, 10);
  pace.ask(pace.chosen().speed, 0.1);
  view = { ...VIEW, own_speed: 10, speed: 10 };                    // the first of the two has arrived
  assert.deepEqual([pace.chosen().speed, pace.chosen().atChanges], [10, 0.1]);
  view = { ...view, at_changes: 0.1 };
  assert.deepEqual(pace.chosen(), { speed: 10, atChanges: 0.1 });
  pace.ask(4, null);                                               // refused: it never comes
  at = 2_001;
  assert.deepEqual(pace.chosen(), { speed: 10, atChanges: 0.1 });
});

test("slow now is said only while something changes and the clock runs", () => {
  const { isSlow } = createPace({ current: () => VIEW });
  const slow = { ...VIEW, speed: 0.1, at_changes: 0.1, changing: true };
  assert.equal(isSlow(slow), true);
  for (const part of [{ playing: false }, { changing: false, speed: 1 }, { at_changes: null }, { own_speed: 0.1 }]) {
    assert.equal(isSlow({ ...slow, ...part }), false);
  }
  assert.equal(isSlow({ playing: true, speed: 1 }), false);        // a view of older code
});
