import assert from "node:assert/strict";
import test from "node:test";

import { fill } from "../../../static/js/base/say.js";
import { chain } from "../../../static/js/why/chain.js";
import { load } from "../fixtures/load.mjs";

const words = {
  second: "s", minute: "min", "list.comma": ", ", "why.because": "because of: {what}", "why.you": "your command: {did}",
  "why.earlier": "earlier", "why.your_earlier": "your command {position}", "why.start": "the lab began: {did}",
  "tick.cluster_cut_link": "{one}–{other} cut", "tick.join": "{consumer} joined", "tick.join_many": "{count} joined",
  "fact.heartbeat_interval_us": "a heartbeat every",
  "event.tubemq.group.restarting": "All clients stop: {from} becomes {to}",
  "event.tubemq.client.started": "{consumer} started as node {node_id}",
};
const say = (code, params = {}) => fill(words[code] ?? code, params, words);
const chainIn = (lane, orders, language) =>
  chain({ chain: lane.why, orders, model: lane.model, thing: "lane:own" }, language);
const chainOf = (view, id) => chainIn(view.lanes[id], view.timeline, { say, words });

test("each event names its cause in words: a command by what was done, an event by what happened", () => {
  const view = load("stage"), [restart, started] = chainOf(view, "tubemq");
  assert.equal(restart.cause, "your command: c4 joined");
  assert.equal(started.cause, `because of: ${restart.what}`);
  for (const id of view.lane_order) for (const event of chainOf(view, id)) assert.notEqual(event.cause, "", event.what);
});

test("a cause that the page no longer holds is said to be earlier, and the lab's beginning is a cause too", () => {
  const view = load("stage");
  view.lanes.tubemq.why.shift();
  assert.equal(chainOf(view, "tubemq")[0].cause, "earlier");
  view.lanes.pulsar.why[0].cause = { command: 0 };
  assert.equal(chainOf(view, "pulsar")[0].cause, "the lab began: 3 joined");
  view.lanes.pulsar.why[0].cause = { command: 999 };
  assert.equal(chainOf(view, "pulsar")[0].cause, "your command 999");
});

test("an order to a broker or a link is said with its names", () => {
  const view = load("stage");
  const cut = { kind: "cluster_cut_link", consumer: null, count: 1, one: "broker-1", other: "broker-2" };
  view.timeline[7] = { at_us: 0, ...cut };
  view.lanes.pulsar.why[0].cause = { command: 7 };
  assert.equal(chainOf(view, "pulsar")[0].cause, "your command: broker-1–broker-2 cut");
});

test("what went in has a label and a unit, and is left out where it is unknown or said already", () => {
  const view = load("stage"), rebalance = chainOf(view, "kafka")[1], joined = chainOf(view, "pulsar")[0];
  const restart = chainOf(view, "tubemq")[0];
  assert.deepEqual(rebalance.facts.find(([label]) => label === "a heartbeat every"), ["a heartbeat every", "3\u202fs"]);
  assert.ok(!joined.facts.some(([label]) => label === "from"));
  assert.deepEqual(restart.facts.map(([label]) => label), ["node_ids"]);
});

test("a list of entries is told one by one, with how many more there are; an empty one is left out", () => {
  const view = load("stage"), [event] = view.lanes.pulsar.why;
  const own = { "each.taken": "{keys} from {consumer}", "each.more": "and {count} more", "each.nobody": "nobody" };
  event.data = { taken: [{ consumer: "c1", keys: 3 }, { consumer: null, keys: 1 }], taken_more: 4, skipped: [] };
  const told = chainIn(view.lanes.pulsar, view.timeline, {
    say: (code, params = {}) => fill({ ...words, ...own }[code] ?? code, params, words), words: { ...words, ...own },
  });
  assert.deepEqual(
    told[0].facts.find(([label]) => label === "taken"),
    ["taken", "3 from c1\n1 from nobody\nand 4 more"],
  );
  assert.equal(told[0].facts.some(([label]) => label === "skipped" || label === "taken_more"), false);
});

test("names of partitions stay as they are", () => {
  const text = JSON.stringify(chainOf(load("stage"), "tubemq"));
  assert.match(text, /1:flights:2, 2:flights:1, 3:flights:0/);
  assert.doesNotMatch(text, /1: flights/);
});

test("a long chain says how many turning points it leaves out, and an empty table is no fact", () => {
  const view = load("stage"), { why } = view.lanes.tubemq, own = { ...words, "why.left_out": "{count} between" };
  why[1].seq = why[0].seq + 8;
  why[0].data = { node_ids: {} };
  const told = chainIn(view.lanes.tubemq, view.timeline, {
    say: (code, params = {}) => fill(own[code] ?? code, params, own), words: own,
  });
  assert.deepEqual(told.slice(0, 2).map(({ left }) => left), ["", "7 between"]);
  assert.equal(told[0].facts.some(([label]) => label === "node_ids"), false);
});

test("a dead connection that was passed over is called dead", () => {
  const view = load("stage"), [event] = view.lanes.rabbitmq.why;
  const own = { ...words, "each.skipped": "{consumer}", "each.skipped_dead": "dead {consumer}" };
  event.data = { skipped: [{ consumer: "c3", dead: true }, { consumer: "c3", dead: false }] };
  const told = chainIn(view.lanes.rabbitmq, view.timeline, {
    say: (code, params = {}) => fill(own[code] ?? code, params, own), words: own,
  });
  assert.equal(told[0].facts.find(([label]) => label === "skipped")[1], "dead c3\nc3");
});

test("a partition without a leader is told as such, never as led by -1", () => {
  const view = load("stage"), [event] = view.lanes.kafka.why, kind = "kafka.partition.leader_changed";
  const own = {
    ...words, [`event.${kind}`]: "{topic} is led by {leader}",
    [`event.${kind}_none`]: "{topic} has no leader from epoch {leader_epoch} on",
  };
  const told = (leader) => {
    Object.assign(event, { kind, inputs: {}, data: { topic: "flights", leader, leader_epoch: 3 } });
    return chainIn(view.lanes.kafka, view.timeline, {
      say: (code, params = {}) => fill(own[code] ?? code, params, own), words: own,
    })[0];
  };
  assert.equal(told(2).what, "flights is led by 2");
  assert.equal(told(-1).what, "flights has no leader from epoch 3 on");
});
