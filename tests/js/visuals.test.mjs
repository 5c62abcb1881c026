// Layouts are arithmetic: every shape has its own id and lies in the picture, nothing is NaN, and the sizes are true to the view.
import assert from "node:assert/strict";
import test from "node:test";

import * as clientGrid from "../../static/js/visuals/client_grid.js";
import * as hashRing from "../../static/js/visuals/hash_ring.js";
import * as partitionGrid from "../../static/js/visuals/partition_grid.js";
import * as queueDispatch from "../../static/js/visuals/queue_dispatch.js";
import * as rangeSplit from "../../static/js/visuals/range_split.js";
import * as skewChart from "../../static/js/visuals/skew_chart.js";
import { moved, segments } from "../../static/js/visuals/slices.js";
import * as stream from "../../static/js/visuals/stream.js";
import * as timeline from "../../static/js/visuals/timeline.js";
import { NAMES, load, say } from "./fixtures/load.mjs";

const VISUALS = { ring: hashRing, ranges: rangeSplit, grid: partitionGrid, clients: clientGrid, queue: queueDispatch };

function check(shapes, width, height) {
  const ids = shapes.map((shape) => shape.id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, index) => ids.indexOf(id) !== index)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) assert.ok(!String(value).includes("NaN") && value !== undefined, `${shape.id} ${name} = ${value}`);
    if (shape.tag !== "rect") continue;
    assert.ok(Number(shape.width) >= 0 && Number(shape.height) >= 0, shape.id);
    assert.ok(Number(shape.x) >= -4 && Number(shape.x) + Number(shape.width) <= width + 6, `${shape.id} leaves the picture sideways`);
    assert.ok(Number(shape.y) >= -1 && Number(shape.y) + Number(shape.height) <= height + 4, `${shape.id} leaves the picture below`);
  }
}

for (const name of NAMES) {
  const view = load(name);
  for (const id of view.rig_order) {
    test(`${name}: the picture of ${id} is whole`, () => {
      const rig = view.rigs[id];
      check(VISUALS[rig.picture.kind].layout(rig, { say, at: view.at_us, current: rig.route }), 312, 228);
    });
  }
  test(`${name}: strip, timeline and chart are whole`, () => {
    check(stream.layout(view, { width: 640, say }), 640, 40);
    check(timeline.layout(view, { width: 700, say }), 700, 48);
    const chart = skewChart.layout(view, { say, colors: {} });
    assert.equal(chart.traces.length, view.rig_order.length);
    assert.ok(chart.traces.every((trace) => trace.x.length === trace.y.length));
  });
}

test("strip: names that begin alike are told apart, and each is named whole", () => {
  assert.deepEqual(stream.shortened(["user-1", "user-2", "others"]), ["user-1", "user-2", "others"]);
  assert.deepEqual(stream.shortened(["customer-134", "customer-135", "others"]), ["…r-134", "…r-135", "others"]);
  assert.deepEqual(stream.shortened(["customer-1", "customer-10", "invoices"]), ["…mer-1", "…er-10", "invoic"]);
  assert.deepEqual(stream.shortened(["account-eu-1999-x", "account-us-1999-x"]), ["…eu-19", "…us-19"]);
  const recent = Object.fromEntries(["customer-134", "customer-135", "customer-135", "customer-134", "a"].map((key, place) => [place, { key }]));
  const named = stream.layout({ recent, workload: { kind: "zipf" } }, { width: 640, say }).filter(({ tag }) => tag === "text");
  assert.deepEqual(named.slice(0, 2).map(({ text, title }) => [text, title]), [["…r-134", "customer-134"], ["…r-135", "customer-135"]]);
});

test("slices of a ring tile the whole space once", () => {
  const { picture } = load("stage").rigs.pulsar;
  let at = 0;
  for (const [from, to] of segments(picture.now, picture.space, true)) {
    assert.equal(from, at);
    assert.ok(to > from);
    at = to;
  }
  assert.equal(at, picture.space);
});

test("what is drawn as moved is the share of the space that the bill names", () => {
  const { picture, bill } = load("stage").rigs.pulsar;
  const slots = moved(picture, true).reduce((sum, [from, to]) => sum + to - from, 0);
  assert.ok(Math.abs(slots / picture.space - bill.space_moved) < 1e-6);
});

test("slices (a, b] of two owners, and what wraps over the top of a ring", () => {
  const cut = { bounds: [3, 7], owners: [0, 1] };
  assert.deepEqual(segments(cut, 10, true), [[0, 4, 0], [4, 8, 1], [8, 10, 0]]);
  assert.deepEqual(segments(cut, 10, false), [[0, 4, 0], [4, 8, 1]]);
  assert.deepEqual(moved({ now: cut, before: { bounds: [9], owners: [0] }, space: 10 }, true), [[4, 8, 1]]);
});

test("every partition has one cell, in the row of its owner", () => {
  const rig = load("stage").rigs.kafka, shapes = partitionGrid.layout(rig, { say, current: rig.route });
  assert.equal(shapes.filter((shape) => shape.id.startsWith("cell-")).length, 12);
  assert.equal(shapes.filter((shape) => shape.id === "current").length, 1);
});

test("a crowd is summed up, not squeezed", () => {
  const view = load("crowd");
  for (const id of ["kafka", "tubemq"]) {
    const shapes = VISUALS[view.rigs[id].picture.kind].layout(view.rigs[id], { say, at: view.at_us, current: view.rigs[id].route });
    assert.ok(shapes.filter((shape) => shape.id.startsWith("name-")).length <= 12);
    assert.ok(shapes.some((shape) => shape.id === "more"));
  }
  assert.ok(queueDispatch.layout(view.rigs.rabbitmq, { say }).length < 40 * 2 + 20);
});

test("TubeMQ: what a silent client holds is hatched in its row, and void once the brokers have forgotten it", () => {
  const silent = load("stage").rigs.tubemq, forgotten = load("noticed").rigs.tubemq;
  const cells = (rig) => clientGrid.layout(rig, { say, at: 0 }).filter((shape) => shape.id.startsWith("cell-"));
  const cell = (rig, key) => cells(rig).find((shape) => shape.id === `cell-${key}`);
  for (const [key, part] of Object.entries(silent.picture.partitions)) {
    if (part.stopped && part.owner) assert.match(cell(silent, key).fill, /wait-/, key);
  }
  const lost = Object.entries(forgotten.picture.partitions).filter(([, part]) => part.owner === null);
  assert.ok(lost.length > 0);
  for (const [key, part] of lost) {
    assert.equal(part.assigned, "c2");
    assert.equal(cell(forgotten, key).class, "cell void");
  }
  const shapes = clientGrid.layout(forgotten, { say, at: 0 });
  assert.match(shapes.find((shape) => shape.id === "node-c2").text, /^#\d$/);
  assert.match(shapes.find((shape) => shape.id === "state-c2").text, /client\.gone/);
});

test("TubeMQ: cells have one size, however many a client has", () => {
  for (const name of NAMES) {
    const cells = clientGrid.layout(load(name).rigs.tubemq, { say, at: 0 }).filter((shape) => shape.id.startsWith("cell-"));
    assert.equal(new Set(cells.map(({ width, height }) => `${width}x${height}`)).size, 1, name);
  }
});

test("the ring's middle has three lines: sessions, and what is in hands or waits", () => {
  const rig = load("stage").rigs.pulsar;
  rig.picture.waiting = 12;
  const shapes = hashRing.layout(rig, { say }), middle = shapes.filter((shape) => shape.tag === "text" && shape.x === 156);
  assert.equal(middle.length, 3);
  assert.equal(middle[0].text, String(rig.picture.connected));
  assert.match(middle[2].text, /picture\.waiting/);
});
