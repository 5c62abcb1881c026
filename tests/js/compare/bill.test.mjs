// What each has cost: the figures, which is least, the order by one of them, and how two labs differ.

import assert from "node:assert/strict";
import test from "node:test";

import { FIGURES, differenceOf, inOrderOf, rows, textOf, valueOf } from "../../../static/js/compare/bill.js";
import { load } from "../fixtures/load.mjs";

const words = { second: "s", millisecond: "ms", minute: "min" };
const lane = (moved, lost = null) => ({
  tally: { keys_moved: moved, dark_us: 2_500_000, redelivered: 1, out_of_order: 0, lost }, lag: 12, skew: 1.25,
});

test("the least of each figure is marked where the lanes differ, and nothing where they do not", () => {
  const found = new Map(rows([lane(5), lane(3), lane(null)]).map((row) => [row.figure, row]));
  assert.deepEqual(found.get("moved").best, [false, true, false]);
  assert.deepEqual(found.get("lag").best, [false, false, false]);
  assert.deepEqual(found.get("lost").values, [null, null, null]);
  assert.deepEqual(found.get("lost").best, [false, false, false]);
});

test("lanes are sorted by any figure, who has none comes last and equals stay as they were chosen", () => {
  const lanes = { a: lane(5), b: lane(null), c: lane(3), d: lane(5) }, ids = Object.keys(lanes);
  assert.deepEqual(inOrderOf(ids, "moved", (id) => lanes[id]), ["c", "a", "d", "b"]);
  assert.deepEqual(inOrderOf(ids, "lag", (id) => lanes[id]), ids);
  for (const none of ["given", "", "constructor"]) assert.deepEqual(inOrderOf(ids, none, (id) => lanes[id]), ids);
});

test("a figure is written as everywhere, and a dash where there is none", () => {
  assert.equal(textOf("paused", 2_500_000, words), "2.5\u202fs");
  assert.equal(textOf("lag", 12_000, words), "12\u202f000");
  assert.equal(textOf("skew", 1.254, words), "1.25");
  assert.equal(textOf("lost", null, words), "–");
});

test("two labs differ by so much, in the unit of the figure", () => {
  assert.equal(differenceOf("moved", [203, 57], words), "+146");
  assert.equal(differenceOf("moved", [57, 203], words), "−146");
  assert.equal(differenceOf("paused", [2_500_000, 0], words), "+2.5\u202fs");
  assert.equal(differenceOf("lost", [0, 0], words), "0");
  assert.equal(differenceOf("moved", [null, 5], words), "–");
});

test("every lane of a real view has every figure, or says that it has none", () => {
  const view = load("stage");
  for (const id of view.lane_order) {
    for (const figure of FIGURES) {
      const value = valueOf(view.lanes[id], figure);
      assert.ok(value === null || Number.isFinite(value), `${id} ${figure}`);
    }
  }
});
