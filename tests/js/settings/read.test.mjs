import assert from "node:assert/strict";
import { test } from "node:test";

import { valueOf } from "../../../static/js/settings/read.js";

const typed = (kind, text) => valueOf({ kind, text, isDefault: false });

test("a number is one as people type it, and anything else goes to the server as it is", () => {
  assert.equal(typed("whole", " 1 000 "), 1000);
  assert.equal(typed("whole", "−1"), -1);
  for (const text of ["", "  "]) assert.equal(typed("whole", text), undefined);
  for (const text of ["1.5", "many", "1e3", "9223372036854775807"]) assert.equal(typed("whole", text), text);
  assert.equal(typed("decimal", "1.25"), 1.25);
  assert.equal(typed("decimal", ".5"), 0.5);
  assert.equal(typed("decimal", "NaN"), "NaN");
});

test("what holds its default is left out", () => {
  assert.equal(valueOf({ kind: "whole", text: "12", isDefault: true }), undefined);
  assert.equal(valueOf({ kind: "switch", text: "on", isOn: false, isDefault: true }), undefined);
  assert.equal(valueOf({ kind: "switch", text: "on", isOn: true, isDefault: false }), true);
});

test("choices of numbers and of yes and no are numbers and yes and no", () => {
  assert.equal(typed("choice", "-1"), -1);
  assert.equal(typed("choice", "true"), true);
  assert.equal(typed("choice", "compact,delete"), "compact,delete");
});

test("a list has its names, a table its object, and a broken table goes as it is", () => {
  assert.deepEqual(typed("list", "a, b，c,,"), ["a", "b", "c"]);
  assert.deepEqual(typed("table", '{"c3": 1}'), { c3: 1 });
  assert.equal(typed("table", "{c3"), "{c3");
});
