// What the tests of this folder share: views of fixtures/cluster.json.gz, and how they are drawn and checked.
import assert from "node:assert/strict";

import { linkLines } from "../../../static/js/cluster/links.js";
import { columnsOf, layout as network } from "../../../static/js/cluster/network.js";
import { geometry, layout as copies } from "../../../static/js/cluster/partition.js";
import { held as onWire, waysOf } from "../../../static/js/cluster/wire.js";
import { load, say } from "../fixtures/load.mjs";

export const [well, sending, unnoticed, moved, back, large] = load("cluster").map((view) => ({
  ...view, cluster: view.lanes.kafka.cluster,
}));
export const ALL = [well, sending, unnoticed, moved, back, large], NAME = "flights-0", HEIGHT = 600;

export function drawn({ cluster, at_us: atUs }, width = 920, chosen = null) {
  const partition = cluster.partitions[NAME], held = Object.keys(partition.copies);
  const grid = columnsOf(cluster, width, held, 4000), place = geometry(partition, grid, HEIGHT);
  const ways = waysOf(cluster, NAME);
  const lines = linkLines(cluster, grid, { held, chosen, leader: partition.leader, busy: ways.map(({ key }) => key) });
  return {
    grid, place, lines,
    shapes: [
      ...network(cluster, grid, lines, { say, chosen }),
      ...copies(NAME, partition, grid, place, { brokers: cluster.brokers, say }),
      ...onWire(cluster, grid, lines, ways, { atUs, say }),
    ],
  };
}

export function check(shapes) {
  const ids = shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, place) => ids.indexOf(id) !== place)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(value !== undefined && !/NaN|undefined|Infinity/.test(String(value)), `${shape.id} ${name} = ${value}`);
    }
  }
  for (const { id, tag, width, height } of shapes) {
    if (tag === "rect") assert.ok(width > 0 && height > 0, `${id} is ${width} by ${height}`);
  }
}
