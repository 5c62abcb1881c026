import assert from "node:assert/strict";
import test from "node:test";

import { momentLink } from "../../../static/js/lane/moment_link.js";
import { load } from "../fixtures/load.mjs";

test("a link names the moment on screen, the last change by then and the speed", () => {
  const view = { ...load("stage"), at_us: 83_250_000, speed: 0.5, timeline: { 2: {}, 10: {}, 9: {} } };
  assert.equal(
    momentLink(view, "http://lab.test/lab/x1/?at_us=1#kafka"),
    "http://lab.test/lab/x1/?at_us=83250000&position=10&speed=0.5",
  );
});

test("before the first change the position is 0", () => {
  const link = new URL(momentLink({ at_us: 0, speed: 1, timeline: {} }, "http://lab.test/lab/x1/"));
  assert.equal(link.searchParams.get("position"), "0");
});
