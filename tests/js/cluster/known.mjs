// What the tests of this folder share: views of fixtures/cluster.json.gz, and how they are drawn and checked.
import assert from "node:assert/strict";

import { layout } from "../../../static/js/cluster/canvas.js";
import { placesOf } from "../../../static/js/cluster/places.js";
import { widthOf } from "../../../static/js/drawing/labels.js";
import { load, say } from "../fixtures/load.mjs";

export const [well, sending, unnoticed, moved, back, large] = load("cluster").map((view) => ({
  ...view, cluster: view.lanes.kafka.cluster,
}));
export const ALL = [well, sending, unnoticed, moved, back, large], NAME = "flights-0", HEIGHT = 450;
export const WIDE = 930, LANE = 400, PHONE = 358;

export function drawn(view, width = WIDE, { chosen = null, height = HEIGHT, words = say, name = NAME } = {}) {
  const { cluster } = view, partition = cluster.partitions[name];
  const ends = Object.values(partition.copies).map(({ end }) => end);
  const places = placesOf(cluster, {
    width, height, held: Object.keys(partition.copies), highest: Math.max(0, ...ends), hasClients: width > PHONE,
    leader: partition.leader,
  });
  const made = layout(view, { ...view.lanes.kafka, cluster }, places, {
    name, chosen, shown: Object.keys(cluster.producers)[0], say: words,
  });
  const of = (id) => made.shapes.find((shape) => shape.id === id);
  return { ...made, places, of };
}

// A view with one consumer that reads the partition, and others.
export function crowd(count = 12) {
  const view = structuredClone(well), names = Array.from({ length: count }, (_, place) => `c${place + 1}`);
  const whole = { cut: [], slow: {}, verbs: ["cut_link", "slow_link"] };
  view.consumers = Object.fromEntries(names.map((name, place) => [name, { color: place + 1 }]));
  view.workload = { rate: 36 };
  view.lanes.kafka.picture = {
    partitions: { 0: { owner: "c9", position: view.cluster.partitions[NAME].high_watermark - 2 } },
  };
  for (const name of names) {
    view.cluster.clients[name] = { kind: "consumer", condition: "running", verbs: [] };
    for (const broker of ["1", "2", "3"]) view.cluster.links[`broker-${broker}>${name}`] = structuredClone(whole);
  }
  return view;
}

// Where the words of a shape are: [left, top, right, bottom].
export function boxOf({ x, y, text, class: name = "" }) {
  const size = widthOf(text) * (/(^| )n( |$)/.test(name) ? 1 : 0.87), has = (word) => name.split(" ").includes(word);
  const left = has("end") ? x - size : has("mid") ? x - size / 2 : x;
  return [left, y - 11, left + size, y + 3];
}

export const meet = (a, b) => !(a[2] <= b[0] || a[0] >= b[2] || a[3] <= b[1] || a[1] >= b[3]);

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
