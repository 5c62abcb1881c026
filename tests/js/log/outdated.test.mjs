// What was looked up, after the cleaner or a truncation.
import assert from "node:assert/strict";
import test from "node:test";

import { isOutdated, segmentOf } from "../../../static/js/log/outdated.js";

const segment = (base_offset, bytes, state = "live") => ({ base_offset, bytes, state });
const lookup = { steps: [
  { step: "segment", chosen: 0 }, { step: "index" }, { step: "segment", chosen: 40 }, { step: "index" },
] };

test("a look-up ends in the segment that it chose last", () => {
  const folder = { segments: [segment(0, 90), segment(40, 70), segment(80, 10)] };
  assert.equal(segmentOf(lookup, folder).base_offset, 40);
  assert.equal(segmentOf({ steps: [{ step: "segment", chosen: "40" }] }, folder).bytes, 70);
  assert.equal(segmentOf({ steps: [] }, folder), null);
});

test("a segment that grows is the same, one that shrank or went is another", () => {
  for (const [segments, is] of [
    [[segment(0, 90), segment(40, 70)], false],
    [[segment(0, 90), segment(40, 90)], false],
    [[segment(0, 90), segment(40, 60)], true],
    [[segment(0, 130)], true],
    [[segment(0, 90), segment(40, 70, "deleted")], true],
    [[segment(40, 70, "deleted"), segment(40, 70)], false],
  ]) {
    assert.equal(isOutdated(lookup, 70, { segments }), is);
  }
  assert.equal(isOutdated(lookup, null, { segments: [] }), false, "the page has not had that segment yet");
});
