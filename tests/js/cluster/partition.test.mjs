// The copies of a partition: every copy to one scale, no shape twice.
import assert from "node:assert/strict";
import test from "node:test";

import * as map from "../../../static/js/cluster/map.js";
import { columnsOf } from "../../../static/js/cluster/network.js";
import { geometry, layout as copies } from "../../../static/js/cluster/partition.js";
import * as producer from "../../../static/js/cluster/producer.js";
import { copiesTable } from "../../../static/js/cluster/tables.js";
import { rise, windowOf } from "../../../static/js/cluster/window.js";
import { widthOf } from "../../../static/js/drawing/labels.js";
import { say } from "../fixtures/load.mjs";
import { well, sending, moved, large, ALL, NAME, HEIGHT, drawn, check } from "./known.mjs";

test("every picture of every moment is whole", () => {
  for (const view of ALL) {
    for (const width of [330, 920, 1400]) check(drawn(view, width).shapes);
    check(map.layout(view.cluster, { width: 300, chosen: NAME, say }));
    for (const one of Object.values(view.cluster.producers)) check(producer.layout(one, { width: 300, say }));
  }
});

test("a strip ends where its log ends, and the flag stands at its own high watermark", () => {
  const { shapes, place } = drawn(sending), { copies: all } = sending.cluster.partitions[NAME];
  const of = (id) => shapes.find((shape) => shape.id === id);
  for (const [broker, copy] of Object.entries(all)) {
    const at = (offset) => Math.round((place.base - rise(place.window, offset)) * 10) / 10;
    assert.equal(of(`copy-${broker}-body`).y, at(Math.min(copy.high_watermark, copy.end)));
    if (copy.high_watermark < copy.end) assert.equal(of(`copy-${broker}-unseen`).y, at(copy.end));
    assert.equal(Boolean(of(`copy-${broker}-unseen`)), copy.high_watermark < copy.end);
    assert.match(
      of(`copy-${broker}-pole`).d,
      new RegExp(` ${Math.round((place.base - rise(place.window, copy.high_watermark)) * 10) / 10}H`),
    );
  }
});

test("a copy whose broker does nothing says why in the word of its broker's box", () => {
  const view = structuredClone(well), [broker, copy] = Object.entries(view.cluster.partitions[NAME].copies)[0];
  Object.assign(copy, { role: "not_running", leader_epoch: null });
  for (const stage of ["paused", "crashed", "down", "starting"]) {
    view.cluster.brokers[broker].stage = stage;
    const box = drawn(view).shapes.find(({ id }) => id === `broker-stage-${broker}`);
    const foot = drawn(view).shapes.find(({ id }) => id === `foot-${broker}-0`);
    assert.equal(foot.text, say(`cluster.stage.${stage}`));
    assert.equal(foot.text, box.title);
    assert.ok([foot.text, "‖", "×", "…"].includes(box.text));
    assert.equal(copiesTable(view.cluster.partitions[NAME], view.cluster.brokers, say).rows[0][1], foot.text);
  }
});

test("a copy whose log starts later than the others' says where", () => {
  const view = structuredClone(well), [broker, copy] = Object.entries(view.cluster.partitions[NAME].copies)[0];
  copy.start = copy.end - 1;
  const starts = drawn(view).shapes.filter(({ id }) => id.endsWith("-start"));
  assert.deepEqual(starts.map(({ id }) => id), [`copy-${broker}-start`]);
  assert.match(starts[0].text, new RegExp(`"offset":${copy.start}`));
  assert.equal(drawn(well).shapes.some(({ id }) => id.endsWith("-start")), false);
});

test("a leader's fill is full, a follower's pale; who is outside the ISR has another outline", () => {
  const { shapes } = drawn(moved), { copies: all } = moved.cluster.partitions[NAME];
  for (const [broker, copy] of Object.entries(all)) {
    assert.equal(
      shapes.find(({ id }) => id === `copy-${broker}-body`)["fill-opacity"],
      copy.role === "leads" ? 1 : 0.35,
    );
    assert.match(shapes.find(({ id }) => id === `copy-${broker}-wall`).class, copy.is_in_isr ? / in/ : / out/);
  }
  assert.deepEqual(Object.values(all).map(({ is_in_isr: isIn }) => isIn), [false, true, true]);
});

test("the window stands still while everything fits, and follows when it must", () => {
  const copy = (end) => ({
    1: { start: 0, high_watermark: end, end }, 2: { start: 0, high_watermark: end - 1, end: end - 1 },
  });
  const first = windowOf(copy(100), 300), next = windowOf(copy(101), 300, first);
  assert.equal(next, first);
  const later = windowOf(copy(first.high + 1), 300, next);
  assert.ok(later.low > first.low && later.high > first.high + 1);
});

test("all of 96 partitions are in sight, and a second topic stands under its name", () => {
  const names = Object.keys(large.cluster.partitions);
  assert.ok(map.height(names, 300) < 370);
  const two = [...names.slice(0, 3), "payments-0"], { labels, tiles } = map.placesOf(two, 300);
  assert.deepEqual(labels.map(({ topic }) => topic), ["flights", "payments"]);
  assert.ok(tiles[3].y > labels[1].y && labels[1].y > tiles[2].y);
  assert.deepEqual(map.placesOf(names, 300).labels, []);
});

// A leader at 231, whose log starts at 146; a follower close to it; and one that stopped at 42.
function farBehind(start = 146) {
  const view = structuredClone(well), { copies: all } = view.cluster.partitions[NAME];
  Object.assign(all["1"], {
    start, end: 231, high_watermark: 225, stable: 225,
    epochs: [
      [0, start], [1, 200],
    ],
    role: "leads",
  });
  Object.assign(all["2"], {
    start, end: 228, high_watermark: 225, stable: 225,
    epochs: [
      [0, start], [1, 200],
    ],
    role: "follows",
  });
  Object.assign(all["3"], {
    start: 0, end: 42, high_watermark: 39, stable: 39, epochs: [[0, 0]], role: "not_running", is_in_isr: false,
  });
  Object.assign(view.cluster.partitions[NAME], { end: 231, high_watermark: 225, leader: 1 });
  return view;
}

test("a copy far behind stands at its own offsets, below a break of the scale, " +
  "and what it lacks is an empty shell", () => {
  for (const [start, height] of [
    [146, HEIGHT], [0, HEIGHT], [0, 470], [146, 470],
  ]) {
    const view = farBehind(start), partition = view.cluster.partitions[NAME];
    const grid = columnsOf(view.cluster, 920, ["1", "2", "3"], 231), place = geometry(partition, grid, height);
    const shapes = copies(NAME, partition, grid, place, { brokers: view.cluster.brokers, say });
    const of = (id) => shapes.find((shape) => shape.id === id);
    check(shapes);
    const y = (offset) => place.base - rise(place.window, offset), { parts } = place.window;
    for (const { high_watermark: hw, end } of Object.values(partition.copies)) {
      for (const offset of [hw, end]) {
        assert.ok(
          parts.some(({ low, high }) => low <= offset && offset <= high),
          `${offset} of ${JSON.stringify(parts)}`,
        );
      }
    }
    assert.equal(parts.length, 2);
    assert.ok(y(39) < place.base - 4 || parts[0].low === 39, "not at the foot of another part");
    assert.ok(y(39) > y(42) && y(42) > y(225) && y(225) > y(231));
    assert.equal(of("copy-3-hw").y, Math.round(y(39) * 10) / 10 - 1);
    assert.ok(of("copy-3-lacks") && of("copy-3-behind").text === "−189" && !of("copy-1-lacks") && !of("copy-2-lacks"));
    const left = parts[1].low - Math.max(start, parts[0].high);
    assert.match(
      of("copy-1-left-out-0").title,
      new RegExp(`"count":${left}}`),
      "a log that spans the break is torn there",
    );
    assert.equal(Boolean(of("copy-1-start")), start > 0, "one that starts within it says where");
    assert.ok(of("break-0") && !of("copy-3-left-out-0"));
    const axis = shapes
      .filter(({ id, tag }) => tag === "text" && /^(tick|break|level)-/.test(id))
      .sort((a, b) => a.y - b.y);
    axis
      .slice(1)
      .forEach(({ id, y: at }, place) => assert.ok(at - axis[place].y >= 12, `${id} meets ${axis[place].id}`));
  }
});

test("a scale without a copy far behind has no break, and one that is no longer needed goes", () => {
  assert.equal(drawn(well).place.window.parts.length, 1);
  const view = farBehind(), { copies: all } = view.cluster.partitions[NAME], broken = windowOf(all, 300);
  Object.assign(all["3"], { end: 229, high_watermark: 225 });
  assert.equal(windowOf(all, 300, broken).parts.length, 1);
  all["2"].end = 230;
  const next = windowOf(farBehind().cluster.partitions[NAME].copies, 300);
  assert.equal(
    windowOf(farBehind().cluster.partitions[NAME].copies, 300, next),
    next,
    "it stays while everything fits",
  );
});

test("every offset of every copy is in sight and offsets rise, however the copies end", () => {
  const one = (end, hw = end, start = 0) => ({ start, end, high_watermark: hw });
  for (const ends of [
    [1000, 10, 400], [1000, 0], [5000, 4990, 39], [90, 80, 3], [1_000_000, 1, 2], [300, 150, 149],
    [1000, 700, 500, 300, 10], [0, 0, 0], [7, 0],
  ]) {
    for (const height of [120, 172, 336]) {
      const view = windowOf(Object.fromEntries(ends.map((end, place) => [place, one(end)])), height);
      for (const end of ends) {
        assert.ok(
          view.parts.some(({ low, high }) => low <= end && end <= high),
          `${end} of ${ends} at ${height}: ${JSON.stringify(view.parts)}`,
        );
      }
      const sorted = [...new Set(ends)].sort((a, b) => a - b), places = sorted.map((end) => rise(view, end));
      places.slice(1).forEach((place, at) => assert.ok(place > places[at], `${sorted[at + 1]} above ${sorted[at]}`));
      assert.ok(places.every((place) => place >= 0 && place <= height + 1e-6));
      view.parts.slice(1).forEach(({ low }, at) => assert.ok(low > view.parts[at].high));
    }
  }
});

test("epochs have brackets beside the strip, and no words on its records", () => {
  for (const width of [330, 920, 1400]) {
    const view = farBehind(), partition = view.cluster.partitions[NAME];
    const grid = columnsOf(view.cluster, width, ["1", "2", "3"], 231), place = geometry(partition, grid, HEIGHT);
    const shapes = copies(NAME, partition, grid, place, { brokers: view.cluster.brokers, say });
    const left = grid.columns[1] - place.strip.width / 2 - place.strip.shift;
    const words = shapes.filter(({ id, tag }) => /^copy-1-epoch-\d+-\d+$/.test(id) && tag === "text");
    const brackets = shapes.filter(({ id }) => /^copy-1-epoch.*-bracket$/.test(id));
    assert.equal(brackets.length, 2);
    assert.ok(
      words.length >= 1 && words.every(({ x, class: name }) => x < left && name.includes("end")),
      `${words.length} at ${width}`,
    );
    assert.ok(words.every(({ x, text }) => x - widthOf(text) >= grid.columns[1] - grid.pitch / 2), `cut at ${width}`);
  }
});

test("copies are drawn in ink: colours are consumers'", () => {
  for (const view of ALL) for (const { id, fill } of drawn(view).shapes) assert.ok(!/--id-|#id-/.test(fill ?? ""), id);
});

test("on a phone no words of the copies reach into the next column or beyond the picture", () => {
  const wide = (code, params = {}) =>
    ({
      "cluster.outside_isr": "outside the ISR", "cluster.role.leads": "leader, epoch 1",
      "cluster.ahead": "12 more than its leader", "cluster.role.follows": "follows 1",
      "cluster.role.not_running": "not running", "cluster.epoch_short": "epoch 1", "cluster.in_isr": "in the ISR",
      "cluster.torn": "174 more", "cluster.starts_at": "starts at 146",
    })[code] ?? say(code, params);
  for (const [width, end] of [[334, 231], [334, 1231], [358, 12]]) {
    const view = farBehind(0), partition = view.cluster.partitions[NAME];
    Object.assign(partition.copies["1"], { end, high_watermark: end - 1, stable: end - 1 });
    Object.assign(partition, { end, high_watermark: end - 1 });
    const grid = columnsOf(view.cluster, width, ["1", "2", "3"], end), place = geometry(partition, grid, 520);
    const shapes = copies(NAME, partition, grid, place, { brokers: view.cluster.brokers, say: wide });
    assert.ok(grid.width <= width, `it need not be scrolled: ${grid.width} of ${width}`);
    for (const { id, x, y, text, class: name = "" } of shapes.filter(({ tag }) => tag === "text")) {
      const size = widthOf(text) * (name.includes("n ") || name.startsWith("n") ? 1 : 0.87);
      const left = name.includes("end") ? x - size : name.includes("mid") ? x - size / 2 : x;
      assert.ok(left >= -1 && left + size <= grid.width + 1, `${id} "${text}" at ${width}: ${left} to ${left + size}`);
      assert.ok(y < 520, `${id} at ${y}`);
    }
  }
});

test("what a read_committed consumer cannot see has its mark", () => {
  const { cluster, at_us: atUs } = structuredClone(well), copy = cluster.partitions[NAME].copies["1"];
  copy.stable = copy.high_watermark - 2;
  const { shapes } = drawn({ cluster, at_us: atUs });
  assert.equal(shapes.find(({ id }) => id === "copy-1-lso").text, `LSO ${copy.stable}`);
  assert.equal(shapes.some(({ id }) => id === "copy-2-lso"), false);
});
