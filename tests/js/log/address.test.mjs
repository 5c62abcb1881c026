// The place that an address asks for, and the one that the page goes on with.
import assert from "node:assert/strict";
import test from "node:test";

import { Refusal } from "../../../static/js/base/commands.js";
import { isFinal, notTaken, placeOf, placeWords } from "../../../static/js/log/address.js";

const LANE = { kind: "lab", broker: null, topic: "flights", partition: 0 };
const REPLICA = { kind: "lab", broker: 2, topic: "facts", partition: 3 };
const asked = (text) => new URLSearchParams(text);

test("what the server took is asked for again, and there is nothing to say", () => {
  for (const [answer, text, place] of [
    [LANE, "", { broker: null, topic: null, partition: null }],
    [LANE, "topic=flights&partition=0", { broker: null, topic: "flights", partition: "0" }],
    [REPLICA, "broker=2&topic=facts&partition=3", { broker: "2", topic: "facts", partition: "3" }],
    [REPLICA, "topic=facts&partition=03", { broker: "2", topic: "facts", partition: "3" }],
  ]) {
    assert.deepEqual(placeOf(answer, asked(text)), place, text);
    assert.equal(notTaken(answer, asked(text)), "", text);
  }
});

test("where the server took another place, the page asks for that one and says what is not there", () => {
  for (const text of ["partition=77", "topic=nope", "topic=facts&partition=0", "broker=9&topic=facts", "broker=9"]) {
    const place = placeOf(LANE, asked(text));
    assert.ok(place.broker === null, text);
    assert.ok([null, "flights"].includes(place.topic) && [null, "0"].includes(place.partition), text);
  }
  assert.equal(notTaken(LANE, asked("partition=77")), "partition=77");
  assert.equal(notTaken(LANE, asked("topic=facts&partition=0")), "topic=facts");
  assert.equal(notTaken(LANE, asked("broker=9&topic=facts&partition=2")), "broker=9&topic=facts&partition=2");
  assert.equal(notTaken(REPLICA, asked("broker=1&partition=3")), "broker=1");
});

test("an opened log has one place", () => {
  const opened = { kind: "opened", topic: "t", partition: 4 };
  assert.deepEqual(placeOf(opened, asked("partition=3")), { broker: null, topic: null, partition: null });
  assert.equal(notTaken(opened, asked("partition=3")), "");
});

test("only an answer that would come again is final", () => {
  assert.ok([400, 404].every((status) => isFinal(new Refusal(status, {}))));
  assert.ok([409, 429, 500, 503].every((status) => !isFinal(new Refusal(status, {}))));
  assert.ok(!isFinal(new TypeError("Failed to fetch")));
});

test("a place is named as an address writes it", () => {
  assert.equal(placeWords({ broker: "2", topic: null, partition: "0", lane: "kafka" }), "broker=2&partition=0");
  assert.equal(placeWords({ broker: null, topic: null, partition: null }), "");
});
