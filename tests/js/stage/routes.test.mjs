import assert from "node:assert/strict";
import test from "node:test";

import { present, routes } from "../../../static/js/stage/present.js";
import { load } from "../fixtures/load.mjs";

test("the record's way through every lane can be had without the rest of the lane, in the same words", () => {
  const view = load("stage"), whole = present(view, {}, { withTwins: false }).lanes;
  for (const [index, { id, slots, route_color: color }] of routes(view, {}).entries()) {
    assert.equal(id, whole[index].id);
    assert.equal(color, whole[index].route_color);
    assert.deepEqual(Object.keys(slots), ["route_key", "route_unit", "route_to"]);
    for (const name in slots) assert.equal(slots[name], whole[index].slots[name]);
  }
});

test("a rule that nobody is asked for, as the group was upgraded to KIP-848, says who assigns to whom", () => {
  const view = load("stage");
  const words = new Proxy({}, { get: (_, code) => `${String(code)} {assignor} {names}`, has: () => true });
  const lane = view.lanes.kafka;
  const about = (group, algorithm) => {
    Object.assign(lane, { group, algorithm });
    const shown = present(view, words, { withTwins: false }).lanes.find(({ id }) => id === "kafka");
    return shown.slots.about.split(" ")[0];
  };
  const members = { c1: { consumer: "c1", protocol: "consumer" }, c2: { consumer: "c2", protocol: "classic" } };
  assert.deepEqual(about({ protocol: "classic", assignor: "sticky", members }, "sticky"), "kafka.sticky.about");
  assert.deepEqual(about({ protocol: "consumer", assignor: "uniform", members }, "sticky"), "algorithm.upgrading");
  assert.deepEqual(
    about({ protocol: "consumer", assignor: "uniform", members: { c1: members.c1 } }, "sticky"),
    "algorithm.upgraded",
  );
  assert.deepEqual(
    about({ protocol: "consumer", assignor: "uniform", members: { c1: members.c1 } }, "server_uniform"),
    "kafka.server_uniform.about",
  );
  assert.deepEqual(about({ protocol: "consumer", assignor: null, members: {} }, "sticky"), "kafka.sticky.about");
});

test("of a queue a record that waits for whoever is free says only that it waits, " +
  "so that the line has room for a long place", () => {
  const view = load("start");
  const words = {
    "route.waiting": "waits", "route.free": "first free", "route.waits": "{to}, waits", "route.place": "place {place}",
  };
  const { rabbitmq } = view.lanes;
  const to = (route) => {
    rabbitmq.route = { record: 1, key: "N829AS", keyless: false, place: 20938, ...route };
    return routes(view, words).find(({ id }) => id === "rabbitmq").slots.route_to;
  };
  assert.equal(to({ consumer: null, waits: true }), "waits");
  assert.equal(to({ consumer: null, waits: false }), "first free");
  assert.equal(to({ consumer: "c1", waits: true }), "c1, waits");
});
