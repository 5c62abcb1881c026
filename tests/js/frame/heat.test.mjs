import assert from "node:assert/strict";
import { test } from "node:test";

import { heatShapes, truthShapes } from "../../../static/js/frame/heat.js";

const places = { 3: { x: 10, y: 20, width: 18, height: 18 }, 5: { x: 40, y: 20, width: 18, height: 18 } };
const placeOf = (name) => places[[name].flat()[0]] ?? null;

test("what more have marked is fuller, and has their number; what the picture does not show is left out", () => {
  const shapes = heatShapes({ who: 4, marks: { 3: 4, 5: 1, 9: 2 } }, placeOf);
  assert.deepEqual(shapes.map(({ id }) => id), ["heat-3", "count-3", "heat-5", "count-5"]);
  const [all, , one] = shapes.map((shape) => Number(shape["fill-opacity"]));
  assert.ok(all > one && all <= 0.75 && one >= 0.2);
  assert.equal(shapes[1].text, "4");
});

test("the truth is an outline around each thing, and a tick in each range of slots, once it is there", () => {
  assert.deepEqual(truthShapes({ kind: "partition" }, placeOf), []);
  const [box] = truthShapes({ kind: "partition", true: [3] }, placeOf);
  assert.deepEqual([box.x, box.width], [8, 22]);
  const [tick, ...others] = truthShapes({ kind: "slot", true: [[5, 8], [70, 80]] }, placeOf);
  assert.deepEqual([others.length, tick.x, tick.width], [0, 46, 6]);
});
