import assert from "node:assert/strict";
import { test } from "node:test";

import { judged, kindsOf, placeOfSlot, typed } from "../../../static/js/frame/marks.js";

test("partitions and messages are right, missed or wrong by their names", () => {
  assert.deepEqual(judged("partition", ["3", "4"], ["4", "5"]), { right: ["4"], wrong: ["3"], missed: ["5"] });
  assert.deepEqual(judged("record", ["17"], [17]), { right: ["17"], wrong: [], missed: [] });
  assert.deepEqual(judged("record", [], []), { right: [], wrong: [], missed: [] });
});

test("a place of the hash space is right in whichever range it lies, and a range without one is missed", () => {
  const ranges = [[0, 9], [20, 29]];
  assert.deepEqual(judged("slot", ["5", "9", "15"], ranges), { right: ["5", "9"], wrong: ["15"], missed: [[20, 29]] });
});

test("a lane is marked by what its picture has", () => {
  assert.deepEqual(kindsOf({ marks: { partition: null, slot: { total: 3, true: [] }, record: null } }), ["slot"]);
  assert.deepEqual(kindsOf(null), []);
});

test("names are typed with spaces or commas, and what is not there is left out", () => {
  assert.deepEqual(typed("1, 3 99", { kind: "partition", known: ["1", "2", "3"] }), ["1", "3"]);
  assert.deepEqual(typed("7，70000 x", { kind: "slot", known: [], space: 65536 }), ["7"]);
});

test("a slot lies on the ring with the clock from the top, and on a line from left to right", () => {
  const box = { width: 280, height: 208 };
  const ring = { kind: "ring", space: 1e6 }, top = placeOfSlot(0, ring, box), right = placeOfSlot(250_000, ring, box);
  assert.ok(Math.abs(top.x - 140) < 0.1 && top.y < 104);
  assert.ok(right.x > 140 && Math.abs(right.y - 104) < 0.1);
  assert.deepEqual(placeOfSlot(1, { kind: "ranges", space: 4 }, box), { x: 105, y: 104 });
});
