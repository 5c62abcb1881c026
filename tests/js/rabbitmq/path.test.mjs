// A message's way over views of real servers: every step has words, every list the messages that went through, and what
// is lit is in the graph.
import assert from "node:assert/strict";
import test from "node:test";

import { layout } from "../../../static/js/rabbitmq/graph.js";
import { litOf, through } from "../../../static/js/rabbitmq/path_graph.js";
import { askedFor, hopWords, messageName, stepWords } from "../../../static/js/rabbitmq/path_words.js";
import { graphWords } from "../../../static/js/rabbitmq/words.js";
import { load, say } from "../fixtures/load.mjs";
import { check } from "../pulsar/known.mjs";

const LANES = load("rabbitmq").map(({ lanes }) => lanes.rabbitmq), ORDERS = LANES[1].rabbitmq;
const steps = LANES.flatMap(({ rabbitmq }) => Object.values(rabbitmq.paths.of).flatMap((path) => path.steps));

test("every step of every kept message has its sentence", () => {
  assert.ok(steps.length > 100);
  for (const step of steps) assert.ok(!/undefined|NaN|\[object/.test(stepWords(step, say)), JSON.stringify(step));
  const kinds = new Set(steps.map(({ kind }) => kind));
  for (const kind of ["published", "delivered", "ack", "discard", "died", "returned"]) assert.ok(kinds.has(kind), kind);
});

test("what has no route, no consumer's answer or no place to die is said as such", () => {
  const published = { kind: "published", program: "p", exchange: "", routing_keys: ["k"], queues: [] };
  assert.match(stepWords(published, say), /^topology.path.published_nowhere/);
  const given = { kind: "delivered", program: "c", queue: "q", redelivered: true, needs_ack: false };
  assert.match(stepWords(given, say), /^topology.path.delivered_auto_again/);
  const died = { kind: "died", queue: "q", reason: "expired", exchange: null, queues: [] };
  assert.match(stepWords(died, say), /^topology.path.died .*topology.path.reason.expired/);
  assert.match(stepWords({ ...died, exchange: "x" }, say), /^topology.path.died_nowhere/);
  const rule = "rabbitmq.connection.missed_heartbeats";
  assert.match(stepWords({ kind: "given_back", program: "c", queue: "q", rule }, say), /rule.missed_heartbeats/);
});

const row = (more) => ({ routing_key: "a.*.#", words: [], x_match: "all", pairs: [], ...more });
const hop = (more) => ({ source: "x", kind: "queue", name: "q", is_taken: true, row: row(more) });
const words = (pattern, taken) => ({ pattern, stood_for: taken });

test("a binding says why it matched, by the type of its exchange", () => {
  const said = (type, one) => hopWords({ hops: [one] }, () => type, say)[0];
  const topic = hop({ words: [words("a", "a"), words("*", "eu"), words("#", "")] });
  assert.match(said("topic", topic), /why.stands .*"taken\W+eu.*why.stands_none/);
  assert.match(said("topic", hop({ words: [words("a", "a")] })), /why.topic_plain/);
  const pairs = [
    { name: "format", wanted: "pdf", is_counted: true, is_match: true },
    { name: "x-a", wanted: 1, is_counted: false, is_match: true },
  ];
  assert.match(said("headers", hop({ pairs })), /format=pdf/);
  assert.doesNotMatch(said("headers", hop({ pairs })), /x-a/);
  assert.match(said("fanout", hop({})), /why.fanout/);
  assert.match(said("direct", { ...hop({}), is_taken: false }), /why.direct.*topology.path.circle/);
  assert.match(said("direct", { ...hop({}), source: "" }), /by_name/);
  assert.match(said("direct", { ...hop({}), row: null }), /by_alternate/);
  assert.deepEqual(hopWords({ is_changed: true, hops: [] }, () => null, say), ["topology.path.changed {}"]);
});

test("the messages of a node are those that went through it, the newest first", () => {
  const { paths, vhosts: { shop } } = ORDERS, all = through(paths, null);
  const followed = Object.values(paths.of).filter((path) => path.is_followed);
  assert.ok(all.length === followed.length && followed.length < Object.keys(paths.of).length);
  const times = all.map(([, last]) => last.at_us);
  assert.deepEqual(times, [...times].sort((one, other) => other - one));
  for (const name of Object.keys(shop.queues)) {
    const some = through(paths, { kind: "queue", name });
    assert.ok(some.every(([message]) => JSON.stringify(paths.of[message]).includes(name)));
  }
  assert.ok(through(paths, { kind: "queue", name: "pdf" }).length);
  assert.deepEqual(through(paths, { kind: "queue", name: "none" }), []);
  const publisher = through(paths, { kind: "publisher", name: "9", program: "till" });
  assert.ok(publisher.length && publisher.every(([message]) => paths.of[message].steps[0].program === "till"));
});

test("what is lit is drawn under its lines and nodes, of all steps or of one", () => {
  const { shop } = ORDERS.vhosts, key = Object.keys(shop.bindings).find((id) => id.includes("created"));
  const [publisher] = Object.keys(shop.publishes);
  const way = [
    { vhost: "shop", ways: [`publish:${publisher}`, `binding:${key}`], parts: ["queue:created"] },
    { vhost: "shop", ways: ["consume:none"], parts: ["queue:gone"] }, { vhost: "/", ways: ["publish:1"], parts: [] },
  ];
  const drawn = (lit) => {
    const { shapes } = layout(shop, { width: 900, colorOf: () => 1, words: graphWords(say), lit });
    check(shapes);
    return shapes.filter(({ class: look }) => look === "lit").map(({ id }) => id);
  };
  assert.deepEqual(drawn(litOf(way, "shop")).sort(), [
    `lit-binding:${key}`, `lit-publish:${publisher}`, "lit-queue:created",
  ].sort());
  assert.deepEqual(drawn(litOf(way, "shop", 1)), []);
  assert.deepEqual(drawn(null), []);
  assert.equal(litOf(undefined, "shop"), null);
});

test("a message by hand has a number of its own", () => {
  assert.match(messageName(1_234, 0, say), /record .*1.234/);
  assert.match(messageName(2 ** 40 + 9, 3, say), /sent .*"3"/);
});

test("a message is asked for as it is called, in any language, or by its plain number", () => {
  for (const words of [
    { "topology.path.record": "message {message}", "topology.path.sent": "by hand {message}" },
    { "topology.path.record": "消息 {message}", "topology.path.sent": "手动 {message}" },
  ]) {
    const told = (code, { message }) => words[code].replace("{message}", message);
    for (const [message, byHand, wanted] of [
      [5, 0, { message: "5" }], [1_234, 0, { message: "1234" }], [2 ** 40 + 9, 1, { by_hand: "1" }],
      [2 ** 40 + 2_000, 1_500, { by_hand: "1500" }],
    ]) assert.deepEqual(askedFor(` ${messageName(message, byHand, told)}`, told), wanted);
    assert.deepEqual(askedFor("17", told), { message: "17" });
    assert.deepEqual(askedFor("", told), {});
    assert.deepEqual(askedFor("none", told), { message: "none" });
  }
});
