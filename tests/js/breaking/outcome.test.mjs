// What a search says of itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isUnderWay, shareOf, stateOf, stepsOf } from "../../../static/js/breaking/outcome.js";

const SEARCH = { state: "running", phase: "searching", tries: 7, shrunk: 0, reason: "", used_s: 15, seconds: 60 };

test("a search says how it stands", () => {
  const code = (changes) => stateOf({ ...SEARCH, ...changes }).code;
  assert.equal(code({}), "break.running");
  assert.equal(code({ state: "waiting" }), "break.waiting");
  assert.equal(code({ phase: "shrinking" }), "break.shrinking");
  assert.equal(code({ state: "waiting", phase: "shrinking" }), "break.shrinking");
  assert.equal(code({ state: "done", is_broken: true }), "break.broke");
  assert.equal(code({ state: "done", is_broken: false }), "break.kept");
  for (const state of ["none", "cancelled", "failed"]) assert.equal(code({ state }), `break.${state}`);
  assert.equal(stateOf(SEARCH).params.count, 7);
});

test("it is under way until it ends, and as far as its time", () => {
  const states = ["waiting", "running", "done", "none"].filter((state) => isUnderWay({ state }));
  assert.deepEqual(states, ["waiting", "running"]);
  assert.equal(shareOf(SEARCH), 0.25);
  assert.equal(shareOf({ used_s: 70, seconds: 60 }), 1);
});

test("what was found ends with the moment", () => {
  const found = {
    is_broken: true, moment_us: 11_017_000, schedule: [{ at_us: 2e6, code: "break.did.join", params: { count: 1 } }],
  };
  assert.deepEqual(stepsOf(found).map(({ seconds, code }) => [seconds, code]), [
    ["2.000", "break.did.join"], ["11.017", "break.moment"],
  ]);
  assert.deepEqual(stepsOf({ is_broken: false, schedule: [], moment_us: null }), []);
});
