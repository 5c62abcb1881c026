// The copies of a partition: every copy to one scale, no shape twice.
import assert from "node:assert/strict";
import test from "node:test";

import * as map from "../../../static/js/cluster/map.js";
import { topicOf } from "../../../static/js/cluster/names.js";
import * as producer from "../../../static/js/cluster/producer.js";
import { copiesTable } from "../../../static/js/cluster/tables.js";
import { rise, windowOf } from "../../../static/js/cluster/window.js";
import { widthOf } from "../../../static/js/drawing/labels.js";
import { say } from "../fixtures/load.mjs";
import { ALL, LANE, NAME, PHONE, WIDE, back, boxOf, check, crowd, drawn, large, meet, moved, sending,
well } from "./known.mjs";

test("every picture of every moment is whole", () => {
  for (const view of ALL) {
    check(map.layout(view.cluster, { width: 300, chosen: NAME, say }));
    for (const one of Object.values(view.cluster.producers)) check(producer.layout(one, { width: 300, say }));
  }
});

test("a strip ends where its log ends, and the flag stands at its own high watermark", () => {
  const { shapes, logs } = drawn(sending), { copies: all } = sending.cluster.partitions[NAME];
  const of = (id) => shapes.find((shape) => shape.id === id);
  for (const [broker, copy] of Object.entries(all)) {
    const at = (offset) => Math.round((logs.of[broker].base - rise(logs.window, offset)) * 10) / 10;
    assert.equal(of(`copy-${broker}-body`).y, at(Math.min(copy.high_watermark, copy.end)));
    if (copy.high_watermark < copy.end) assert.equal(of(`copy-${broker}-unseen`).y, at(copy.end));
    assert.equal(Boolean(of(`copy-${broker}-unseen`)), copy.high_watermark < copy.end);
    assert.match(
      of(`copy-${broker}-pole`).d,
      new RegExp(` ${at(copy.high_watermark)}H`),
    );
  }
});

test("a copy whose broker does nothing says why in the word of its broker's box", () => {
  const view = structuredClone(well), [broker, copy] = Object.entries(view.cluster.partitions[NAME].copies)[0];
  Object.assign(copy, { role: "not_running", leader_epoch: null });
  for (const stage of ["paused", "crashed", "down", "starting"]) {
    view.cluster.brokers[broker].stage = stage;
    const { of } = drawn(view), word = of(`broker-stage-${broker}`);
    assert.equal(word.text, say(`cluster.stage.${stage}`));
    assert.match(word.class, /warn/);
    assert.equal(copiesTable(view.cluster.partitions[NAME], view.cluster.brokers, say).rows[0][1], word.text);
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

test("a leader's fill is full, a follower's pale; who is outside the ISR has another outline, and so has its box",
() => {
  const { shapes } = drawn(moved), { copies: all } = moved.cluster.partitions[NAME];
  for (const [broker, copy] of Object.entries(all)) {
    assert.equal(
      shapes.find(({ id }) => id === `copy-${broker}-body`)["fill-opacity"],
      copy.role === "leads" ? 1 : 0.35,
    );
    assert.match(shapes.find(({ id }) => id === `copy-${broker}-wall`).class, copy.is_in_isr ? / in/ : / out/);
    const box = shapes.find(({ id }) => id === `broker-${broker}`).class;
    assert.equal(/outside/.test(box), !copy.is_in_isr);
    assert.equal(/leads/.test(box), copy.role === "leads");
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

test("a tile has a bar for each copy in the order of the brokers, as high as its share of the longest log", () => {
  const { cluster } = structuredClone(back), partition = cluster.partitions[NAME];
  partition.copies["1"].end = partition.copies["2"].end / 2;
  const shapes = map.layout(cluster, { width: 264, chosen: null, say });
  const bars = ["1", "2", "3"].map((broker) => shapes.find(({ id }) => id === `tile-bar-${NAME}-${broker}`));
  assert.ok(bars[0].x < bars[1].x && bars[1].x < bars[2].x);
  assert.ok(Math.abs(bars[0].height * 2 - bars[1].height) <= 0.2);
  assert.equal(topicOf(NAME), "flights");
});

test("all of 96 partitions are in sight, and a second topic stands under its name", () => {
  const names = Object.keys(large.cluster.partitions);
  assert.ok(map.height(names, 264) < 190);
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
  for (const [start, height] of [[146, 600], [0, 600], [0, 450], [146, 450]]) {
    const view = farBehind(start), partition = view.cluster.partitions[NAME];
    const { shapes, logs, of } = drawn(view, WIDE, { height });
    check(shapes);
    const { parts } = logs.window, y = (offset) => logs.of["3"].base - rise(logs.window, offset);
    for (const { high_watermark: hw, end } of Object.values(partition.copies)) {
      for (const offset of [hw, end]) {
        assert.ok(
          parts.some(({ low, high }) => low <= offset && offset <= high),
          `${offset} of ${JSON.stringify(parts)}`,
        );
      }
    }
    assert.equal(parts.length, 2);
    assert.ok(y(39) < logs.of["3"].base - 4 || parts[0].low === 39, "not at the foot of another part");
    assert.ok(y(39) > y(42) && y(42) > y(225) && y(225) > y(231));
    assert.ok(of("copy-3-pole").d.includes(` ${Math.round(y(39) * 10) / 10}H`));
    assert.ok(of("copy-3-lacks") && !of("copy-1-lacks") && !of("copy-2-lacks"));
    assert.equal(of("copy-3-behind").text, "189");
    const left = parts[1].low - Math.max(start, parts[0].high);
    assert.match(
      of("copy-1-left-out-0").title,
      new RegExp(`"count":${left}}`),
      "a log that spans the break is torn there",
    );
    assert.equal(Boolean(of("copy-1-start")), start > 0, "one that starts within it says where");
    assert.ok(!of("copy-3-left-out-0"));
  }
});

test("what was cut off a moment ago lies beside the log at its own offsets, until the core forgets it", () => {
  const view = farBehind();
  view.cluster.cut_off = { [NAME]: { 3: { offset: 42, count: 2 } } };
  const { of, logs, shapes } = drawn(view), y = (offset) => logs.of["3"].base - rise(logs.window, offset);
  check(shapes);
  assert.ok(Math.abs(of("copy-3-cut").y + of("copy-3-cut").height - y(42)) <= 0.2);
  assert.ok(of("copy-3-cut").x + of("copy-3-cut").width < logs.of["3"].x);
  assert.match(of("copy-3-cut").title, /"count":2/);
  assert.ok(!of("copy-1-cut"));
  view.cluster.cut_off = {};
  assert.ok(!drawn(view).of("copy-3-cut"));
});

test("a scale without a copy far behind has no break, and one that is no longer needed goes", () => {
  assert.equal(drawn(well).logs.window.parts.length, 1);
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
  for (const width of [PHONE, LANE, WIDE, 1400]) {
    const view = farBehind(), { shapes, logs, places } = drawn(view, width, { height: 600 });
    const words = shapes.filter(({ id, tag }) => /^copy-1-epoch-\d+-\d+$/.test(id) && tag === "text");
    const brackets = shapes.filter(({ id }) => /^copy-1-epoch.*-bracket$/.test(id));
    assert.equal(brackets.length, 2);
    assert.ok(
      words.length >= 1 && words.every(({ x, class: name }) => x < logs.of["1"].x && name.includes("end")),
      `${words.length} at ${width}`,
    );
    assert.ok(words.every(({ x, text }) => x - widthOf(text) >= places.boxes["1"].x), `cut at ${width}`);
  }
});

test("the reader's mark stands at the leader's log, and its name on no epoch's", () => {
  for (const width of [LANE, WIDE]) {
    const view = crowd(), { of, shapes } = drawn(view, width), { leader } = view.cluster.partitions[NAME];
    assert.equal(of("reads")["data-mark"], "position");
    const name = of("reads-name"), epoch = shapes.find(({ id }) => id === `copy-${leader}-epoch-0-0`);
    if (name && epoch) assert.ok(!meet(boxOf(name), boxOf(epoch)), `at ${width}`);
  }
});

test("copies are drawn in ink: colours are consumers'", () => {
  for (const view of [...ALL, crowd()]) {
    for (const { id, fill } of drawn(view).shapes) {
      assert.ok(!/--id-|#id-/.test(fill ?? "") || /^swatch-|^reads$/.test(id), id);
    }
  }
});

test("on a phone no words of the copies reach into the next column or beyond the picture", () => {
  const wide = (code, params = {}) =>
    ({
      "cluster.outside_isr": "outside the ISR", "cluster.role.leads": "leader, epoch 1",
      "cluster.ahead": "12 more than its leader", "cluster.role.follows": "follows 1",
      "cluster.role.not_running": "not running", "cluster.epoch_short": "epoch 1", "cluster.in_isr": "in the ISR",
      "cluster.torn": "174 more", "cluster.starts_at": "starts at 146", "cluster.broker": "Broker 1",
      "cluster.as.leader": "leader", "cluster.as.follower": "follower", "cluster.as.copy": "copy",
      "cluster.leads_of": "leads 6 of 12 partitions",
      "cluster.outside_short": "outside ISR", "cluster.stage.running": "running", "cluster.lag": "189 behind",
      "cluster.behind": "behind", "cluster.not_yet": "not yet visible",
    })[code] ?? say(code, params);
  for (const [width, end] of [[PHONE, 231], [PHONE, 1231], [LANE, 1231], [WIDE, 12]]) {
    const view = farBehind(0), partition = view.cluster.partitions[NAME];
    Object.assign(partition.copies["1"], { end, high_watermark: end - 1, stable: end - 1 });
    Object.assign(partition, { end, high_watermark: end - 1 });
    const { shapes, places } = drawn(view, width, { height: 520, words: wide });
    const own = ({ id }) => (/^copy-(\d+)/.exec(id) ?? /-(\d+)$/.exec(id))[1];
    for (const shape of shapes.filter(({ id, tag }) => tag === "text" && /^(copy|broker|foot|doing)-/.test(id))) {
      const [left, , right, bottom] = boxOf(shape), box = places.boxes[own(shape)];
      assert.ok(
        left >= box.x - 2 && right <= box.x + box.width + 2,
        `${shape.id} "${shape.text}" at ${width}: ${left} to ${right} of ${box.x} to ${box.x + box.width}`,
      );
      assert.ok(bottom <= box.y + box.height, `${shape.id} at ${shape.y}`);
    }
  }
});

test("what a read_committed consumer cannot see has its mark", () => {
  const { cluster, at_us: atUs } = structuredClone(well), copy = cluster.partitions[NAME].copies["1"];
  copy.stable = copy.high_watermark - 2;
  const { shapes } = drawn({ ...well, cluster, at_us: atUs });
  assert.equal(shapes.find(({ id }) => id === "copy-1-lso").text, `LSO ${copy.stable}`);
  assert.equal(shapes.some(({ id }) => id === "copy-2-lso"), false);
});
