import assert from "node:assert/strict";
import test from "node:test";

import * as clientGrid from "../../../static/js/lane/pictures/client_grid.js";
import * as hashRing from "../../../static/js/lane/pictures/hash_ring.js";
import { isLit, spokenOf } from "../../../static/js/lane/pictures/lit.js";
import * as queueDispatch from "../../../static/js/lane/pictures/queue_dispatch.js";
import { sideOf } from "../../../static/js/stage/beside.js";
import { titleOf } from "../../../static/js/why/panel.js";
import { load } from "../fixtures/load.mjs";

const view = load("stage"), say = (code) => code;
const litIds = (layout, lane, event) => {
  const lit = spokenOf(event, lane);
  return layout(lane, { say, at: view.at_us }).filter((shape) => isLit(shape, lit.names)).map(({ id }) => id);
};

test("a client's step lights its row and the partitions that it registered", () => {
  const lane = view.lanes.tubemq;
  const event = lane.why.find(({ kind, data }) => kind === "tubemq.client.connected" && data.consumer === "c4");
  const ids = litIds(clientGrid.layout, lane, event);
  for (const id of ["sw-c4", "name-c4", ...event.data.partitions.map((key) => `cell-${key}`)]) {
    assert.ok(ids.includes(id), id);
  }
  assert.ok(!ids.includes("sw-c3") && !ids.includes("cell-1:flights:1"));
});

test("a newcomer's step lights its points, and the ranges that it names", () => {
  const lane = view.lanes.pulsar;
  const event = { inputs: {}, data: { consumer: "c4", largest: [{ start: 10, end: 20, consumer: "c1", keys: 2 }] } };
  const ids = litIds(hashRing.layout, lane, event);
  assert.ok(ids.includes("tick-c4") && ids.includes("raised-c4") && !ids.includes("now-c1"));
  assert.deepEqual(spokenOf(event, lane).ranges, [[10, 20]]);
});

test("a step of RabbitMQ lights the consumer's hands and who got records", () => {
  const lane = view.lanes.rabbitmq;
  const ids = litIds(queueDispatch.layout, lane, {
    inputs: {}, data: { consumer: "c4", received: [{ consumer: "c3", records: 1 }] },
  });
  assert.ok(ids.includes("hand-c4-0") && ids.includes("sw-c3") && !ids.includes("sw-c2"));
});

test("an assignment lights what changed hands by it; a step about nobody in particular dims nothing", () => {
  const lane = structuredClone(view.lanes.kafka), [first, second] = Object.values(lane.picture.partitions);
  for (const part of Object.values(lane.picture.partitions)) part.before = part.owner;
  [first.before, second.before] = ["c9", "c9"];
  assert.deepEqual([...spokenOf({ inputs: {}, data: { assignment: {} } }, lane).names], ["0", "1"]);
  assert.equal(spokenOf({ inputs: { heartbeat_interval_us: 1 }, data: { generation: 4 } }, lane), null);
});

test("the panel stands at the right, at the left of the last lane, below where there is no room", () => {
  assert.equal(sideOf({ left: 24, right: 360 }, 1440), "right");
  assert.equal(sideOf({ left: 1080, right: 1416 }, 1440), "left");
  assert.equal(sideOf({ left: 0, right: 390 }, 390), "below");
});

test("the panel's title calls its lane as the heading above the picture does", () => {
  const told = (id, lane, lesson) =>
    titleOf(id, { lanes: { [id]: lane }, lesson }, (code, params) =>
      params ? `${code} ${params.lane ?? `${params.name}: ${params.what}`}` : code,
    );
  assert.equal(told("pulsar", { model: "pulsar", picture: { type: "Failover" } }), "why.title lane.pulsar.Failover");
  assert.equal(told("old", { model: "pulsar", picture: { type: "Key_Shared" } }), "why.title lane.pulsar old");
  assert.equal(told("kafka", { model: "kafka", picture: {} }), "why.title lane.kafka");
  assert.equal(
    told("old", { model: "kafka", picture: {} }, { lanes: { old: { "lesson.language": "High watermark" } } }),
    "why.title list.named model.kafka: High watermark",
  );
});
