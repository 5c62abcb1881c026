// The producer's batches, and the ladder of deliveries.
import assert from "node:assert/strict";
import test from "node:test";

import * as batches from "../../../static/js/pulsar/batches.js";
import * as ladder from "../../../static/js/pulsar/ladder.js";
import { story } from "../../../static/js/pulsar/words.js";
import { say } from "../fixtures/load.mjs";
import { RATE, mixed, keyBased, letters, retry, sharedBatches, failoverBatches, colorOf, check } from "./known.mjs";

function headline(...given) {
  const { what, means } = story(...given);
  return means ? `${what} ${means}` : what;
}

test("a column for each entry: who got it above, each key in its owner's colour, and what went astray outlined", () => {
  for (const lane of [mixed, keyBased]) for (const width of [290, 620, 1100]) {
    const known = lane.pulsar.batches, shapes = check(batches.layout(known, { width, colorOf: colorOf(lane), say }));
    const entries = batches.shown(known, width);
    const cells = shapes.filter(({ id }) => id.startsWith("cell-"));
    const strays = cells.filter((shape) => shape.class === "stray");
    assert.equal(shapes.filter(({ id }) => /^who-\d/.test(id)).length, entries.length);
    assert.equal(cells.length, entries.reduce((sum, [, { keys }]) => sum + keys.length, 0));
    assert.equal(strays.length, entries.reduce((sum, [, entry]) => sum + batches.misplacedIn(entry), 0));
    for (const { x, width: wide } of cells) assert.ok(x >= 0 && x + wide <= width, `${x} + ${wide} in ${width}`);
    assert.ok(Math.max(...cells.map(({ y, height }) => y + height)) <= batches.tall(known, width));
    assert.equal(strays.length > 0, lane === mixed);
  }
  const [[position, entry]] = batches.shown(mixed.pulsar.batches, 290);
  const cell = batches
    .layout(mixed.pulsar.batches, { width: 290, colorOf: colorOf(mixed), say })
    .find(({ id }) => id === `cell-${position}-0`);
  assert.match(
    cell.title,
    new RegExp(`^subscription\\.batch_message .*"owner":"${entry.to}","consumer":"${entry.to}"`),
  );
});

test("where keys have no owner a column has one colour, nothing is astray, " +
  "and of several partitions each entry says its own", () => {
  for (const lane of [sharedBatches, failoverBatches]) {
    const known = lane.pulsar.batches;
    const shapes = check(batches.layout(known, { width: 620, colorOf: colorOf(lane), say }));
    const entries = batches.shown(known, 620);
    assert.ok(!known.has_owners && known.misplaced === 0 && entries.length > 3);
    assert.equal(shapes.filter((shape) => shape.class === "stray").length, 0);
    for (const [key, { to }] of entries) {
      const fills = shapes
        .filter(({ id }) => id.startsWith(`cell-${key}-`) || id === `who-${key}`)
        .map(({ fill }) => fill);
      assert.equal(new Set(fills).size, 1, `entry ${key} of ${to}`);
    }
    assert.ok(
      shapes
        .filter(({ id }) => id.startsWith("cell-"))
        .every(({ title }) => title.startsWith("subscription.batch_any")),
    );
    assert.match(
      batches.words(known, say),
      new RegExp(`^subscription\\.batches_any .*"entries":${known.entries},"messages":${known.messages}`),
    );
    assert.match(batches.kind(known, say), /default_any/);
    assert.deepEqual(
      batches.table(known, say).head.map((text) => text.split(".").at(-1).split(" ")[0]),
      ["entry", "sent_to", "messages", "keys", "sent_times"],
    );
  }
  const named = batches.shown(failoverBatches.pulsar.batches, 9999).map(([, { part }]) => part);
  assert.deepEqual([...new Set(named)].sort(), [0, 1, 2]);
  assert.match(
    batches
      .layout(failoverBatches.pulsar.batches, { width: 290, colorOf: colorOf(failoverBatches), say })
      .find(({ id }) => id.startsWith("at-")).text,
    /^\d:\d+$/,
  );
  assert.match(batches.kind(mixed.pulsar.batches, say), /batching\.default /);
});

test("the words of batches are the server's counts, and the headline says it where keys went astray", () => {
  const { entries, messages, misplaced } = mixed.pulsar.batches, said = batches.words(mixed.pulsar.batches, say);
  assert.match(
    said,
    new RegExp(
      `^subscription\\.batches_words .*"entries":${entries},"messages":${messages},.*"misplaced":${misplaced},`,
    ),
  );
  assert.ok(misplaced > 0 && said.includes(`"each":"${(messages / entries).toFixed(1)}"`));
  assert.match(
    headline(mixed, RATE, say),
    new RegExp(`^subscription\\.head\\.stray .*${Math.round((misplaced / messages) * 100)}`),
  );
  assert.match(batches.words(keyBased.pulsar.batches, say), /^subscription\.batches_right /);
  assert.doesNotMatch(headline(keyBased, RATE, say), /stray/);
  assert.match(batches.ackWords(mixed.pulsar.batches, say), /batches_whole/);
  assert.match(batches.ackWords(keyBased.pulsar.batches, say), /batches_index/);
});

test("the table of batches has every entry, the newest first", () => {
  const { rows, head } = batches.table(mixed.pulsar.batches, say), numbers = rows.map(([position]) => Number(position));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  assert.equal(rows.length, Object.keys(mixed.pulsar.batches.recent).length);
  for (const row of rows) assert.equal(row.length, head.length);
});

test("each message stands on its ladder as often as it was delivered, and the foot counts the dead letters", () => {
  for (const lane of [letters, retry]) for (const width of [290, 620, 1100]) {
    const { again } = lane.pulsar, shapes = check(ladder.layout(again, { width, colorOf: colorOf(lane), say }));
    const columns = shapes.filter(({ id }) => id.startsWith("record-"));
    const drawn = columns.map(({ id }) => again.entries[id.slice(7)]);
    assert.ok(drawn.length > 0 && drawn.length <= again.count);
    assert.equal(
      shapes.filter(({ id }) => id.startsWith("time-")).length,
      drawn.reduce((sum, { times }) => sum + times + 1, 0),
    );
    assert.equal(
      shapes.find(({ id }) => id === "more")?.text,
      again.count > drawn.length ? `+${again.count - drawn.length}` : undefined,
    );
    assert.match(shapes.find(({ id }) => id === "letters").text, new RegExp(`"count":${again.dead_letters}`));
    for (const { y = 0, height = 0 } of shapes) assert.ok(y + height <= ladder.tall(again), `${y} + ${height}`);
    for (const { id, x = 0, width: wide = 0 } of shapes) {
      assert.ok(x + wide <= width, `${id} ends at ${x + wide} of ${width}`);
    }
  }
  assert.match(ladder.words(letters.pulsar.again, say), /again_words .*again_max .*"max":3/);
  assert.match(ladder.words(retry.pulsar.again, say), /again_retry/);
  assert.equal(ladder.table(letters.pulsar.again, say).rows.length, letters.pulsar.again.count);
});

test("a ladder without an end counts on, and the headline names the entry that mark-delete cannot pass", () => {
  const endless = structuredClone(letters), [first] = Object.keys(endless.pulsar.again.entries);
  endless.pulsar.again.max = 0;
  endless.pulsar.again.entries[first].times = 41;
  endless.pulsar.cursors["-1"].mark_delete = Number(first) - 1;
  const shapes = check(ladder.layout(endless.pulsar.again, { width: 620, colorOf: colorOf(endless), say }));
  assert.equal(shapes.find(({ id }) => id === `times-${first}`).text, "×42");
  assert.equal(shapes.filter(({ id }) => id.startsWith(`time-${first}-`)).length, 8);
  assert.equal(shapes.some(({ id }) => id === "letters"), false);
  assert.match(headline(endless, RATE, say), new RegExp(`head.for_ever .*"position":${first},"times":41`));
  assert.match(ladder.words(endless.pulsar.again, say), /again_for_ever/);
});
