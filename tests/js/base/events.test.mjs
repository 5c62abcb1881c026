// What is typed for a search of events, and which events it finds.
import assert from "node:assert/strict";
import { test } from "node:test";

import { asked, fits } from "../../../static/js/base/events.js";

const words = {
  "events.word.first": "first", "events.word.last": "last",
  "event.kafka.group.left": "{consumer} sent LeaveGroup", "model.kafka": "Kafka",
  "fact.redelivered": "redelivered records",
};
const chinese = { ...words, "events.word.first": "第一次 首次", "events.word.last": "最后一次 最后" };
const event = (data) => ({ kind: "kafka.group.left", lane: "kafka", rule: null, inputs: {}, data });

test("first and last ask for one event from that end, with what stands behind them", () => {
  assert.deepEqual(asked(" First redelivery", words), { end: "first", words: ["redeliver"] });
  assert.deepEqual(asked("last", words), { end: "last", words: [] });
  assert.deepEqual(asked("the first", words), { end: null, words: ["the", "first"] });
  assert.deepEqual(asked("最后一次再均衡", chinese), { end: "last", words: ["再均衡"] });
});

test("all words have to be there, in the sentence, the kind, the lane or a fact that is something", () => {
  const one = event({ consumer: "c2", redelivered: 3 }), none = event({ consumer: "c1", redelivered: 0 });
  assert.deepEqual(fits([one, none], ["redeliver"], words), [true, false]);
  assert.deepEqual(fits([one, none], ["c1", "leavegroup"], words), [false, true]);
  assert.deepEqual(fits([one, none], ["kafka"], words), [true, true]);
  assert.deepEqual(fits([one], [], words), [true]);
});
