// Layouts are arithmetic: every shape has its own id and lies in the picture, nothing is NaN, and the sizes are true to
// the view.
import assert from "node:assert/strict";
import test from "node:test";

import { figure } from "../../../static/js/base/say.js";
import { moved, segments } from "../../../static/js/drawing/slices.js";
import { twin } from "../../../static/js/lane/twins.js";
import * as clientGrid from "../../../static/js/lane/pictures/client_grid.js";
import * as hashRing from "../../../static/js/lane/pictures/hash_ring.js";
import * as partitionGrid from "../../../static/js/lane/pictures/partition_grid.js";
import * as queueDispatch from "../../../static/js/lane/pictures/queue_dispatch.js";
import * as rangeSplit from "../../../static/js/lane/pictures/range_split.js";
import { SHORT, TALL, WIDTH } from "../../../static/js/lane/pictures/size.js";
import * as skewChart from "../../../static/js/stage/visuals/skew_chart.js";
import * as stream from "../../../static/js/stage/visuals/stream.js";
import * as timeline from "../../../static/js/lane/timeline.js";
import { NAMES, load, say } from "../fixtures/load.mjs";

const VISUALS = { ring: hashRing, ranges: rangeSplit, grid: partitionGrid, clients: clientGrid, queue: queueDispatch };

function check(shapes, width, height) {
  const ids = shapes.map((shape) => shape.id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, index) => ids.indexOf(id) !== index)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(!String(value).includes("NaN") && value !== undefined, `${shape.id} ${name} = ${value}`);
    }
    if (shape.tag !== "rect") continue;
    assert.ok(Number(shape.width) >= 0 && Number(shape.height) >= 0, shape.id);
    assert.ok(
      Number(shape.x) >= -4 && Number(shape.x) + Number(shape.width) <= width + 6,
      `${shape.id} leaves the picture sideways`,
    );
    assert.ok(
      Number(shape.y) >= -1 && Number(shape.y) + Number(shape.height) <= height + 4,
      `${shape.id} leaves the picture below`,
    );
  }
}

for (const name of NAMES) {
  const view = load(name);
  for (const id of view.lane_order) {
    test(`${name}: the picture of ${id} is whole`, () => {
      const lane = view.lanes[id];
      for (const height of [TALL, SHORT]) {
        check(
          VISUALS[lane.picture.kind].layout(lane, { say, at: view.at_us, current: lane.route, height }),
          WIDTH,
          height,
        );
      }
    });
  }
  test(`${name}: strip, timeline and chart are whole`, () => {
    check(stream.layout(view, { width: 640, say }), 640, 44);
    check(timeline.layout(view, { width: 700, say }), 700, 48);
    const chart = skewChart.layout(view, { say, colors: {} });
    assert.equal(chart.traces.length, view.lane_order.length);
    assert.ok(chart.traces.every((trace) => trace.x.length === trace.y.length));
    for (const [index, { text }] of chart.layout.annotations.entries()) {
      const id = view.lane_order.find((id) => text.startsWith(say(`model.${view.lanes[id].model}`)));
      if (id && view.lanes[id].skew !== null) {
        assert.ok(
          text.endsWith(` ${figure(view.lanes[id].skew, 2)}`),
          `label ${index}: ${text}, the lane says ${view.lanes[id].skew}`,
        );
      }
    }
  });
}

test("chart: a lane that has nobody left has no figure at its line's end", () => {
  const view = load("stage");
  view.lanes.kafka.skew = null;
  const { text } = skewChart
    .layout(view, { say, colors: {} })
    .layout.annotations.find((note) => note.text.startsWith("model.kafka"));
  assert.ok(text.endsWith(" –"), text);
});

test("strip: names that begin alike are told apart, and each is named whole", () => {
  assert.deepEqual(stream.shortened(["user-1", "user-2", "others"]), ["user-1", "user-2", "others"]);
  assert.deepEqual(stream.shortened(["customer-134", "customer-135", "others"]), ["…r-134", "…r-135", "others"]);
  assert.deepEqual(stream.shortened(["customer-1", "customer-10", "invoices"]), ["…mer-1", "…er-10", "invoic"]);
  assert.deepEqual(stream.shortened(["account-eu-1999-x", "account-us-1999-x"]), ["…eu-19", "…us-19"]);
  const recent = Object.fromEntries(
    ["customer-134", "customer-135", "customer-135", "customer-134", "a"].map((key, place) => [place, { key }]),
  );
  const named = stream
    .layout({ recent, workload: { kind: "zipf" } }, { width: 640, say })
    .filter(({ tag }) => tag === "text");
  assert.deepEqual(
    named.slice(0, 2).map(({ text, title }) => [text, title]),
    [
      ["…r-134", "customer-134"], ["…r-135", "customer-135"],
    ],
  );
});

test("slices of a ring tile the whole space once", () => {
  const { picture } = load("stage").lanes.pulsar;
  let at = 0;
  for (const [from, to] of segments(picture.now, picture.space, true)) {
    assert.equal(from, at);
    assert.ok(to > from);
    at = to;
  }
  assert.equal(at, picture.space);
});

test("what is drawn as moved is the share of the space that the bill names", () => {
  const { picture, bill } = load("stage").lanes.pulsar;
  const slots = moved(picture, true).reduce((sum, [from, to]) => sum + to - from, 0);
  assert.ok(Math.abs(slots / picture.space - bill.space_moved) < 1e-6);
});

test("slices (a, b] of two owners, and what wraps over the top of a ring", () => {
  const cut = { bounds: [3, 7], owners: [0, 1] };
  assert.deepEqual(segments(cut, 10, true), [[0, 4, 0, false], [4, 8, 1, false], [8, 10, 0, false]]);
  assert.deepEqual(segments(cut, 10, false), [[0, 4, 0, false], [4, 8, 1, false]]);
  assert.deepEqual(moved({ now: cut, before: { bounds: [9], owners: [0] }, space: 10 }, true), [[4, 8, 1, false]]);
});

test("every partition has one cell, in the row of its owner", () => {
  const lane = load("stage").lanes.kafka, shapes = partitionGrid.layout(lane, { say, current: lane.route });
  assert.equal(shapes.filter((shape) => shape.id.startsWith("cell-")).length, 12);
  assert.equal(shapes.filter((shape) => shape.id === "current").length, 1);
});

test("how many consumers have no row stands above the words of the lag, with a high watermark and without", () => {
  const stage = load("stage").lanes.kafka;
  const order = [...stage.order, ...Array.from({ length: 30 }, (_, number) => `n${number}`)];
  const consumers = {
    ...stage.consumers,
    ...Object.fromEntries(order.slice(stage.order.length).map((name) => [name, stage.consumers[stage.order[0]]])),
  };
  for (const above of [true, false]) {
    const lane = structuredClone({ ...stage, order, consumers });
    for (const part of Object.values(lane.picture.partitions)) {
      if (above) part.high_watermark = part.end;
      else delete part.high_watermark;
    }
    const shapes = new Map(partitionGrid.layout(lane, { say, current: lane.route }).map((shape) => [shape.id, shape]));
    assert.equal(shapes.get("more").text, "+31");
    assert.ok(shapes.get("more").y <= shapes.get(above ? "hw-word" : "lag-word").y - 13);
  }
});

test("each partition of a cluster has a mark at its high watermark; what is above it is hatched, " +
  "up to the end of the bar", () => {
  const lane = load("stage").lanes.kafka, parts = lane.picture.partitions;
  Object.assign(parts["2"], { position: 100, high_watermark: 130, end: 140, lag: 40 });
  Object.assign(parts["3"], { position: 140, high_watermark: 140, end: 140, lag: 0 });
  // its log was cut
  Object.assign(parts["4"], { position: 150, high_watermark: 140, end: 140, lag: -10, leader_broker: null });
  const shapes = new Map(partitionGrid.layout(lane, { say, current: lane.route }).map((shape) => [shape.id, shape]));
  const base = TALL - 6;
  assert.equal(
    [...shapes.keys()].filter((id) => id.startsWith("hw-") && id !== "hw-word" && id !== "hw-key").length,
    12,
  );
  const bar = shapes.get("lag-2"), hatch = shapes.get("unseen-2");
  const mark = Number(shapes.get("hw-2").d.match(/ ([\d.]+)h/)[1]);
  assert.equal(hatch.y, bar.y);
  assert.ok(Math.abs(hatch.height / bar.height - 10 / 40) < 0.02 && Math.abs(mark - hatch.y - hatch.height) < 0.2);
  assert.equal(shapes.has("unseen-3"), false);
  assert.ok(shapes.get("hw-3").d.includes(` ${base}h`) && shapes.get("lag-4").height === 0);
  assert.match(shapes.get("about-2")["data-tip"], /picture\.offsets/);
  assert.match(shapes.get("about-4")["data-tip"], /picture\.offsets_offline/);
  for (const part of Object.values(parts)) delete part.high_watermark; // a lane without replicas
  assert.ok(!partitionGrid.layout(lane, { say, current: lane.route }).some(({ id }) => /^(hw|unseen|about)-/.test(id)));
});

test("the table of a cluster's lane has HW and LEO, and counts both lags up to HW, as Kafka does", () => {
  const lane = load("stage").lanes.kafka, words = new Proxy({}, { get: (_, code) => code });
  Object.assign(lane.picture.partitions["2"], { position: 100, high_watermark: 130, end: 140, committed: 90, lag: 40 });
  const { head, rows } = twin(lane, words), row = Object.fromEntries(head.map((name, place) => [name, rows[2][place]]));
  assert.deepEqual(
    ["hw", "leo", "position", "records_lag", "committed", "committed_lag"].map((name) => row[`twin.${name}`]),
    ["130", "140", "100", "30", "90", "40"],
  );
});

test("a crowd is summed up, not squeezed", () => {
  const view = load("crowd");
  for (const id of ["kafka", "tubemq"]) {
    const shapes = VISUALS[view.lanes[id].picture.kind].layout(view.lanes[id], {
      say, at: view.at_us, current: view.lanes[id].route,
    });
    assert.ok(shapes.filter((shape) => shape.id.startsWith("name-")).length <= 12);
    assert.ok(shapes.some((shape) => shape.id === "more"));
  }
  assert.ok(queueDispatch.layout(view.lanes.rabbitmq, { say }).length < 40 * 2 + 20);
});

test("TubeMQ: what a silent client holds is hatched in its row, and void once the brokers have forgotten it", () => {
  const silent = load("stage").lanes.tubemq, forgotten = load("noticed").lanes.tubemq;
  const cells = (lane) => clientGrid.layout(lane, { say, at: 0 }).filter((shape) => shape.id.startsWith("cell-"));
  const cell = (lane, key) => cells(lane).find((shape) => shape.id === `cell-${key}`);
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
    const cells = clientGrid
      .layout(load(name).lanes.tubemq, { say, at: 0 })
      .filter((shape) => shape.id.startsWith("cell-"));
    assert.equal(new Set(cells.map(({ width, height }) => `${width}x${height}`)).size, 1, name);
  }
});

test("the ring's middle has four short lines inside the hole: sessions, and how many are in hands or wait", () => {
  const lane = load("stage").lanes.pulsar;
  const told = (code) =>
    ({
      "picture.waiting": "1\u202f520 to deliver", "picture.on_ring": "on the ring",
      "picture.on_ring_silent": "with 2 silent",
    })[code] ?? code;
  lane.picture.waiting = 1520;
  for (const [height, state, ringWords] of [
    [208, "live", "on the ring"], [176, "live", "on the ring"], [208, "crashed", "with 2 silent"],
    [176, "crashed", "with 2 silent"],
  ]) {
    Object.values(lane.consumers).forEach((consumer) => {
      consumer.state = state;
    });
    const shapes = hashRing.layout(lane, { say: told, height });
    const middle = shapes.filter((shape) => shape.tag === "text" && shape.x === WIDTH / 2);
    assert.deepEqual(
      middle.map(({ text }) => text),
      [String(lane.picture.connected), ringWords, "1\u202f520", "to deliver"],
    );
    const hole = Math.min(...shapes.filter((shape) => shape.id.startsWith("rim-")).map(({ r }) => r));
    for (const { text, y } of middle.slice(1)) {
      assert.ok(
        Math.hypot(text.length * 3.2, Math.max(Math.abs(y - height / 2), Math.abs(y - 9 - height / 2))) <= hole + 1,
        `${text} at ${height}`,
      );
    }
  }
});

// 36 minutes, a change every 36 seconds.
const hour = {
  at_us: 2160e6,
  timeline: Object.fromEntries(
    Array.from({ length: 60 }, (_, place) => [
      place, { at_us: place * 36e6, kind: "join", consumer: `c${place}`, count: 1, color: place + 1 },
    ]),
  ),
};

for (const width of [254, 700]) {
  test(`timeline: after 36 minutes nothing lies on anything, ${width} wide`, () => {
    const shapes = timeline.layout(hour, { width, say });
    check(shapes, width, 48);
    const hits = shapes.filter(({ id }) => id.startsWith("hit-")).sort((a, b) => a.x - b.x);
    hits
      .slice(1)
      .forEach((hit, index) =>
        assert.ok(hit.x >= hits[index].x + hits[index].width - 0.11, `${hit.id} lies on the one before`),
      );
    const told = hits.flatMap((hit) => hit["data-tip"].split("\n")).filter((line) => !line.includes("picture.more"));
    assert.ok(told.some((line) => line.startsWith("35:24.0")) && told.some((line) => line.startsWith("0:00.0")));
    assert.ok(hits.every((hit) => hit.role === "button" && hit["aria-label"]));
    assert.ok(hits.length < 60 && shapes.some(({ id, text }) => id.endsWith("-n") && Number(text) > 1));
  });
}

test("timeline: a change of one lane of several is told with its lane, one of all lanes without", () => {
  const told = (kafka, order) =>
    timeline
      .layout(
        {
          at_us: 60e6, lane_order: order, lanes: { pulsar: { model: "pulsar" }, kafka: { model: "kafka" } },
          timeline: {
            0: { at_us: 0, kind: "join", count: 3, color: 1 },
            1: { at_us: 30e6, kind: "set_algorithm", count: 1, color: null, ...kafka },
          },
        },
        { width: 700, say: (code, params) => (code === "list.named" ? `${params.name}: ${params.what}` : code) },
      )
      .filter(({ id }) => id.startsWith("hit-"))
      .map((shape) => shape["data-tip"]);
  assert.deepEqual(told({ lane: "kafka" }, ["pulsar", "kafka"]), [
    "0:00.0 tick.join_many", "0:30.0 model.kafka: tick.set_algorithm",
  ]);
  assert.deepEqual(told({}, ["pulsar", "kafka"]), ["0:00.0 tick.join_many", "0:30.0 tick.set_algorithm"]);
  assert.deepEqual(told({ lane: "kafka" }, ["kafka"]), ["0:00.0 tick.join_many", "0:30.0 tick.set_algorithm"]);
  assert.deepEqual(told({ kind: "resume", full_speed: true }, ["kafka"]), [
    "0:00.0 tick.join_many", "0:30.0 tick.full_speed",
  ]);
});

test("timeline: a mark counts each change once", () => {
  const marks = timeline.clusters([{ at: 10 }, { at: 25 }, { at: 200 }, { at: 212 }, { at: 219 }], ({ at }) => at);
  assert.deepEqual(marks.map(({ at, ticks }) => [at, ticks.length]), [[219, 3], [25, 2]]);
});

test("what a dead consumer owns is hatched: on the ring, on the line of ranges, in the queue", () => {
  const lane = load("stage").lanes.pulsar, dead = lane.picture.names.indexOf("c1");
  const { owners, dark } = lane.picture.now;
  assert.deepEqual(new Set(owners.filter((_, index) => dark[index])), new Set([dead]));
  const ring = hashRing.layout(lane, { say });
  assert.match(ring.find(({ id }) => id === "now-c1-dark").stroke, /wait-/);
  assert.ok(!ring.some(({ id }) => id === "now-c1"));
  assert.doesNotMatch(ring.find(({ id }) => id === "now-c2").stroke, /wait-/);
  const ranges = {
    ...lane,
    picture: {
      ...lane.picture, kind: "ranges", before: null, space: 10,
      now: { bounds: [4, 9], owners: [dead, dead ? 0 : 1], dark: [1, 0] },
    },
  };
  const [gone, kept] = rangeSplit.layout(ranges, { say }).filter(({ id }) => /^now-\d/.test(id));
  assert.match(gone.fill, /wait-/);
  assert.doesNotMatch(kept.fill, /wait-/);
  const queue = queueDispatch.layout(load("stage").lanes.rabbitmq, { say });
  assert.match(queue.find(({ id }) => id === "hand-c1-0").stroke, /wait-/);
  assert.doesNotMatch(queue.find(({ id }) => id === "hand-c2-0").stroke, /wait-/);
});

test("an empty ring has no points", () => {
  const lane = structuredClone(load("start").lanes.pulsar);
  lane.picture = {
    ...lane.picture, points: 0, connected: 0, names: [], before: null,
    now: { bounds: [lane.picture.space - 1], owners: [-1] },
  };
  assert.ok(!hashRing.layout(lane, { say }).some(({ id }) => id === "points"));
});

test("partitions: the largest lag's number stays readable where the frame of the current record crosses it", () => {
  for (const name of NAMES) {
    const lane = load(name).lanes.kafka;
    for (const unit of Object.keys(lane.picture.partitions)) {
      const shapes = partitionGrid.layout(lane, { say, current: { unit } }), order = shapes.map(({ id }) => id);
      const most = shapes.find(({ id }) => id === "most");
      if (!most) continue;
      assert.ok(order.indexOf("most") > order.indexOf("current") && most.class.includes("halo"));
      assert.ok(most.x + 4 * most.text.length <= WIDTH + 0.5, "the number ends within the picture");
    }
  }
});

test("queue: where rows are lower than a letter, a count stands in every row that has its name", () => {
  const lane = load("stage").lanes.rabbitmq, names = Array.from({ length: 10 }, (_, index) => `c${index + 1}`);
  lane.order = names;
  for (const name of names) lane.consumers[name] ??= { ...lane.consumers.c1, name };
  const texts = queueDispatch
    .layout(lane, { say, height: SHORT })
    .filter(({ id, tag }) => tag === "text" && /^(name|count)-/.test(id));
  const counts = texts.filter(({ id }) => id.startsWith("count-"));
  const named = texts.filter(({ id }) => id.startsWith("name-"));
  assert.ok(counts.length > 2 && counts.length === named.length);
  assert.ok(counts.every(({ y }, index) => index === 0 || y - counts[index - 1].y >= 13));
});

test("queue: what the former connection of one who came back holds has a row, or a gauge, of its own", () => {
  const lane = load("stage").lanes.rabbitmq;
  Object.assign(lane.picture, {
    head: [], ready: 0, unacked: 31,
    former: {
      c1: {
        unacked: 17, until_us: 190_500_000,
        records: [
          { record: 1_200, redelivered: false }, { record: 1_203, redelivered: false },
        ],
      },
    },
  });
  for (const height of [TALL, SHORT]) {
    const shapes = queueDispatch.layout(lane, { say, at: 20_000_000, height });
    check(shapes, WIDTH, height);
    assert.equal(shapes.find(({ id }) => id === "former-count-c1").text, "17");
    assert.equal(shapes.find(({ id }) => id === "former-word-c1").text, 'picture.former {"left_us":171000000}');
    assert.equal(shapes.find(({ id }) => id === "hint").text, 'picture.none_ready {"unacked":31}');
  }
  lane.picture.former.c99 = { ...lane.picture.former.c1 };            // it has left again
  check(queueDispatch.layout(lane, { say, at: 20_000_000 }), WIDTH, TALL);
  const { rows } = twin(lane, { "twin.former": "{name} before, until {clock}", "list.comma": ", " });
  assert.deepEqual(rows[0], ["c1 before, until 3:10.5", "17", "#1\u202f200, #1\u202f203 …"]);
  const names = Array.from({ length: 14 }, (_, index) => `c${index + 1}`);
  lane.order = names;
  for (const name of names) lane.consumers[name] ??= { ...lane.consumers.c2, name };
  const many = queueDispatch.layout(lane, { say, at: 20_000_000 });
  check(many, WIDTH, TALL);
  assert.ok(many.some(({ id }) => id === "full-former-c1") && many.some(({ id }) => id === "full-c14"));
});

test("a table has its first 60 rows, and all of them when they are asked for", () => {
  const names = Array.from({ length: 64 }, (_, place) => `c${place + 1}`);
  const lane = {
    picture: { kind: "queue", in_flight: Object.fromEntries(names.map((name) => [name, []])) }, consumers: {},
  };
  const words = { "twin.all_rows": "all {count}", "twin.few_rows": "first {count}" };
  const few = twin(lane, words), all = twin(lane, words, true);
  assert.deepEqual([few.rows.length, few.more], [60, "all 64"]);
  assert.deepEqual([all.rows.map(([name]) => name), all.more], [names, "first 60"]);
  delete lane.picture.in_flight.c1;
  for (const name of names.slice(1, 4)) delete lane.picture.in_flight[name];
  assert.equal(twin(lane, words).more, "", "sixty are all");
});
