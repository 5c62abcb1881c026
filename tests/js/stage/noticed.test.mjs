// The line below a crash's caption: who has noticed it.
import assert from "node:assert/strict";
import test from "node:test";

import { speaker } from "../../../static/js/base/say.js";
import { sub as below } from "../../../static/js/lane/caption.js";
import { load } from "../fixtures/load.mjs";

const WORDS = {
  "sub.noticed": "noticed by {noticed}; {waiting} waits.", "sub.unnoticed": "{waiting} waits.",
  "sub.noticed_by_all": "noticed.", "sub.unknown": "unknown to {lanes}.", "list.comma": ", ",
  "list.and": "{first} and {last}",
};

function sub(states) {
  const view = load("stage");
  view.caption = { code: "crash", params: { consumer: "c1" } };
  for (const [model, [state, code]] of Object.entries(states)) {
    view.lanes[model].consumers.c1.state = state;
    view.lanes[model].sentence = { code, params: { consumer: "c1", partitions: 4 } };
  }
  view.lane_order = Object.keys(states);
  return below(view, speaker(WORDS));
}

test("a lane that never knew the crashed consumer has not noticed it", () => {
  const silent = ["crashed", "kafka.crash_pending"], lost = ["gone", "tubemq.crash_unknown"];
  assert.equal(sub({ kafka: silent, tubemq: lost }), "model.kafka waits. unknown to model.tubemq.");
  assert.equal(sub({ tubemq: ["gone", "tubemq.crash_unknown_idle"] }), "unknown to model.tubemq.");
  assert.equal(sub({ kafka: ["gone", "kafka.crash_noticed"], tubemq: lost }), "noticed. unknown to model.tubemq.");
  assert.equal(sub({ kafka: ["gone", "kafka.crash_noticed"], tubemq: ["gone", "tubemq.crash_noticed"] }), "noticed.");
});
