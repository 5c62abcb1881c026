import assert from "node:assert/strict";
import test from "node:test";

import { speaker } from "../../../static/js/base/say.js";
import { figureAt, rowAt, shapeAt } from "../../../static/js/why/at.js";
import { thingsOf } from "../../../static/js/why/things.js";
import { saysWords, sinceWords, sumWords, thingName } from "../../../static/js/why/words.js";
import { shapeFor } from "./shape_for.mjs";
import { load } from "../fixtures/load.mjs";

const words = {
  "list.comma": ", ", "each.nobody": "nobody", "each.more": "and {count} more", "route.keyless": "none", second: "s",
  "why.is.x": "{consumer} {share} {isr}", "why.sum.lag": "lag {lag} = {end} − {committed}",
  "why.sum.paused": "{pause_us} = from {from} to {until}", "why.part.move": "{name}: {from} → {to}",
  "why.since": "since {clock}", "why.since_unknown": "nothing", "why.thing.partition": "partition {id}",
  "figure.skew": "Skew",
  "why.figure.waiting": "waiting now", "why.since_last": "last {clock}",
};
const say = speaker(words);

test("a sentence has its numbers as a person reads them", () => {
  assert.equal(saysWords({ says: { code: "why.is.x", params: { consumer: null, share: 0.256, isr: [1, 2] } } }, say),
    "nobody 25.6\u202f% 1, 2");
});

test("a sum is said with its parts, and how many more there are", () => {
  const sums = [
    { code: "why.sum.lag", params: { lag: 52, end: 1140, committed: 1088 }, parts: null },
    {
      code: "why.sum.paused", params: { pause_us: 2_900_000, from_us: 60_000_000, until_us: 62_900_000 },
      parts: { code: "why.part.move", items: [{ name: "4", from: "c2", to: null }], more: 3 },
    },
  ];
  assert.deepEqual(sumWords({ sums }, say), [
    { text: "lag 52 = 1\u202f140 − 1\u202f088", parts: [], more: "" },
    { text: "2.9\u202fs = from 1:00.0 to 1:02.9", parts: ["4: c2 → nobody"], more: "and 3 more" },
  ]);
});

test("what no turning point is about is said to be unchanged", () => {
  assert.equal(sinceWords({ since_us: null, chain: [] }, say), "nothing");
  assert.equal(sinceWords({ since_us: 61_000_000, chain: [{}] }, say), "since 1:01.0");
});

test("what is so now has no beginning: the last change is said with its time", () => {
  for (const thing of ["total:lost", "figure:skew", "figure:waiting"]) {
    assert.equal(sinceWords({ thing, since_us: 61_000_000, chain: [{}] }, say), "last 1:01.0");
  }
  assert.equal(sinceWords({ thing: "figure:paused", since_us: 61_000_000, chain: [{}] }, say), "since 1:01.0");
});

test("a thing is called by its kind and id, a figure by its name", () => {
  assert.equal(thingName("partition:1:flights:3", say), "partition 1:flights:3");
  assert.equal(thingName("figure:skew", say), "Skew");
  assert.equal(thingName("figure:waiting", say), "waiting now");
});

test("everything that a lane's picture names is on the list", () => {
  const { lanes } = load("stage");
  for (const [id, lane] of Object.entries(lanes)) {
    const things = thingsOf(lane, id).flatMap(([, each]) => each);
    assert.equal(things[0], `lane:${id}`);
    for (const name of lane.order) assert.ok(things.includes(`consumer:${name}`));
    for (const name in lane.picture.partitions ?? {}) assert.ok(things.includes(`partition:${name}`));
    assert.equal(new Set(things).size, things.length);
  }
  assert.ok(thingsOf(lanes.rabbitmq, "rabbitmq").flat(2).includes(`queue:${lanes.rabbitmq.picture.name}`));
});

const at = { x: 0, y: 0, width: 280, height: 208 };

test("a cell, its lag and its number are its partition, a name its consumer", () => {
  const { kafka, tubemq } = load("stage").lanes;
  for (const id of ["cell-3", "lag-3", "about-3", "hw-3", "was-3", "no-3"]) {
    assert.equal(shapeAt(shapeFor({ id }), kafka, at), "partition:3", id);
  }
  const [key] = Object.keys(tubemq.picture.partitions);
  assert.equal(shapeAt(shapeFor({ id: `cell-${key}` }), tubemq, at), `partition:${key}`);
  assert.equal(shapeAt(shapeFor({ id: "name-c1" }), kafka, at), "consumer:c1");
  assert.equal(shapeAt(shapeFor({ id: "base" }), kafka, at), null);
});

test("a ring's slot follows from the angle, from the top and with the clock", () => {
  const { pulsar } = load("stage").lanes, { space } = pulsar.picture;
  const slot = (x, y) => Number(shapeAt(shapeFor({ id: "now-c1" }), pulsar, { ...at, x, y }).slice("slot:".length));
  assert.equal(slot(280, 104), Math.floor(space / 4));
  assert.equal(slot(140, 208), Math.floor(space / 2));
  assert.equal(slot(0, 104), Math.floor((space * 3) / 4));
  assert.equal(shapeAt({}, pulsar, { ...at, x: 230, y: 104 }), `slot:${Math.floor(space / 4)}`);
  assert.equal(shapeAt({}, pulsar, { ...at, x: 150, y: 104 }), null);
});

test("a record in the queue or in hands is that record, a row its consumer, the queue the queue", () => {
  const { rabbitmq } = load("stage").lanes, { picture } = rabbitmq;
  const [name, held] = Object.entries(picture.in_flight).find(([, records]) => records.length);
  assert.equal(shapeAt(shapeFor({ id: `hand-${name}-0` }), rabbitmq, at), `record:${held[0].record}`);
  assert.equal(shapeAt(shapeFor({ id: `name-${name}` }), rabbitmq, at), `consumer:${name}`);
  assert.equal(shapeAt(shapeFor({ id: "walls" }), rabbitmq, at), `queue:${picture.name}`);
  if (picture.head.length) {
    assert.equal(shapeAt(shapeFor({ id: "ready-0" }), rabbitmq, at), `record:${picture.head[0].record}`);
  }
});

test("a figure is asked about by its term, a row by its consumer", () => {
  const value = { parentElement: { querySelector: () => ({ dataset: { term: "keys_moved" } }) } };
  const within = (place) => ({ closest: (selector) => (selector.includes(place) ? value : null) });
  assert.equal(figureAt(within(".since dd")), "figure:moved");
  assert.equal(figureAt(within(".tally dd")), "total:moved");
  assert.equal(figureAt({ closest: () => null }), null);
  assert.equal(rowAt({ closest: () => ({ dataset: { consumer: "c2" } }) }), "consumer:c2");
});
