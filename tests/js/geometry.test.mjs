// The arithmetic under the cluster's and the log's pictures: which offsets are in sight, where words find room, what a
// search still holds possible.
import assert from "node:assert/strict";
import test from "node:test";

import { rise, windowOf } from "../../static/js/cluster/window.js";
import { flown, messageWords } from "../../static/js/cluster/wire.js";
import { widthOf, wrapped } from "../../static/js/drawing/labels.js";
import { sweep } from "../../static/js/groups/timers.js";
import { direction, spark } from "../../static/js/groups/trend.js";
import { heightOf, narrowing, searchRows, span } from "../../static/js/log/index_search.js";
import { hitOf, hopsOf } from "../../static/js/log/scan.js";
import { clusters } from "../../static/js/lane/timeline.js";

const say = (code, params = {}) => `${code} ${JSON.stringify(params)}`;
const copy = (end, high = end, start = 0) => ({ start, end, high_watermark: high, followers: {} });

// -- the window over the copies ---------------------------------------------------------------------------------------

test("the newest end of all copies is in sight, and the window ends above it", () => {
  for (const end of [0, 5, 40, 1000, 1_000_000]) {
    const window = windowOf({ 1: copy(end), 2: copy(Math.max(0, end - 3)) }, 300);
    assert.ok(window.low <= end && end <= window.high, `${end} in ${window.low}–${window.high}`);
    assert.ok(window.low >= 0 && window.pitch > 0);
  }
});

test("an empty partition has room for its first records", () => {
  const window = windowOf({ 1: copy(0) }, 300);
  assert.equal(window.low, 0);
  assert.ok(window.high >= 12);
});

test("the window stays while the ends fit, and moves when one leaves it", () => {
  const before = windowOf({ 1: copy(100) }, 300);
  assert.equal(windowOf({ 1: copy(before.high) }, 300, before), before);
  assert.notEqual(windowOf({ 1: copy(before.high + 1) }, 300, before), before);
  assert.notEqual(windowOf({ 1: copy(100) }, 301, before), before, "another height is another picture");
  assert.notEqual(
    windowOf({ 1: copy(100), 2: copy(before.low - 1) }, 300, before),
    before,
    "a copy that fell below it",
  );
});

test("nothing below the log's start is shown", () => {
  const window = windowOf({ 1: copy(1000, 1000, 995), 2: copy(1000, 1000, 996) }, 300);
  assert.ok(window.low >= 995);
});

test("an offset's place rises with the offset and is clipped to the window", () => {
  const window = windowOf({ 1: copy(50) }, 300);
  const places = [window.low - 9, window.low, window.low + 1, window.high, window.high + 9].map((offset) =>
    rise(window, offset),
  );
  assert.equal(places[0], 0);
  assert.equal(places[1], 0);
  assert.ok(Math.abs(places[2] - window.pitch) < 1e-9);
  assert.ok(Math.abs(places[3] - 300) < 1e-9 && places[4] === places[3]);
});

// -- words -----------------------------------------------------------------------------------------------

test("a number with its narrow spaces is one word", () => {
  assert.deepEqual(wrapped("up to 1\u202f006, HW 1\u202f007", 90), ["up to 1\u202f006,", "HW 1\u202f007"]);
});

test("Chinese letters take more room", () => assert.ok(widthOf("主题") > widthOf("ab")));

// -- flights ----------------------------------------------------------------------------------------------------------

function partition(ends, known, leader = 1) {
  const copies = Object.fromEntries(Object.entries(ends).map(([broker, end]) => [broker, copy(end)]));
  if (copies[leader]) {
    copies[leader].followers = Object.fromEntries(Object.entries(known).map(([broker, end]) => [broker, { end }]));
  }
  return { leader, copies };
}

test("a fetch flies when the leader hears another end, records fly when a follower's end rose", () => {
  const dots = flown(
    partition({ 1: 10, 2: 5, 3: 5 }, { 2: 5, 3: 5 }),
    partition({ 1: 10, 2: 8, 3: 5 }, { 2: 6, 3: 5 }),
  );
  assert.deepEqual(
    dots.map(({ kind, from, to }) => [kind, from, to]),
    [
      ["request", "2", "1"], ["answer", "1", "2"],
    ],
  );
});

test("nothing flies before a second view, without a leader, or where nothing changed", () => {
  const same = partition({ 1: 10, 2: 5 }, { 2: 5 });
  assert.deepEqual(
    [flown(null, same), flown(same, { ...same, leader: -1 }), flown(same, structuredClone(same))],
    [[], [], []],
  );
  assert.deepEqual(
    flown(same, partition({ 1: 10, 2: 3 }, { 2: 5 })),
    [],
    "a copy that was cut did not get records",
  );
});

test("each message says what is in it, and a refusal its code", () => {
  const told = (kind, ...part) =>
    messageWords(
      kind,
      part.length ? ["t", 0, ...part] : null,
      (code, params) => `${code}${params ? ` ${Object.values(params).join(",")}` : ""}`,
    );
  assert.deepEqual(
    [
      told("heartbeat"), told("produce", 3, -1), told("produce", 3, 7), told("produced", 5, null),
      told("produced", 5, "NOT_LEADER"),
    ],
    [
      "cluster.wire.heartbeat", "cluster.wire.produce 3,-1", "cluster.wire.produce_seq 3,7", "cluster.wire.produced 5",
      "cluster.wire.refused NOT_LEADER",
    ],
  );
  assert.deepEqual(
    [
      told("fetched", 0, 4, 9, null, -1), told("fetched", 0, 0, 9, null, -1), told("fetched", 0, 0, 9, "FENCED", -1),
      told("fetched", 0, 0, 9, null, 2, 7),
    ],
    [
      "cluster.wire.fetched 4,9", "cluster.wire.fetched_none 0,9", "cluster.wire.refused FENCED",
      "cluster.wire.diverging 2,7",
    ],
  );
  assert.equal(told("alter_partition", [1, 2]), "cluster.wire.alter_partition 1 2");
});

// -- timers and trends ------------------------------------------------------------------------------------------------

test("a sweep is nothing at 0, a whole circle at 1, and the long way round after a half", () => {
  assert.equal(sweep(0, 0, 10, 0), "");
  assert.equal(sweep(0, 0, 10, -1), "");
  for (const share of [1, 0.9998, 0.999, 0.995]) {
    assert.equal(sweep(0, 0, 12, share), "M0 -12A12 12 0 0 1 0 12A12 12 0 0 1 0 -12Z", `${share}`);
  }
  assert.equal(sweep(0, 0, 10, 0.25), "M0 -10A10 10 0 0 1 10 0");
  assert.equal(sweep(0, 0, 10, 0.75), "M0 -10A10 10 0 1 1 -10 0");
});

test("a trend needs four values, and a change of two records that counts against their scatter", () => {
  assert.deepEqual(
    [
      [], [1, 2, 3], [5, 5, 5, 5], [0, 0, 9, 9], [9, 9, 0, 0], [0, 0, 1, 1], [100, 100, 107, 107], [100, 100, 109, 109],
    ].map(direction),
    [null, null, "level", "up", "down", "level", "up", "up"],
  );
  assert.equal(direction([...Array(50).fill(900), ...Array(30).fill(5)]), "level", "only the last seconds count");
});

test("a line of lags begins at the right edge, and one value is a dash", () => {
  const at = { x: 0, y: 0, width: 118, height: 20, say };
  assert.deepEqual(spark("s", [4], at).map(({ id, text }) => [id, text]), [["s-none", "–"]]);
  const [line] = spark("s", [0, 0, 10, 10], at);
  const points = line.d.slice(1).split("L").map((pair) => pair.split(" ").map(Number));
  assert.deepEqual(points, [[112, 20], [114, 20], [116, 2], [118, 2]]);
  assert.equal(spark("s", [0, 0, 0, 0], at)[0].d.includes("NaN"), false);
});

// -- searching the index ----------------------------------------------------------------------------------------------

// As Kafka's AbstractIndex looks: the middle, rounded up, until one slot is left.
function probesFor(entries, target) {
  const probes = [];
  let low = 0, high = entries - 1;
  while (low < high) {
    const slot = Math.floor((low + high + 1) / 2), side = slot > target ? "high" : "low";
    probes.push({ slot, side });
    if (side === "high") high = slot - 1;
    else low = slot;
  }
  return probes;
}

test("what is still possible always holds the row that is found, and halves", () => {
  for (const [entries, target] of [[1, 0], [2, 1], [100, 0], [100, 99], [1000, 617]]) {
    const rows = narrowing({ entries, probes: probesFor(entries, target) });
    rows.forEach(({ low, high, slot }, place) => {
      assert.ok(low <= target && target <= high && low <= slot && slot <= high);
      if (place) assert.ok(high - low < rows[place - 1].high - rows[place - 1].low);
    });
  }
});

test("a row that has become too narrow is spread again over the width, under a funnel", () => {
  const step = { entries: 100_000, probes: probesFor(100_000, 12_345), around: [] }, rows = searchRows(step);
  assert.ok(rows.filter(({ before }) => before).length >= 2);
  rows.forEach(({ low, high, from, to, y }, place) => {
    assert.ok(from <= low && high <= to);
    assert.ok(!place || y > rows[place - 1].y);
  });
  assert.ok(heightOf({ ...step, kind: "offset", around: [[1, 2]] }) > rows.at(-1).y);
  assert.ok(heightOf({ entries: 0, probes: [], around: [], kind: "time" }) > 0);
});

test("the bytes shown reach from the first row to the end, and hold the gap that is scanned", () => {
  const around = [[10, 1000], [20, 3000]];
  assert.deepEqual(span({ around, around_first_slot: 0, entries: 9 }, null, 9000), { from: 1000, to: 5000 });
  assert.deepEqual(span({ around, around_first_slot: 7, entries: 9 }, null, 9000), { from: 1000, to: 9000 });
  assert.deepEqual(span({ around, around_first_slot: 0, entries: 9 }, { from: 500, to: 7000 }, 9000), {
    from: 500, to: 7000,
  });
  assert.deepEqual(
    span({ around: [], entries: 0 }, null, 0),
    { from: 0, to: 1 },
    "an index without rows, a log without bytes",
  );
});

test("the scan stops at the first batch that ends at or above the offset; without one it reads all", () => {
  const step = { batches: [{ last_offset: 4 }, { last_offset: 9 }, { last_offset: "9007199254740995" }] };
  assert.deepEqual([0, 4, 5, 10, "9007199254740994"].map((found) => hitOf(step, found)), [0, 0, 1, 2, 2]);
  assert.deepEqual([hitOf(step, null), hitOf(step, "9007199254740996")], [-1, -1]);
  assert.deepEqual([hopsOf(step, 5), hopsOf(step, null)], [1, 2]);
});

// -- the timeline -----------------------------------------------------------------------------------------------------

test("marks are never nearer than their width, and no change is lost", () => {
  const places = Array.from({ length: 90 }, (_, place) => ({ at: (place * place * 7) % 640 })).sort(
    (a, b) => a.at - b.at,
  );
  const marks = clusters(places, ({ at }) => at);
  assert.equal(marks.reduce((sum, { ticks: own }) => sum + own.length, 0), 90);
  marks.slice(1).forEach(({ at }, place) => assert.ok(marks[place].at - at >= 20));
  for (const { at, ticks: own } of marks) assert.equal(own.at(-1).at, at, "a mark stands at its newest change");
  assert.deepEqual(clusters([], ({ at }) => at), []);
});
