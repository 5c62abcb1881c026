// The two lines above every page: what is said first, and which words of it are nouns.
import assert from "node:assert/strict";
import test from "node:test";

import { BROKEN, IDLE, WAITING } from "../../../static/js/lane/importance.js";
import { markedSay, nounsOf, partsOf, plain } from "../../../static/js/frame/nouns.js";
import { storyOf } from "../../../static/js/frame/story.js";
import { load } from "../fixtures/load.mjs";

const say = (code, params = {}) => {
  if (code === "list.comma") return ", ";
  if (code === "list.and") return `${params.first} and ${params.last}`;
  if (code.startsWith("model.")) return code.slice(6);
  return [code, ...Object.values(params)].join(" ");
};
const lines = (view, options) => Object.values(storyOf(view, say, options)).map(plain);

function started(states = {}, code = "start", params = {}) {
  const view = load("start");
  for (const id of view.lane_order) {
    for (const name in view.lanes[id].consumers) view.lanes[id].consumers[name].state = states[name] ?? "live";
  }
  view.caption = { code, params };
  return view;
}

test("a crash that is not noticed comes before a change after it, and says who still waits for it", () => {
  const [what, means] = lines(started({ c1: "crashed" }, "join", { consumer: "c3" }));
  assert.match(what, /^story\.silent c1 1/);
  assert.match(means, /^sub\.unnoticed .*kafka/);
});

test("a page's own news comes first where it is as important, else it says what the lab's means there", () => {
  const crash = started({ c1: "crashed" }, "crash", { consumer: "c1" });
  const own = (rank) => ({ lane: "kafka", own: () => ({ rank, what: "own", means: "so" }) });
  assert.deepEqual(lines(crash, own(BROKEN)), ["own", "so"]);
  assert.match(lines(crash, own(WAITING))[0], /^caption\.crash c1/);
  assert.equal(lines(crash, own(WAITING))[1], "own so", "what waits has its cause beside it");
  assert.equal(lines(started({}, "join", { consumer: "c3" }), own(IDLE))[1], "own");
  assert.equal(lines(started(), own(IDLE))[0], "own");
});

test("what to press is said on the Stage alone, and no line is said twice", () => {
  const view = started();
  assert.match(lines(view)[0], /^caption\.start/);
  assert.doesNotMatch(lines(view, { lane: "kafka" })[0], /caption\.start/);
  assert.match(lines(view)[1], /^list\.named pulsar, tubemq and rabbitmq overload 3 6$/, "where it is so");
  const overload = lines(view, { lane: "pulsar" })[1];
  assert.equal(overload, "overload 3 6");
  const [what, means] = lines(view, { lane: "pulsar", own: () => ({ rank: WAITING, what: overload }) });
  assert.notEqual(what, means);
});

test("nouns are found in lists, with their colours, and a broker with its word", () => {
  const view = started(), nouns = nounsOf(view, say), spoken = markedSay(say, nouns);
  const parts = partsOf(spoken("list.and", { first: "c1, c2", last: "kafka" }), nouns);
  assert.deepEqual(parts.map(({ text, kind }) => [text, kind]), [
    ["c1", "consumer"], [", ", undefined], ["c2", "consumer"], [" and ", undefined], ["kafka", "lane"],
  ]);
  assert.equal(parts[0].color, view.lanes.kafka.consumers.c1.color);
  const broker = partsOf(spoken("Broker", { broker: 2 }), nouns);
  assert.deepEqual(broker.map(({ text, kind, id }) => [text, kind, id]), [["Broker 2", "broker", "2"]]);
  assert.deepEqual(partsOf(spoken("brokers", { brokers: 3 }), nouns), [{ text: "brokers 3" }], "how many is no noun");
});
