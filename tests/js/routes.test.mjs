import assert from "node:assert/strict";
import test from "node:test";

import { present, routes } from "../../static/js/present.js";
import { load } from "./fixtures/load.mjs";

test("the record's way through every lane can be had without the rest of the lane, in the same words", () => {
  const view = load("stage"), whole = present(view, {}, { withTwins: false }).lanes;
  for (const [index, { id, slots, route_color: color }] of routes(view, {}).entries()) {
    assert.equal(id, whole[index].id);
    assert.equal(color, whole[index].route_color);
    assert.deepEqual(Object.keys(slots), ["route_key", "route_unit", "route_to"]);
    for (const name in slots) assert.equal(slots[name], whole[index].slots[name]);
  }
});
