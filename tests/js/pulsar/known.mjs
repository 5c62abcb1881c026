// What the tests of this folder share: views of fixtures/pulsar.json.gz, and how they are drawn and checked.
import assert from "node:assert/strict";

import { load } from "../fixtures/load.mjs";

// nothing comes in: no load is beyond what consumers handle
export const RATE = 0;
export const LANES = load("pulsar").map(({ lanes }) => lanes.pulsar);
export const [
  joined,
  newcomer,
  draining,
  sticky,
  failover,
  shared,
  exclusive,
  nobody,
  crowd,
  mixed,
  keyBased,
  letters,
  retry,
  refusedAcks,
  sharedBatches,
  failoverBatches,
] = LANES;
export const colorOf = (lane) => (name) => lane.consumers[name]?.color ?? null;

export function check(shapes) {
  const ids = shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, place) => ids.indexOf(id) !== place)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(value !== undefined && !/NaN|undefined|Infinity/.test(String(value)), `${shape.id} ${name} = ${value}`);
    }
  }
  for (const { id, tag, width, height, r } of shapes) {
    if (tag === "rect") assert.ok(width > 0 && height > 0, `${id} is ${width} by ${height}`);
    if (tag === "circle") assert.ok(Number(r) > 0, `${id} has radius ${r}`);
  }
  return shapes;
}
