import assert from "node:assert/strict";
import test from "node:test";

import { find } from "../../../static/js/base/find.js";

const ENTRIES = [
  { text: "Add consumer", more: "This lab" }, { text: "Leave c2", more: "Apache Kafka" },
  { text: "Leave c2", more: "Pulsar" },
  { text: "Kafka group", more: "" }, { text: "High watermark", also: "kafka_cluster_high_watermark 高水位" },
  { text: "分析", more: "" },
];
const found = (typed) => find(ENTRIES, typed).map(({ text, more }) => (more ? `${text}/${more}` : text));

test("nothing typed finds everything as it came", () => {
  assert.equal(found("").length, ENTRIES.length);
  assert.deepEqual(found(" "), found(""));
});

test("every word has to fit, in any order, in the text or beside it", () => {
  assert.deepEqual(found("kafka leave"), ["Leave c2/Apache Kafka"]);
  assert.deepEqual(found("LEAVE c2 pul"), ["Leave c2/Pulsar"]);
  assert.deepEqual(found("leave c3"), []);
});

test("a start stands before an inside, the text before what is beside it", () => {
  assert.equal(found("kafka")[0], "Kafka group");
  assert.deepEqual(found("water"), ["High watermark"]);
});

test("letters in their order are enough, but not from one end to the other", () => {
  assert.deepEqual(found("hgwtrmk"), ["High watermark"]);
  assert.deepEqual(found("kfgr"), ["Kafka group"]);
  assert.deepEqual(found("aumr"), []);
});

test("Chinese is found in the words and in what is searched unseen", () => {
  assert.deepEqual(found("分析"), ["分析"]);
  assert.deepEqual(found("水位"), ["High watermark"]);
});
