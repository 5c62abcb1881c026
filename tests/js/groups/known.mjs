// What the tests of this folder share: views of fixtures/groups.json.gz, and how they are drawn and checked.
import assert from "node:assert/strict";

import * as grid from "../../../static/js/groups/grid.js";
import { inOrder } from "../../../static/js/groups/members.js";
import { layout as sequence } from "../../../static/js/groups/sequence.js";
import { load, say } from "../fixtures/load.mjs";

export const ALL = load("groups").map((view) => ({ ...view, ...view.lanes.kafka }));
export const [empty, first, rest, silent, nobody, epochs, large, committed] = ALL;
export const CLASSIC = {
  states: ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable"],
  transitions: [
    ["Empty", "rebalance", "PreparingRebalance"], ["Stable", "rebalance", "PreparingRebalance"],
    ["CompletingRebalance", "rebalance", "PreparingRebalance"],
    ["PreparingRebalance", "all joined", "CompletingRebalance"], ["PreparingRebalance", "all left", "Empty"],
    ["CompletingRebalance", "leader synced", "Stable"],
  ],
};

export function check(shapes) {
  const ids = shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, place) => ids.indexOf(id) !== place)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(value !== undefined && !/NaN|undefined|Infinity/.test(String(value)), `${shape.id} ${name} = ${value}`);
    }
  }
  for (const { id, tag, width, height } of shapes) {
    if (tag === "rect") assert.ok(width > 0 && height >= 0, `${id} is ${width} by ${height}`);
  }
}

export const chart = (view, more = {}) =>
  sequence(view.group, { consumers: view.consumers, available: 960, height: 580, atUs: view.at_us, say, ...more });
export const cells = (view, more = {}) =>
  grid.layout(view.group, {
    members: inOrder(view.group, view.consumers), consumers: view.consumers, available: 960, atUs: view.at_us,
    health: view.group_health, lags: {}, say, ...more,
  });

export const withMember = (view, key, changes) => ({
  ...view,
  group: { ...view.group, members: { ...view.group.members, [key]: { ...view.group.members[key], ...changes } } },
});
export const codesIn = (words) => words.match(/groups\.[a-z_.]+/g);

// A group of 40 with a folded row of heartbeats and commits, as the chart has it.
export const crowded = (count) => {
  const exchange = Object.values(rest.group.exchanges).find(({ quiet }) => quiet) ?? {
    ...Object.values(rest.group.exchanges)[0], quiet: true,
  };
  const names = Array.from({ length: count }, (_, place) => `c${place + 1}`), last = rest.at_us;
  const said = Object.fromEntries(
    ["heartbeat", "commit"].flatMap((kind, at) =>
      names.map((member, place) => [1000 * at + place, { ...exchange, kind, member, sent_us: last, quiet: true }]),
    ),
  );
  const group = {
    ...rest.group,
    members: Object.fromEntries(names.map((name, place) => [
      name, { ...rest.group.members.c1, consumer: name, is_leader: place === 0 },
    ])),
    exchanges: said, timers: {},
  };
  return {
    ...rest, group, consumers: Object.fromEntries(names.map((name, order) => [name, { ...rest.consumers.c1, order }])),
  };
};
