// "What if": a key's hash is shown where it decides something, and nowhere else.
import assert from "node:assert/strict";
import test from "node:test";

import { lines } from "../../../static/js/pulsar/what_if.js";
import { say } from "../fixtures/load.mjs";

const ANSWER = {
  key: "k", hash: 6067, slot: null, range: null, partition: null, topic: null, consumer: "c1",
  joins: { name: "c9", consumer: "c1", refused: null }, leaves: {},
};

function tellsHash(type, { partitions = 0, topics = 0, ...answer } = {}) {
  const lane = { order: ["c1"], pulsar: { type, partitions, topics, consumers: { c1: { connected: true } } } };
  return lines({ ...ANSWER, ...answer }, lane, say).some(([, , , term]) => term === "key_hash");
}

test("under Key_Shared the hash decides", () => assert.ok(tellsHash("Key_Shared", { slot: 1971, range: [0, 32767] })));

test("on one topic the other types don't look at the key", () => {
  for (const type of ["Exclusive", "Failover", "Shared"]) assert.ok(!tellsHash(type), type);
});

test("where it chooses the partition or the topic, the hash is told under every type", () => {
  for (const type of ["Exclusive", "Failover", "Shared"]) {
    assert.ok(tellsHash(type, { partitions: 3, partition: 1 }), type);
    assert.ok(!tellsHash(type, { partitions: 3 }), `${type}, in turn`);
  }
  assert.ok(tellsHash("Failover", { topics: 3, topic: "persistent://public/default/topic-2" }));
});
