// The pictures as tables: what a screen reader reads, and what key T shows in their place.

import { cut } from "../base/rows.js";
import { NONE, clock, fill, number, percent } from "../base/say.js";

const dash = (value) =>
  value === null || value === undefined ? NONE : typeof value === "number" ? number(value) : value;

// isWhole: all rows are asked for. -> {head, rows, more: what a press on the button below does; "": it has all of them}
export function twin(lane, words, isWhole = false) {
  const [head, rows] = TABLES[lane.picture.kind](lane.picture, lane, words);
  const { shown, code, count } = cut(rows, isWhole);
  return {
    head: head.map((name) => words[name] ?? name), rows: shown, more: code && fill(words[code], { count }, words),
  };
}

function hashes(picture) {
  const now = measure(picture, picture.now), before = measure(picture, picture.before);
  const rows = picture.names.map((name, place) => [
    name,
    percent((now.slots.get(place) ?? 0) / picture.space, 1),
    picture.before ? percent((before.slots.get(place) ?? 0) / picture.space, 1) : NONE,
    number(now.slices.get(place) ?? 0),
    dash(picture.permits[name]),
  ]);
  return [["twin.consumer", "twin.share", "twin.before", "twin.slices", "twin.permits"], rows];
}

function measure(picture, cut) {
  const slots = new Map(), slices = new Map();
  if (!cut || !cut.bounds.length) return { slots, slices };
  let last = -1;
  cut.bounds.forEach((bound, index) => {
    const owner = cut.owners[index];
    slots.set(owner, (slots.get(owner) ?? 0) + bound - last);
    slices.set(owner, (slices.get(owner) ?? 0) + 1);
    last = bound;
  });
  if (picture.kind === "ring") slots.set(cut.owners[0], slots.get(cut.owners[0]) + picture.space - 1 - last);
  return { slots, slices };
}

// Whose the partition is, and whether it is paused, as the picture hatches it.
function owner(partition, words) {
  const name = dash(partition.owner);
  return partition.stopped ? fill(words["twin.paused"], { owner: name }, words) : name;
}

// The two lags by their names: a client's records-lag is what it can read above its position, kafka-consumer-groups
// reports what is above the committed offset. Both count up to the high watermark; in a lane without replicas that is
// the end.
function grid(picture, lane, words) {
  if (picture.type) return actives(picture, words);
  if (Object.values(picture.partitions).some((p) => "high_watermark" in p)) return replicated(picture, words);
  const rows = Object.entries(picture.partitions).map(([key, p]) => [
    key, owner(p, words), number(p.end), number(p.position), number(p.end - p.position), number(p.committed),
    number(p.end - p.committed), dash(p.before),
  ]);
  const head = ["partition", "owner", "end", "position", "records_lag", "committed", "committed_lag", "before"];
  return [head.map((name) => `twin.${name}`), rows];
}

// A partition on a cluster: the picture's lag is records-lag and what lies between HW and LEO.
function replicated(picture, words) {
  const rows = Object.entries(picture.partitions).map(([key, p]) => [
    key, owner(p, words), number(p.high_watermark), number(p.end), number(p.position),
    number(p.high_watermark - p.position), number(p.committed), number(p.high_watermark - p.committed),
    number(p.passed_over ?? 0), dash(p.before),
  ]);
  return [
    [
      "partition", "owner", "hw", "leo", "position", "records_lag", "committed", "committed_lag", "passed_over",
      "before",
    ].map((name) => `twin.${name}`),
    rows,
  ];
}

// Pulsar's Exclusive and Failover: who is active on a partition, who comes next, and its cursor.
function actives(picture, words) {
  const rows = Object.entries(picture.partitions).map(([key, p]) => [
    key, owner(p, words), p.standbys.slice(0, 2).join(" ") + (p.standbys.length > 2 ? " …" : "") || NONE, number(p.end),
    number(p.position), number(p.committed - 1), number(p.lag), dash(p.before),
  ]);
  return [
    ["partition", "active", "standbys", "end", "read_position", "mark_delete", "backlog", "before"].map(
      (name) => `twin.${name}`,
    ),
    rows,
  ];
}

function clients(picture, lane, words) {
  const given = (p) => [p.assigned, ...p.also].filter((name) => name !== null).join(words["list.comma"]);
  const rows = Object.entries(picture.partitions).map(([key, p]) =>
    [key, owner(p, words), given(p) || NONE, dash(p.before), number(p.lag)]);
  return [["twin.partition", "twin.owner", "twin.assigned", "twin.before", "twin.lag"], rows];
}

function queue(picture, lane, words) {
  const line = (name, count, records) => {
    const shown = records.slice(0, 2).map((item) => `#${number(item.record)}`).join(words["list.comma"]);
    return [name, number(count), shown + (count > 2 ? " …" : "")];
  };
  const former = Object.entries(picture.former ?? {}).map(([name, { unacked, until_us: until, records }]) =>
    line(fill(words["twin.former"], { name, clock: clock(until) }, words), unacked, records));
  const rows = Object.entries(picture.in_flight).map(([name, records]) =>
    line(name, lane.consumers[name]?.unacked ?? records.length, records),
  );
  return [["twin.consumer", "twin.in_flight", "twin.records"], [...former, ...rows]];
}

// A line for each client at each queue, and for a queue that nobody consumes.
function queues(picture, lane, words) {
  const rows = Object.entries(picture.queues).flatMap(([name, { ready, consumers }]) => {
    const clients = Object.entries(consumers).map(([client, { unacked, in_flight: held }]) => [
      name, number(ready), client, number(unacked),
      held.slice(0, 2).map((item) => `#${number(item.record)}`).join(words["list.comma"]) + (unacked > 2 ? " …" : ""),
    ]);
    return clients.length ? clients : [[name, number(ready), NONE, NONE, NONE]];
  });
  return [["twin.queue", "twin.ready", "twin.consumer", "twin.in_flight", "twin.records"], rows];
}

const TABLES = { ring: hashes, ranges: hashes, grid, clients, queue, queues };
