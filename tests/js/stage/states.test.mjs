// The pictures of a lane in the states that nobody records: nobody there, one alone, all crashed, many more than there
// are rows.
import assert from "node:assert/strict";
import test from "node:test";

import { twin } from "../../../static/js/lane/twins.js";
import * as clientGrid from "../../../static/js/lane/pictures/client_grid.js";
import * as hashRing from "../../../static/js/lane/pictures/hash_ring.js";
import * as partitionGrid from "../../../static/js/lane/pictures/partition_grid.js";
import * as queueDispatch from "../../../static/js/lane/pictures/queue_dispatch.js";
import * as rangeSplit from "../../../static/js/lane/pictures/range_split.js";
import { SHORT, TALL, WIDTH, nameEvery } from "../../../static/js/lane/pictures/size.js";
import * as skewChart from "../../../static/js/stage/visuals/skew_chart.js";
import * as stream from "../../../static/js/stage/visuals/stream.js";
import * as timeline from "../../../static/js/lane/timeline.js";
import { load, say } from "../fixtures/load.mjs";

const VISUALS = { ring: hashRing, ranges: rangeSplit, grid: partitionGrid, clients: clientGrid, queue: queueDispatch };
const words = new Proxy({}, { get: (_, code) => code });
const stage = () => load("stage");

// Names that are not there any more are nobody, wherever the picture has them.
function without(value, gone) {
  if (Array.isArray(value)) return value.filter((item) => !gone.has(item)).map((item) => without(item, gone));
  if (value === null || typeof value !== "object") return gone.has(value) ? null : value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !gone.has(name))
      .map(([name, item]) => [name, without(item, gone)]),
  );
}

// The lane with these consumers alone: a cut of the hash space goes to the first of them, or to nobody.
function only(lane, names) {
  const gone = new Set(lane.order.filter((name) => !names.includes(name))), picture = without(lane.picture, gone);
  if (lane.picture.now) {
    const whole = names.length
      ? { bounds: [picture.space - 1], owners: [0], dark: [0] }
      : { bounds: [], owners: [], dark: [] };
    Object.assign(picture, { names: [...names], now: whole, before: null, needle: null, connected: names.length });
  }
  return {
    ...lane, order: [...names], consumers: without(lane.consumers, gone), picture, skew: names.length ? 1 : null,
    bill: null,
  };
}

function crashed(lane) {
  const all = structuredClone(lane);
  for (const consumer of Object.values(all.consumers)) consumer.state = "crashed";
  if (all.picture.now?.dark) all.picture.now.dark = all.picture.now.owners.map(() => 1);
  for (const part of Object.values(all.picture.partitions ?? {})) part.stopped = true;
  return all;
}

function many(lane, count) {
  const all = structuredClone(lane), [first] = all.order;
  for (let number = 0; number < count; number += 1) {
    const name = `n${number}`;
    all.order.push(name);
    all.consumers[name] = { ...all.consumers[first], name, color: 6 + number, state: "live" };
    if (all.picture.clients) all.picture.clients[name] = { ...all.picture.clients[first] };
    if (all.picture.in_flight) all.picture.in_flight[name] = [number];
    if (all.picture.ring && Array.isArray(all.picture.ring)) all.picture.ring.push(name);
    if (all.picture.names) all.picture.names.push(name);
    if (all.picture.permits) all.picture.permits[name] = 5;
  }
  return all;
}

const STATES = {
  nobody: (lane) => only(lane, []), "one alone": (lane) => only(lane, [lane.order.at(-1)]), "all crashed": crashed,
  "forty more": (lane) => many(lane, 40),
};

function isWhole(shapes, where) {
  const ids = shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, `${where}: an id twice`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(
        value !== undefined && !/NaN|undefined|Infinity/.test(String(value)),
        `${where}: ${shape.id} ${name} = ${value}`,
      );
    }
    if (shape.tag === "rect") assert.ok(Number(shape.width) >= 0 && Number(shape.height) >= 0, `${where}: ${shape.id}`);
  }
}

for (const [state, change] of Object.entries(STATES)) {
  for (const id of ["pulsar", "kafka", "tubemq", "rabbitmq"]) {
    test(`${id}, ${state}: the picture and its table are whole, tall and short`, () => {
      const view = stage(), lane = change(view.lanes[id]);
      for (const height of [TALL, SHORT]) {
        isWhole(
          VISUALS[lane.picture.kind].layout(lane, { say, at: view.at_us, current: null, height }),
          `${id} ${height}`,
        );
      }
      const { head, rows } = twin(lane, words);
      for (const row of rows) assert.equal(row.length, head.length, `${id}: a row of the table`);
    });
  }
}

test("who is alone has everything: one colour on the ring, every slot of the ranges", () => {
  const view = stage(), lane = only(view.lanes.pulsar, ["c3"]);
  const owned = hashRing.layout(lane, { say }).filter(({ id }) => /^now-c/.test(id));
  assert.deepEqual(owned.map(({ id }) => id), ["now-c3"]);
  const line = rangeSplit
    .layout({ ...lane, picture: { ...lane.picture, kind: "ranges" } }, { say })
    .filter(({ id }) => /^now-\d/.test(id));
  assert.deepEqual(line.map(({ x, width }) => [x, width]), [[0, WIDTH]]);
});

test("nobody's space is void, and it is not hatched as if somebody waited", () => {
  const lane = only(stage().lanes.pulsar, []);
  const now = { bounds: [lane.picture.space - 1], owners: [-1], dark: [0] };
  const picture = { ...lane.picture, kind: "ranges", now };
  const [nobody] = rangeSplit.layout({ ...lane, picture }, { say }).filter(({ id }) => /^now-\d/.test(id));
  assert.equal(nobody.fill, "url(#void)");
});

test("where rows are lower than a letter, names stand in every nth", () => {
  assert.deepEqual([36, 13, 12, 6, 4].map(nameEvery), [1, 1, 2, 3, 4]);
});

test("all crashed: everything that somebody has is hatched, in the queue as on the ring", () => {
  const { lanes } = stage();
  const hands = queueDispatch
    .layout(crashed(lanes.rabbitmq), { say, at: 0 })
    .filter(({ id, fill, stroke }) => id.startsWith("hand-") && (fill ?? stroke));
  assert.ok(hands.length > 0 && hands.every(({ fill, stroke }) => /wait-/.test(`${fill}${stroke}`)));
  const slices = hashRing.layout(crashed(lanes.pulsar), { say }).filter(({ id }) => /^now-c\d/.test(id));
  assert.ok(slices.length > 0 && slices.every(({ id }) => id.endsWith("-dark")));
});

test("an empty queue says that it is empty, or that all is in somebody's hands", () => {
  const lane = structuredClone(stage().lanes.rabbitmq);
  const hint = () => queueDispatch.layout(lane, { say, at: 0 }).find(({ id }) => id === "hint").text;
  lane.picture.head = [];
  assert.match(hint(), /^picture\.none_ready .*25/);
  lane.picture.unacked = 0;
  assert.match(hint(), /^picture\.empty/);
});

test("what waits for a consumer is not said to wait for an acknowledgement", () => {
  const lane = structuredClone(stage().lanes.rabbitmq);
  lane.picture.head = lane.picture.head.slice(0, 3);
  const hint = () => queueDispatch.layout(lane, { say, at: 0 }).find(({ id }) => id === "hint").text;
  assert.match(hint(), /^picture\.head/);
  for (const consumer of Object.values(lane.consumers)) consumer.state = "gone";
  lane.picture.in_flight = {};
  assert.match(hint(), /^picture\.no_consumer/);
});

test("before the first record the strip has its lines and no mark, the timeline its line, the chart an axis", () => {
  const view = { ...stage(), recent: {}, timeline: {}, history: {}, at_us: 0 };
  const strip = stream.layout(view, { width: 640, say });
  isWhole(strip, "strip");
  assert.equal(strip.find(({ id }) => id === "marks").d, "");
  assert.ok(!strip.some(({ id }) => id === "last"));
  const line = timeline.layout(view, { width: 640, say });
  isWhole(line, "timeline");
  assert.deepEqual(line.map(({ id }) => id), ["track", "line", "now"]);
  for (const lane of Object.values(view.lanes)) lane.skew = null;
  const { traces, layout } = skewChart.layout(view, { say, colors: {} });
  assert.ok(traces.every(({ y }) => y.every((value) => value === null)));
  assert.deepEqual(layout.annotations, []);
  assert.ok(layout.yaxis.range.every(Number.isFinite) && layout.xaxis.range.every(Number.isFinite));
});

test("one record alone is the current one, at the right end of the strip", () => {
  const shapes = stream.layout({ recent: { 7: { key: "a" } }, workload: { kind: "zipf" } }, { width: 640, say });
  assert.equal(shapes.find(({ id }) => id === "marks").d, "");
  assert.ok(Number(shapes.find(({ id }) => id === "last").x) > 600);
});

test("records without a key have a line of their own name, and more keys than lines share the last", () => {
  const strip = (keys) =>
    stream
      .layout(
        { recent: Object.fromEntries(keys.map((key, place) => [place, { key }])), workload: { kind: "zipf" } },
        { width: 640, say },
      )
      .filter(({ tag }) => tag === "text")
      .map(({ title }) => title);
  assert.deepEqual(strip([null, null, "a"]), ["workload.no_key {}", "a"]);
  assert.deepEqual(strip(["a", "a", "b", "c", "d"]), ["a", "b", "workload.others {}"]);
  assert.deepEqual(strip(["b", "a"]), ["a", "b"], "equal ones by name");
});

test("lines of skew that end in one place have names that do not lie on one another", () => {
  const view = stage();
  for (const lane of Object.values(view.lanes)) lane.skew = 1.2;
  const heights = skewChart.layout(view, { say, colors: {} }).layout.annotations.map(({ y }) => y);
  heights.slice(1).forEach((y, place) => assert.ok(y - heights[place] >= 0.09));
});
