// Failover, Shared and Exclusive: standbys, topics, the round.
import assert from "node:assert/strict";
import test from "node:test";

import * as round from "../../../static/js/pulsar/round.js";
import * as standbys from "../../../static/js/pulsar/standbys.js";
import { lines } from "../../../static/js/pulsar/what_if.js";
import { spaceWords, story } from "../../../static/js/pulsar/words.js";
import { say } from "../fixtures/load.mjs";
import { RATE, failover, shared, colorOf, check } from "./known.mjs";

function headline(...given) {
  const { what, means } = story(...given);
  return means ? `${what} ${means}` : what;
}

test("one active consumer a partition, the next one framed, and nobody reads in the second of a switch", () => {
  const { partitions, order } = failover.pulsar.failover;
  const shapes = standbys.layout(failover.pulsar, { width: 700, colorOf: colorOf(failover), chosen: null, say });
  for (const [partition, { active, next, switching }] of Object.entries(partitions)) {
    const cells = order.map(([name]) => shapes.find(({ id }) => id === `cell-${partition}-${name}`));
    assert.deepEqual(
      cells.filter(({ class: look }) => look === "o").map(({ id }) => id),
      [`cell-${partition}-${active}`],
    );
    assert.deepEqual(
      cells.filter(({ class: look }) => look === "next").map(({ id }) => id),
      [`cell-${partition}-${next}`],
    );
    assert.equal(/wait-/.test(cells.find(({ class: look }) => look === "o").fill), switching);
  }
  assert.ok(Object.values(partitions).some(({ switching }) => switching));
});

test("four consumers of Failover fit on a phone", () => {
  assert.ok(failover.order.length >= 3 && standbys.wide(failover.pulsar.failover, 332) <= 332);
  const shapes = standbys.layout(failover.pulsar, { width: 332, colorOf: colorOf(failover), chosen: null, say });
  for (const { id, x = 0, width = 0 } of shapes) assert.ok(x + width <= 332, `${id} ends at ${x + width}`);
});

test("several topics without partitions are called by their names", () => {
  const many = structuredClone(failover);
  many.pulsar.topics = 3;
  many.pulsar.partitions = 0;
  for (const panel of [many.pulsar.failover.partitions, many.pulsar.cursors]) {
    for (const [partition, known] of Object.entries(panel)) {
      delete panel[partition];
      panel[`topic-${partition}`] = known;
    }
  }
  const shapes = check(standbys.layout(many.pulsar, { width: 700, colorOf: colorOf(many), chosen: null, say }));
  assert.match(shapes.find(({ id }) => id === "head-partition").text, /subscription\.topic/);
  assert.ok(shapes.some(({ title }) => title?.includes('"where":"topic-1"')));
  assert.match(spaceWords(many, say), /space_words.topics .*"count":3/);
  const answer = {
    key: "", hash: 1, slot: null, range: null, partition: null, topic: null, consumer: null,
    joins: { name: "c9", consumer: null, refused: null }, leaves: {},
  };
  assert.match(lines(answer, many, say).at(-1)[1], /in_turn/);
  assert.ok(
    lines({ ...answer, key: "k", topic: "persistent://public/default/topic-2", consumer: "c2" }, many, say).some(
      ([, text]) => text === "topic-2",
    ),
  );
});

test("where every consumer is active the headline speaks of no standbys", () => {
  const all = structuredClone(failover), names = all.order;
  for (const known of Object.values(all.pulsar.consumers)) known.idle = null;
  const partitions = Object.values(all.pulsar.failover.partitions);
  assert.match(
    headline(
      {
        ...all,
        pulsar: {
          ...all.pulsar,
          failover: {
            ...all.pulsar.failover,
            partitions: Object.fromEntries(names.map((active, place) => [place, { ...partitions[0], active }])),
          },
        },
      },
      RATE,
      say,
    ),
    /head.failover_all/,
  );
  assert.match(
    headline(
      {
        ...all,
        pulsar: {
          ...all.pulsar,
          failover: { ...all.pulsar.failover, partitions: { 0: { ...partitions[0], active: names[0] } } },
        },
      },
      RATE,
      say,
    ),
    /head.failover .*"count":1/,
  );
});

test("the round names levels where there are any", () => {
  const lane = structuredClone(shared);
  const words = () =>
    round
      .layout(lane.picture, lane.pulsar.consumers, {
        width: 500, colorOf: colorOf(lane), permitsMost: 1000, chosen: null, say,
      })
      .filter(({ id }) => id.startsWith("level-"));
  assert.equal(words().length, 0);
  lane.pulsar.consumers[lane.picture.ring[0]].priority = 2;
  assert.deepEqual(
    check(words()).map(({ text }) => text),
    lane.picture.ring.map((_, place) => `subscription.level {"priority":${place ? 0 : 2}}`),
  );
});
