// A lab's branches: their letters, what they are called, and where their lines leave the lab's own.

import assert from "node:assert/strict";
import test from "node:test";

import { labelOf, lettered, linesOf, nextLetter } from "../../../static/js/lane/branch_names.js";

const row = (id, is, left, more = {}) => ({ id, is, name: "Flights", did: null, left_at_us: left, at_us: 90, ...more });
const say = (code, params) => (params ? `${params.letter}: ${params.what}` : code);

test("those that left a lab have letters in turn, and it has none", () => {
  const rows = [row("m", "self", null), row("x", "child", 10), row("y", "child", 20)];
  assert.deepEqual(lettered(rows).map(({ letter }) => letter), ["", "A", "B"]);
  assert.equal(nextLetter(rows), "C");
});

test("a branch knows its own letter, and its own branches have that one's with a number", () => {
  const rows = [row("m", "parent", null), row("x", "sibling", 10), row("y", "self", 20), row("z", "child", 30)];
  assert.deepEqual(lettered(rows).map(({ letter }) => letter), ["", "A", "B", "B1"]);
  assert.equal(nextLetter(rows), "B2");
});

test("a branch is called by its name, else by what was done in it", () => {
  const did = { en: "c3 crashed", "zh-hans": "c3 崩溃" };
  const rows = lettered([
    row("m", "parent", null), row("x", "self", 10, { did }), row("y", "sibling", 20, { name: "What if", did }),
    row("z", "sibling", 20),
  ]);
  assert.deepEqual(
    rows.map((one) => labelOf(one, rows, "en", say)),
    ["branches.first", "A: c3 crashed", "B: What if", "C: branches.unchanged"],
  );
  assert.equal(labelOf(rows[1], rows, "zh-hans", say), "A: c3 崩溃");
});

test("another one leaves the lab's line where the two part", () => {
  const rows = lettered([
    row("m", "parent", null), row("x", "self", 40), row("y", "sibling", 10), row("w", "sibling", 70),
    row("z", "child", 60),
  ]);
  assert.deepEqual(
    linesOf(rows).map(({ id, left_at_us: at }) => [id, at]),
    [["m", 40], ["y", 10], ["w", 40], ["z", 60]],
  );
});
