// What can be done and asked: verbs, a newcomer, where a key goes, typed ranges.
import assert from "node:assert/strict";
import test from "node:test";

import { findings, layout as editorBar, written } from "../../../static/js/pulsar/editor.js";
import { isSticky, joinOf, knowsLevels } from "../../../static/js/pulsar/newcomer.js";
import { chosenWords, verbsOf } from "../../../static/js/pulsar/verbs.js";
import { lines } from "../../../static/js/pulsar/what_if.js";
import { say } from "../fixtures/load.mjs";
import { joined, newcomer, sticky, failover, shared, exclusive, nobody, colorOf, check } from "./known.mjs";

test("verbs follow from the consumer's state and from the registry", () => {
  const kinds = {
    join: [], pause: [], resume: [], pulsar_hold_acks: [], pulsar_release_acks: [], slow: [], crash: [], leave: [],
    rejoin: [], pulsar_redeliver: [], pulsar_unsubscribe: [], pulsar_lose_receipts: ["seconds"],
  };
  const of = (lane, name, known = kinds) => verbsOf(lane, name, known, say).map(({ id }) => id);
  assert.deepEqual(of(newcomer, null), ["join"]);
  assert.deepEqual(of(newcomer, "c1"), [
    "join", "resume", "pulsar_hold_acks", "crash", "leave", "pulsar_redeliver", "pulsar_unsubscribe",
  ]);
  assert.deepEqual(of(newcomer, "c2"), [
    "join", "pause", "pulsar_hold_acks", "slow", "crash", "leave", "pulsar_redeliver", "pulsar_unsubscribe",
  ]);
  assert.deepEqual(of(shared, "c2"), ["join", "rejoin", "leave"]);
  assert.deepEqual(of(newcomer, "c2", { join: [] }), ["join"]);
  assert.deepEqual(
    of(exclusive, "c2").includes("pulsar_unsubscribe"),
    false,
    "who was refused has no subscription to take away",
  );
  const waits = { ...newcomer, pulsar: { ...newcomer.pulsar, producer: {} } };
  assert.deepEqual(
    verbsOf(waits, null, kinds, say).map(({ order }) => order),
    [{ kind: "join" }, { kind: "pulsar_lose_receipts" }],
  );
  const keys = verbsOf(newcomer, "c2", kinds, say).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(verbsOf(newcomer, "c2", kinds, say).find(({ id }) => id === "crash").key, "X");
  assert.match(chosenWords(nobody, null, say), /choose_none/);
});

test("an answer names where a key goes, and nothing that nobody knows", () => {
  const answer = {
    key: "k", hash: 9, slot: 3, range: [0, 7], partition: null, consumer: "c1",
    joins: { name: "c5", consumer: "c5", refused: null }, leaves: { c1: null },
  };
  const texts = lines(answer, joined, say).map(([word, text]) => `${word}=${text}`).join("\n");
  assert.match(texts, /answer.join .*c5.*answer.moves .*c5/);
  assert.match(lines({ ...answer, key: "" }, joined, say)[0][1], /answer.keyless .*9/);
  assert.match(texts, /answer.leave .*c1.*answer.moves_nowhere/);
  assert.match(
    lines({ ...answer, slot: null, range: null, consumer: null }, shared, say)
      .map(([, text]) => text)
      .join(),
    /answer.any/,
  );
  assert.match(
    lines({ ...answer, partition: 1, joins: { name: "c2", consumer: null, refused: "no" } }, exclusive, say)
      .map(([, text]) => text)
      .join(),
    /answer.refused/,
  );
});

test("typed ranges show gaps, overlaps and the broker's word", () => {
  const answer = {
    ranges: [[30_000, 40_000]], refused: { kind: "range_conflict", message: "Range conflict", conflict: "c3" },
    covered: 40_001, space: 65_536, gaps: [[40_001, 65_535]], overlaps: [[30_000, 32_767, "c3"]],
  };
  check(editorBar(answer, sticky.pulsar.consumers, { who: "c1", width: 500, colorOf: colorOf(sticky) }));
  assert.deepEqual(findings(answer, say).map(([, isBad]) => isBad), [false, true, true]);
  assert.deepEqual(findings({ ...answer, refused: null, overlaps: [] }, say).map(([, isBad]) => isBad), [false, false]);
  assert.equal(written([[0, 1], [4, 5]]), "0-1, 4-5");
});

test("a newcomer joins with what is given and nothing else", () => {
  assert.deepEqual(joinOf({}), { kind: "join", args: {} });
  assert.deepEqual(joinOf({ name: " pod-1 ", level: "2" }), { kind: "join", consumer: "pod-1", args: { priority: 2 } });
  assert.deepEqual(joinOf({ name: "", level: "0", ranges: [[0, 9]] }), {
    kind: "join", args: { priority: 0, ranges: [[0, 9]] },
  });
  assert.deepEqual([failover, shared, exclusive, sticky].map(knowsLevels), [true, true, false, false]);
  assert.deepEqual([joined, sticky].map(isSticky), [false, true]);
});
