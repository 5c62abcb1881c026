import assert from "node:assert/strict";
import test from "node:test";

import { orderOf } from "../../../static/js/stage/keys.js";

const on = (key, isWriting = false, extra = {}) =>
  orderOf({ key, target: { closest: () => (isWriting ? {} : null) }, ...extra });

test("space plays and pauses, but not where one writes or chooses", () => {
  assert.equal(on(" "), "play");
  assert.equal(on(" ", true), null);
  assert.equal(on("a", true), null);
});

test("letters order in both cases; a browser's own shortcuts and other keys are left alone", () => {
  assert.deepEqual(["A", "a", "S", ".", "t"].map((key) => on(key)), ["add", "add", "step", "step", "tables"]);
  for (const extra of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
    assert.equal(on("a", false, extra), null);
  }
  for (const key of ["Enter", "Tab", "x", "toString", "Escape"]) assert.equal(on(key), null);
});
