// Turning the slides of a lecture.

import assert from "node:assert/strict";
import { test } from "node:test";

import { numberIn, turned } from "../../../static/js/learn/turning.js";

test("an address names a slide, and one that names none is the first", () => {
  assert.deepEqual(["", "#3", "#slide-12", "#x", "#0", "#99"].map((hash) => numberIn(hash, 12)), [1, 3, 12, 1, 1, 12]);
});

test("the first slide has none before it and the last none after it", () => {
  assert.deepEqual(["next", "back", "first", "last"].map((way) => turned(1, way, 3)), [2, 1, 1, 3]);
  assert.deepEqual(["next", "back", "first", "last"].map((way) => turned(3, way, 3)), [3, 2, 1, 3]);
});
