// The cells of TubeMQ's clients and of Kafka's partitions: in their own rows, apart from one another, with what is
// written in them inside.
import assert from "node:assert/strict";
import test from "node:test";

import * as clientGrid from "../../../static/js/lane/pictures/client_grid.js";
import * as partitionGrid from "../../../static/js/lane/pictures/partition_grid.js";
import { SHORT, TALL, WIDTH } from "../../../static/js/lane/pictures/size.js";
import { load, say } from "../fixtures/load.mjs";

const VIEWS = ["stage", "noticed", "article", "crowd", "start"];

function apart(one, other) {
  return (
    one.x + one.width <= other.x ||
    other.x + other.width <= one.x ||
    one.y + one.height <= other.y ||
    other.y + other.height <= one.y
  );
}
const within = (inner, outer, slack = 0) =>
  inner.x >= outer.x - slack &&
  inner.y >= outer.y - slack &&
  inner.x + inner.width <= outer.x + outer.width + slack &&
  inner.y + inner.height <= outer.y + outer.height + slack;

function clients(name, height, change = () => {}) {
  const view = load(name), lane = view.lanes.tubemq;
  change(lane, view);
  const shapes = clientGrid.layout(lane, { say, at: view.at_us, height });
  return {
    view, lane, shapes, of: new Map(shapes.map((shape) => [shape.id, shape])),
    cells: shapes.filter(({ id }) => id.startsWith("cell-")),
  };
}

function fitsBeside(label, chip, plate, cell) {
  const half = (label.text.length * 7.2) / 2, from = label.x - half, to = label.x + half;
  assert.ok(from >= cell.x - 0.2 && to <= cell.x + cell.width + 0.2, `${label.id} leaves its cell`);
  if (chip) assert.ok(to <= chip.x, `${label.id} runs into its chip`);
  if (chip && plate) assert.ok(plate.x + plate.width <= chip.x, `the plate of ${label.id} covers its chip`);
}

// One client that has everything, all of it from another one before: the most marks that a cell can have.
for (const count of [1, 3, 10, 12, 24, 36, 100, 512]) {
  for (const height of [TALL, SHORT]) for (const owner of ["c1", null]) {
    test(`one client with ${count} partitions, ${height}, ${owner ?? "unregistered"}: no mark covers another`, () => {
      const { cells, of } = clients("stage", height, (lane) => {
        lane.order = ["c1"];
        lane.picture.partitions = Object.fromEntries(
          [...Array(count).keys()].map((place) => [
            `${1 + (place % 3)}:flights:${Math.floor(place / 3)}`,
            {
              broker: 1 + (place % 3), id: Math.floor(place / 3), owner, assigned: "c1", also: [], before: "c2",
              stopped: place % 2 === 0,
            },
          ]),
        );
      });
      assert.equal(cells.length, count);
      cells.forEach((cell, place) => {
        assert.ok(
          cell.width > 0 &&
            cell.x >= 74 &&
            cell.x + cell.width <= 231 &&
            cell.y >= 41 &&
            cell.y + cell.height <= height,
          `${cell.id} leaves the picture`,
        );
        for (const other of cells.slice(place + 1, place + 60)) {
          assert.ok(apart(cell, other), `${cell.id} lies on ${other.id}`);
        }
        const key = cell.id.slice(5), label = of.get(`label-${key}`);
        if (label) fitsBeside(label, of.get(`chip-${key}`), of.get(`plate-${key}`), cell);
      });
      if (count <= 12 && height === TALL) {
        assert.ok(
          cells.every((cell) => of.has(`label-${cell.id.slice(5)}`)),
          "each cell is named",
        );
      }
    });
  }
}

for (const name of VIEWS) {
  for (const height of [TALL, SHORT]) {
    test(`clients of ${name}, ${height}: each cell is in the row of its client, and no two lie on one another`, () => {
      const { lane, cells, of } = clients(name, height);
      assert.ok(cells.length > 0);
      cells.forEach((cell, place) => {
        assert.ok(
          cell.x >= 74 && cell.x + cell.width <= 230 + 1 && cell.y >= 41 && cell.y + cell.height <= height,
          `${cell.id} leaves the picture`,
        );
        for (const other of cells.slice(place + 1)) assert.ok(apart(cell, other), `${cell.id} lies on ${other.id}`);
        const part = lane.picture.partitions[cell.id.slice(5)];
        const row = of.get(`sw-${part.assigned ?? part.owner ?? part.before}`);
        const nearest = [...of.values()]
          .filter(({ id }) => id.startsWith("sw-"))
          .map((mark) => [Math.abs(mark.y + 5 - cell.y - cell.height / 2), mark.id])
          .sort(([a], [b]) => a - b)[0];
        if (cells.every((each) => each.width === cell.width) && lane.order.length <= 6) {
          assert.equal(nearest[1], row.id, cell.id);
        }
      });
    });

    test(`clients of ${name}, ${height}: chips, plates and the frame of the current one are where their cell ` +
      `is`, () => {
      const { cells, shapes, of } = clients(name, height, (lane) => {
        lane.route = { unit: Object.keys(lane.picture.partitions)[1] };
      });
      for (const cell of cells) {
        const key = cell.id.slice(5), chip = of.get(`chip-${key}`), plate = of.get(`plate-${key}`);
        const label = of.get(`label-${key}`);
        if (chip) assert.ok(within(chip, cell), `the chip of ${key}`);
        if (plate) assert.ok(within(plate, cell, 1), `the plate of ${key}`);
        if (label) {
          assert.ok(
            label.x > cell.x && label.x < cell.x + cell.width && label.y > cell.y && label.y <= cell.y + cell.height,
            `the label of ${key}`,
          );
        }
        if (label) fitsBeside(label, chip, plate, cell);
      }
      const frame = of.get("current");
      if (frame) {
        assert.ok(
          cells.some((cell) => within(cell, frame)) && shapes.filter(({ id }) => id === "current").length === 1,
        );
      }
    });
  }
}

test("a clock's arc is the part of the period that is left, and its number the seconds", () => {
  const told = (left_us) => {
    const { of } = clients("stage", TALL, (lane, view) => {
      Object.assign(lane.picture.clients.c3, {
        state: "live", next_tick_us: view.at_us + left_us, tick_period_us: 30e6,
      });
    });
    return [of.get("arc-c3")["stroke-dasharray"], of.get("left-c3").text];
  };
  assert.deepEqual(
    [told(30e6), told(15e6), told(0), told(-5e6), told(90e6)],
    [
      ["100 200", "30.0"], ["50 200", "15.0"], ["0 200", "0.0"], ["0 200", "0.0"], ["100 200", "90.0"],
    ],
  );
});

test("a client without a tick has no clock, and one out of service its word instead", () => {
  const quiet = clients("stage", TALL, (lane) => {
    Object.assign(lane.picture.clients.c3, { state: "live", next_tick_us: null });
  }).of;
  assert.ok(!quiet.has("arc-c3") && !quiet.has("state-c3"));
  for (const state of ["crashed", "gone", "refused"]) {
    const { of } = clients("stage", TALL, (lane, view) => {
      Object.assign(lane.picture.clients.c3, { state, next_tick_us: view.at_us + 1e6 });
    });
    assert.equal(of.get("state-c3").text, `client.${state} {}`);
    assert.ok(!of.has("arc-c3"));
  }
});

test("a long name is cut after three letters, a client without a number has none", () => {
  const { of } = clients("stage", TALL, (lane) => {
    lane.order.push("billing-7");
    lane.consumers["billing-7"] = { ...lane.consumers.c3, name: "billing-7" };
    lane.picture.clients["billing-7"] = { ...lane.picture.clients.c3, node_id: null };
  });
  assert.equal(of.get("name-billing-7").text, "bil…");
  assert.ok(!of.has("node-billing-7"));
});

test("what nobody has registered is void and has a key; who had it shows on a moved cell", () => {
  const { of, lane } = clients("stage", TALL, ({ picture, order }) => {
    const [first, second] = Object.values(picture.partitions);
    Object.assign(first, { owner: null, assigned: "c3", before: "c3", stopped: false });
    Object.assign(second, { owner: "c3", assigned: "c3", before: order.find((name) => name !== "c3"), stopped: false });
  });
  const [first, second] = Object.keys(lane.picture.partitions);
  assert.deepEqual([of.get(`cell-${first}`).class, of.get(`cell-${first}`).fill], ["cell void", "url(#void)"]);
  assert.equal(of.get(`cell-${second}`).class, "cell oo");
  assert.ok(of.has("void-word"));
  const all = clients("stage", TALL, ({ picture }) => {
    for (const part of Object.values(picture.partitions)) {
      Object.assign(part, { owner: "c3", assigned: "c3", before: "c3" });
    }
  });
  assert.ok(!all.of.has("void-word") && all.cells.every(({ class: tone }) => tone === "cell o"));
});

for (const name of VIEWS) {
  test(`partitions of ${name}: a column for each, cells apart, and lags stand on one line`, () => {
    const view = load(name), lane = view.lanes.kafka, shapes = partitionGrid.layout(lane, { say, current: lane.route });
    const cells = shapes.filter(({ id }) => id.startsWith("cell-"));
    const bars = shapes.filter(({ id }) => /^lag-\d+$/.test(id));
    cells.forEach((cell, place) => {
      assert.ok(cell.x >= 0 && cell.x + cell.width <= WIDTH + 1);
      for (const other of cells.slice(place + 1)) assert.ok(apart(cell, other), `${cell.id} lies on ${other.id}`);
    });
    const feet = new Set(bars.map((bar) => Math.round(bar.y + bar.height)));
    assert.ok(feet.size <= 1, "bars begin at one line");
    const parts = lane.picture.partitions;
    for (const bar of bars) for (const other of bars) {
      const [mine, its] = [bar, other].map(({ id }) => parts[id.slice(4)].lag);
      if (mine > its) assert.ok(bar.height >= other.height, `${bar.id} is longer than ${other.id}`);
    }
  });
}

test("with more than a hundred clients neither a node id nor a heading runs into what is beside it", () => {
  const mono = 7.83, plain = 6.2;                            // of 13 px, as wide as Linux gives them
  const { of, cells } = clients("crowd", SHORT, (lane) => {
    while (lane.order.length < 128) {
      const name = `c${lane.order.length + 1}`;
      lane.consumers[name] = { ...lane.consumers[lane.order[0]], order: lane.order.length, share: 0 };
      lane.picture.clients[name] = { ...lane.picture.clients[lane.order[0]], node_id: lane.order.length };
      lane.order.push(name);
    }
  });
  const left = Math.min(...cells.map(({ x }) => x));
  assert.ok(48 + mono * "#127".length < left, `cells begin at ${left}`);
  const [node, units, tick] = ["node", "units", "tick"].map((id) => of.get(id).x);
  assert.ok(node + mono * "nodeId".length < units);
  assert.ok(units + mono * "broker:partition".length <= tick - plain * "next tick, s".length - 4);
});
