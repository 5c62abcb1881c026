// The line of marks: a place on it is a time, and what is shown of the past has a mark of its own.

import assert from "node:assert/strict";
import test from "node:test";

import { layout, timeAt } from "../../../static/js/lane/timeline.js";

const view = { at_us: 100_000_000, timeline: { 1: { at_us: 40_000_000, kind: "join", color: 0, count: 1 } } };
const say = (code) => code;

test("a place on the line is the time whose mark stands there", () => {
  const shapes = layout({ ...view, lane_order: [] }, { width: 500, say });
  const mark = shapes.find(({ id }) => id === "tick-1");
  assert.equal(timeAt(view, { width: 500, x: mark.cx }), 40_000_000);
  assert.equal(timeAt(view, { width: 500, x: -20 }), 0);
  assert.equal(timeAt(view, { width: 500, x: 900 }), 100_000_000);
});

test("what is shown of the past divides the line into then and later", () => {
  const ids = (shownUs) => layout({ ...view, lane_order: [] }, { width: 500, say, shownUs }).map(({ id }) => id);
  assert.ok(!ids(null).includes("later") && !ids(null).includes("shown"));
  assert.ok(ids(70_000_000).includes("later") && ids(70_000_000).includes("shown"));
  assert.ok(ids(70_000_000).includes("tick-1"));
});

test("a branch leaves the line where it was made, and goes as far as it has come, at most to the end", () => {
  const branches = [
    { id: "x", letter: "A", left_at_us: 40_000_000, at_us: 60_000_000 },
    { id: "y", letter: "B", left_at_us: 40_000_000, at_us: 900_000_000 },
  ];
  const shapes = layout({ ...view, lane_order: [] }, { width: 500, say, branches });
  const [tick, x, y] = ["tick-1", "branch-x", "branch-y"].map((id) => shapes.find((shape) => shape.id === id));
  assert.ok(x.d.startsWith(`M${tick.cx} 20`) && y.d.startsWith(`M${tick.cx} 20`));
  const ends = [x, y].map(({ d }) => Number(d.split("H")[1]));
  assert.deepEqual(ends.map((end) => end > tick.cx), [true, true]);
  assert.ok(ends[0] < ends[1] && ends[1] <= 500);
  assert.deepEqual(shapes.filter(({ text }) => ["A", "B"].includes(text)).map(({ text }) => text), ["A", "B"]);
});

test("a crash is a triangle that points down, in its consumer's colour, and no cross", () => {
  const crashed = { at_us: 100_000_000, lane_order: [], timeline: { 1: { at_us: 5e7, kind: "crash", color: 2 } } };
  const marks = layout(crashed, { width: 500, say }).filter(({ id }) => id.startsWith("tick-1"));
  assert.equal(marks.length, 1);
  const [, left, top, right, x, tip] = /^M([\d.]+) (\d+)H([\d.]+)L([\d.]+) (\d+)Z$/.exec(marks[0].d).map(Number);
  assert.ok(left < x && x < right && top < tip);
  assert.notEqual(marks[0].fill, "none");
});
