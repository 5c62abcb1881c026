import assert from "node:assert/strict";
import test from "node:test";

import { fromHash, momentHash } from "../../../static/js/lane/moment_link.js";

test("a link names the moment on screen and what is chosen, and leaves out what is not", () => {
  const hash = momentHash({ at_us: 83_250_000, position: 10 }, { chosen: "c2", partition: null, tables: "" });
  assert.equal(hash, "#at_us=83250000&position=10&chosen=c2");
  assert.deepEqual(fromHash(hash), { moment: { at_us: 83_250_000, position: 10 }, shown: { chosen: "c2" } });
});

test("before the first change the position is 0, and 0 is a place", () => {
  assert.equal(momentHash({ at_us: 0, position: 0 }), "#at_us=0&position=0");
  assert.deepEqual(fromHash("#at_us=0&position=0").moment, { at_us: 0, position: 0 });
});

test("an address without a moment, or with one that is none, opens the page as it is now", () => {
  for (const hash of ["", "#kafka", "#at_us=", "#at_us=-1", "#at_us=1e9", "#position=5", "#at_us=1234567890123456"]) {
    assert.deepEqual(fromHash(hash), { moment: null, shown: {} }, hash);
  }
  assert.deepEqual(fromHash("#at_us=5&position=x").moment, { at_us: 5 });
});
