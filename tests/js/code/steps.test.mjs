import assert from "node:assert/strict";
import { test } from "node:test";

import { linesOf, resultAt, variablesAt } from "../../../static/js/code/steps.js";

const CALL = {
  given: { self: "Ring()", key: "'a'" }, result: "'c1'", raised: "", cut: 0,
  steps: [{ line: 4, changed: {} }, { line: 5, changed: { slot: "7" } }, { line: 5, changed: { slot: "8", at: "1" } }],
};
const say = (code, params) => `${code} ${Object.values(params)}`;

test("variables add up from step to step, the newest first and the object itself last", () => {
  assert.deepEqual(variablesAt(CALL, 0).map(({ name }) => name), ["key", "self"]);
  assert.deepEqual(variablesAt(CALL, 1)[0], { name: "slot", value: "7", isChanged: true });
  const last = variablesAt(CALL, 2);
  assert.deepEqual(last.map(({ name, value }) => [name, value]), [
    ["at", "1"], ["slot", "8"], ["key", "'a'"], ["self", "Ring()"],
  ]);
  assert.deepEqual(last.filter(({ isChanged }) => isChanged).map(({ name }) => name), ["at", "slot"]);
});

test("a line that came twice is one that ran", () => {
  assert.deepEqual([...linesOf(CALL)], [4, 5]);
});

test("only the last step says what it came to", () => {
  assert.equal(resultAt(CALL, 1, say), "");
  assert.equal(resultAt(CALL, 2, say), "code.gives 'c1'");
  assert.equal(resultAt({ ...CALL, raised: "AssignRefused", cut: 3 }, 2, say), "code.cut 3 code.raises AssignRefused");
});
