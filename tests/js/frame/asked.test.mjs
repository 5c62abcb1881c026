// A question about a change, in words; and who has a key before and after it.

import assert from "node:assert/strict";
import test from "node:test";

import {
  answerWords, changeId, changesOf, orderOf, questionWords, truthWords, whoWords,
} from "../../../static/js/frame/asked.js";
import { load, say } from "../fixtures/load.mjs";

const spoken = (code, params = {}) => {
  const known = Object.entries(params).filter(([, value]) => value !== null && value !== undefined);
  return [code, ...known.map(([name, value]) => `${name}=${value}`)].join(" ");
};

test("a consumer can join, and who is there can leave or crash; who is dead or gone cannot", () => {
  const view = load("start"), names = Object.keys(view.lanes.kafka.consumers);
  for (const id of view.lane_order) view.lanes[id].consumers[names[0]].state = id === "kafka" ? "live" : "crashed";
  const ids = (lane) => changesOf(view, lane).map(changeId);
  const each = (kind) => names.map((name) => `${kind} ${name}`);
  assert.deepEqual(ids("kafka"), ["join", ...each("leave"), ...each("crash")]);
  assert.ok(!ids("pulsar").includes(`leave ${names[0]}`));
  assert.ok(changesOf(view).map(changeId).includes(`leave ${names[0]}`));   // somewhere it is there
  assert.deepEqual(orderOf({ kind: "join", consumer: null }), { kind: "join", args: { count: 1 } });
  assert.deepEqual(orderOf({ kind: "crash", consumer: "c2" }), { kind: "crash", consumer: "c2" });
});

test("each kind of answer has its words, its ends among them", () => {
  const words = (figure, from, to) => answerWords(figure, { from, to }, spoken);
  assert.deepEqual(
    [
      words("partitions_moved", 0, 0), words("partitions_moved", 6, 6), words("keys_moved", 1, 20),
      words("keys_moved", 100, 100), words("redelivered", 4, 10), words("redelivered", 1001, null),
      words("pause_us", 0, 1e6), words("pause_us", 3e6, 10e6), words("pause_us", 300e6, null),
    ],
    [
      "predict.none", "predict.count low=6", "predict.percent low=1 high=20", "predict.all",
      "predict.counts low=4 high=10", "predict.more_counts low=1001", "predict.under high_us=1000000",
      "predict.times low_us=3000000 high_us=10000000", "predict.over low_us=300000000",
    ],
  );
});

test("the question names the change, and begins with a large letter", () => {
  const asked = questionWords({ figure: "partitions_moved", total: 12 }, { kind: "join" }, "Kafka", (code, params) =>
    code === "change.join" ? "a consumer joins" : `${params.change}/${params.total}/${params.lane}`);
  assert.equal(asked, "A consumer joins/12/Kafka");
});

test("the truth says whether one was right, how it was found out, and what has no reader", () => {
  const question = { figure: "keys_moved", total: null, value: 23, truth: 1 };
  const told = (chosen, outcome) => truthWords({ question, chosen, outcome, atClock: "0:30.0" }, spoken);
  const right = told(1, { rest_us: 250_000, stopped: [] });
  assert.equal(right[0], "predict.right truth=predict.truth.keys_moved value=23 value_us=23");
  assert.deepEqual(right.slice(1), ["predict.rested clock=0:30.0 rest_us=250000"]);
  const wrong = told(0, { rest_us: null, stopped: ["1", "2"] });
  assert.match(wrong[0], /^predict\.wrong/);
  assert.deepEqual(wrong.slice(1), ["predict.restless clock=0:30.0", "predict.standing count=2"]);
});

test("who has a key: now, then, the same, nobody, and where no key has an owner", () => {
  const at = (consumer, unit = null, waits = false) => ({ hash: 1, unit, consumer, waits });
  const who = (now, after = null) => whoWords({ key: { now, after }, outcome: after && {} }, say);
  assert.match(who(null), /^who\.no_owner/);
  assert.match(who(at("c1")), /^who\.now .*c1/);
  assert.match(who(at("c1"), at("c1")), /who\.same/);
  assert.match(who(at("c1", "7"), at("c2", "7")), /who\.after .*who\.partition.*c2/);
  assert.match(who(at(null, "7")), /who\.nobody_partition/);
  assert.match(who(at("c1"), at("c1", null, true)), /who\.after .*who\.waits/);
});
