// What each page of a subject asks about: what is chosen, and what was pressed.
import assert from "node:assert/strict";
import test from "node:test";

import * as cluster from "../../../static/js/cluster/why.js";
import * as groups from "../../../static/js/groups/why.js";
import * as pulsar from "../../../static/js/pulsar/why.js";
import * as rabbitmq from "../../../static/js/rabbitmq/why.js";
import * as tubemq from "../../../static/js/tubemq/why.js";
import { shapeFor } from "./shape_for.mjs";

// An element inside of what these selectors find, each with its dataset.
const inside = (found) => ({ closest: (selector) => found[selector] ?? null });
const thing = (answer) => answer?.thing ?? null;

test("on the cluster page a broker is its copy, else itself, and nothing chosen the partition that is shown", () => {
  const lane = { cluster: { partitions: { "t-0": { copies: { 1: {} } } } }, consumers: { c1: {} } };
  const chosen = (name, part) => thing(cluster.chosenThing("k", { name, chosen: part }, lane));
  assert.equal(chosen("t-0", "broker-1"), "replica:t-0/1");
  assert.equal(chosen("t-0", "broker-2"), "broker:2");
  assert.equal(chosen("t-0", "c1"), "consumer:c1");
  assert.equal(chosen("t-0", null), "replicas:t-0");
  assert.equal(chosen(null, null), "lane:k");
  const mark = inside({ "svg [data-replica]": { dataset: { replica: "2" } } });
  assert.equal(thing(cluster.thingAt(mark, "k", "t-0")), "replica:t-0/2");
  const tile = inside({ "[data-broker],[data-partition]": { dataset: { partition: "t-3" } } });
  assert.equal(thing(cluster.thingAt(tile, "k", "t-0")), "replicas:t-3");
  assert.equal(cluster.thingAt(inside({}), "k", "t-0"), null);
});

test("on the group page a row is its partition, a member its consumer, and the rest the group", () => {
  const group = { group_id: "lab", topic: "t-a", partitions: { 3: {}, 33: {} }, members: { n1: { consumer: "c1" } } };
  assert.equal(thing(groups.chosenThing("k", group, "n1")), "consumer:c1");
  assert.equal(thing(groups.chosenThing("k", group, null)), "group:lab");
  const at = (id) => thing(groups.thingAt(Object.assign(shapeFor({ id }), inside({ "#grid": {} })), "k", group));
  assert.equal(at("part-t-a-3"), "partition:3");
  assert.equal(at("cell-t-a-33-n1"), "partition:33");
  assert.equal(at("part-3"), "partition:3");
  assert.equal(at("part-t-a-9"), null);
  assert.equal(at("part-other-3"), null);
});

test("on the Pulsar page the strip is the cursor, and what is chosen a consumer", () => {
  assert.equal(thing(pulsar.chosenThing("p", "c2")), "consumer:c2");
  assert.equal(thing(pulsar.chosenThing("p", null)), "lane:p");
  const mark = Object.assign(shapeFor({ id: "mark" }), inside({ svg: { id: "strip" } }));
  assert.equal(thing(pulsar.thingAt(mark, {}, "p", { picture: {} }, "-1")), "cursor:-1");
});

test("on the TubeMQ page a chip is its partition", () => {
  const at = (part) => thing(tubemq.thingAt(inside({ "[data-part]": { dataset: { part } } }), "t", {
    partitions: { "1:f:2": {} },
  }));
  assert.equal(at("takes/c1/1:f:2"), "partition:1:f:2");
  assert.equal(at("broker/9"), null);
  assert.equal(thing(tubemq.chosenThing("t", { partition: null, client: "c1" })), "consumer:c1");
});

test("on the RabbitMQ page a node is its queue, exchange or consumer, of its virtual host", () => {
  const at = { vhost: "/", graph: { consumers: { "4.1.x": { name: "c3" } } } };
  const chosen = (given, of = at) => thing(rabbitmq.chosenThing("r", { program: null, ...given, ...of }));
  assert.equal(chosen({ chosen: { kind: "queue", name: "q" } }), "queue:q");
  assert.equal(chosen({ chosen: { kind: "queue", name: "q" } }, { ...at, vhost: "v" }), "queue:q@v");
  assert.equal(chosen({ chosen: { kind: "consumer", name: "4.1.x" } }), "consumer:c3");
  assert.equal(chosen({ chosen: null, program: "c1" }), "consumer:c1");
  assert.equal(chosen({ chosen: null }), "lane:r");
  const node = inside({ "[data-part]": { dataset: { part: "exchange:logs" } } });
  assert.equal(thing(rabbitmq.thingAt(node, "r", at)), "exchange:logs");
});
