import assert from "node:assert/strict";
import test from "node:test";

import { createLive } from "../../../static/js/feed/live.js";
import { applyPatch } from "../../../static/js/feed/patch.js";

function live(start) {
  const seen = [], asked = [], drawn = [];
  const receive = createLive({
    start, applyPatch, acknowledge: (seq) => drawn.push(seq), requestSnapshot: (unanswered) => asked.push(unanswered),
    onChange: (view, seq) => seen.push([seq, view.n]),
  });
  return { receive, seen, asked, drawn };
}
const snapshot = (seq, n, epoch = 1) => ({ type: "snapshot", epoch, seq, view: { n } });
const frame = (from_seq, seq, n, epoch = 1) => ({
  type: "frame", epoch, from_seq, seq, patch: [{ op: "replace", path: "/n", value: n }], events: [],
});

test("frames follow the snapshot one by one", () => {
  const { receive, seen, asked } = live();
  for (const message of [snapshot(5, 50), frame(5, 6, 60), frame(6, 7, 70)]) receive(message);
  assert.deepEqual(seen, [[5, 50], [6, 60], [7, 70]]);
  assert.equal(asked.length, 0);
});

test("a gap asks once for a snapshot, and again when nobody answers", () => {
  const { receive, seen, asked } = live();
  for (const message of [snapshot(5, 50), frame(6, 7, 70), frame(7, 8, 80)]) receive(message);
  assert.equal(asked.length, 1);
  asked[0]();
  receive(frame(8, 9, 90));
  assert.equal(asked.length, 2);
  receive(snapshot(9, 90));
  receive(frame(9, 10, 100));
  assert.deepEqual(seen, [[5, 50], [9, 90], [10, 100]]);
});

test("what a snapshot already holds is passed over", () => {
  const { receive, seen } = live();
  for (const message of [snapshot(5, 50), frame(3, 4, 40), frame(4, 5, 50), snapshot(4, 40), frame(5, 6, 60)]) {
    receive(message);
  }
  assert.deepEqual(seen, [[5, 50], [6, 60]]);
});

test("a worker that lost the lab is not believed", () => {
  const { receive, seen } = live();
  for (const message of [snapshot(5, 50, 2), frame(5, 6, 66, 1), snapshot(9, 99, 1), frame(5, 6, 60, 2)]) {
    receive(message);
  }
  assert.deepEqual(seen, [[5, 50], [6, 60]]);
});

test("whoever hears a view learns whose it is", () => {
  const told = [];
  const receive = createLive({
    applyPatch, acknowledge() {}, requestSnapshot() {}, onChange: (...all) => told.push([all[3], all[4]]),
  });
  for (const message of [snapshot(5, 50, 2), frame(5, 6, 60, 2), snapshot(7, 70, 3)]) receive(message);
  assert.deepEqual(told, [[true, 2], [false, 2], [true, 3]]);
});

test("a snapshot of a newer epoch counts even if its number is smaller", () => {
  const { receive, seen } = live();
  for (const message of [snapshot(50, 1, 1), snapshot(40, 2, 2)]) receive(message);
  assert.deepEqual(seen, [[50, 1], [40, 2]]);
});

test("a page begins with its own view: nothing older counts, and the frame after it does", () => {
  const { receive, seen, asked } = live({ epoch: 2, seq: 8, view: { n: 80 } });
  for (const message of [snapshot(1, 10, 2), frame(1, 2, 20, 2), snapshot(4, 40, 2), snapshot(50, 5, 1)]) {
    receive(message);
  }
  assert.deepEqual(seen, []);
  for (const message of [frame(7, 8, 80, 2), frame(8, 9, 90, 2), snapshot(12, 120, 2)]) receive(message);
  assert.deepEqual(seen, [[9, 90], [12, 120]]);
  assert.equal(asked.length, 0);
});

test("what a page has already is acknowledged one by one, as what it shows is, " +
  "or the server would send no more", () => {
  const { receive, drawn } = live({ epoch: 2, seq: 8, view: { n: 80 } });
  for (const message of [
    snapshot(5, 50, 2), frame(5, 6, 60, 2), frame(7, 8, 80, 2), frame(8, 9, 90, 2), frame(11, 12, 120, 2),
  ]) {
    receive(message);
  }
  assert.deepEqual(drawn, [5, 6, 8, 9], "and what came after a gap is not");
});

test("the snapshot of the page's own view is shown", () => {
  const { receive, seen } = live({ epoch: 2, seq: 8, view: { n: 80 } });
  receive(snapshot(8, 80, 2));
  assert.deepEqual(seen, [[8, 80]]);
});
