// A batch's bytes, compaction, tables, settings and sizes in words.
import assert from "node:assert/strict";
import test from "node:test";

import * as compaction from "../../../static/js/log/compaction.js";
import * as fields from "../../../static/js/log/fields.js";
import { size, span } from "../../../static/js/log/format.js";
import { cleanTable, folderTable, indexTable, recordsTable, scanTable } from "../../../static/js/log/tables.js";
import { fault } from "../../../static/js/log/upload.js";
import { behind, isOld, isUnfinished, settingsLine } from "../../../static/js/log/words.js";
import { say } from "../fixtures/load.mjs";
import { WORDS, byId, folder, lookups, clean, walks } from "./known.mjs";

test("every byte of a batch belongs to one field, and every field to its bytes", () => {
  const { batch } = lookups.middle, cells = fields.rows(batch, 16).flatMap(({ cells: row }) => row);
  assert.equal(cells.length, batch.bytes);
  assert.equal(cells.map(({ text }) => text).join(""), batch.hex);
  assert.deepEqual([...new Set(cells.map(({ field }) => field))], batch.fields.map((_, index) => index));
  assert.equal(cells.filter(({ isFirst }) => isFirst).length, batch.fields.length);
  const named = Object.fromEntries(
    batch.fields
      .slice(0, 13)
      .map((field) => [fields.fieldName(field, batch, say), fields.fieldValue(field, batch, say)]),
  );
  assert.equal(named.baseOffset, String(batch.base_offset));
  assert.match(named.crc, /^log\.crc_ok \{"crc":"0x[0-9a-f]{8}"\}$/);
  assert.equal(named.baseTimestamp, new Date(batch.records[0].timestamp).toISOString().replace("T", " "));
});

test("with a delete horizon the first timestamp is named for what it holds", () => {
  const { batch } = lookups.middle;
  const own = batch.fields.map((field) =>
    field.name === "attributes" && field.record === null ? { ...field, value: 64 } : field,
  );
  const horizon = { ...batch, fields: own };
  const name = (data, record) => fields.fieldName({ name: "base_timestamp", record }, data, say);
  assert.match(name(horizon, null), /^baseTimestamp \(log\.attr\.horizon/);
  assert.equal(name(batch, null), "baseTimestamp");
});

test("only the settings that act on the topic are told, each in its own unit", () => {
  const settings = {
    segment_bytes: 16_384, retention_bytes: -1, delete_retention_ms: 60_000, min_cleanable_ratio: 0.5,
  };
  const line = (shown) => settingsLine({ settings, settings_shown: shown }, { ...WORDS, "log.no_limit": "no limit" });
  assert.deepEqual(line(["segment_bytes", "delete_retention_ms", "min_cleanable_ratio"]), [
    "segment.bytes 16.4\u202fkB", "delete.retention.ms 60\u202fs", "min.cleanable.ratio 0.5",
  ]);
  assert.deepEqual(line(["retention_bytes"]), ["retention.bytes no limit"]);
});

test("how far behind the lab is told in time, where it is known", () => {
  assert.deepEqual(
    [42, 750, 6000, 7200, 273_600].map((seconds) => span(seconds * 1e6, WORDS)),
    ["42\u202fs", "12\u202fmin", "1\u202fh 40\u202fmin", "2\u202fh", "3\u202fd 4\u202fh"],
  );
  assert.match(behind({ behind: 950, behind_us: 6e9 }, say, WORDS), /^log\.behind_time .*1\u202fh 40\u202fmin/);
  assert.match(behind({ behind: 950, behind_us: null }, say, WORDS), /^log\.behind \{/);
});

test("a wrong CRC is said to be wrong", () => {
  const batch = { ...lookups.middle.batch, crc_ok: false }, crc = batch.fields.find(({ name }) => name === "crc");
  assert.match(fields.fieldValue(crc, batch, say), /^log\.crc_wrong/);
});

test("compaction: who is kept stands in the same column before and after", () => {
  const shapes = compaction.layout(clean, { width: 920, say });
  for (const { offset } of clean.after) assert.equal(byId(shapes, `a-${offset}`).x, byId(shapes, `b-${offset}`).x);
  const superseded = clean.before.filter(({ kept }) => !kept);
  assert.ok(superseded.length > 0);
  for (const { offset } of superseded) assert.ok(byId(shapes, `x-${offset}`) && !byId(shapes, `a-${offset}`));
  assert.equal(
    shapes.filter(({ id }) => id.startsWith("wall-")).length,
    new Set(clean.before.map(({ zone }) => zone)).size - 1,
  );
});

test("compaction says whether it is due or a dry run, and where damage stops it; a tile has its whole key", () => {
  const codes = (data) => compaction.cleanWords({ ...clean, ...data }, say).map((text) => text.split(" ")[0]);
  assert.equal(codes({ due: true })[0], "log.clean_due");
  assert.equal(codes({ due: false })[0], "log.clean_dry");
  assert.match(
    compaction.cleanWords({ ...clean, stopped_in: 45, stopped_at: 4711 }, say)[1],
    /^log\.clean_stopped \{"segment":45,"byte":4711\}/,
  );
  const long = {
    ...clean, before: clean.before.map((record, place) => (place ? record : { ...record, key: "N3760C-and-more" })),
  };
  assert.match(
    byId(compaction.layout(long, { width: 920, say }), `b-${clean.before[0].offset}`)["aria-label"],
    /"key":"N3760C-and-more"/,
  );
});

test("tables hold a row for each thing drawn", () => {
  assert.equal(folderTable(folder, say).rows.length, folder.segments.length);
  assert.equal(indexTable(walks.kafka.steps[1], say).rows.length, 10);
  assert.equal(scanTable(lookups.middle.steps.at(-1), say).rows.length, lookups.middle.steps.at(-1).batches.length);
  assert.equal(cleanTable(clean, say).rows.length, clean.before.length);
  assert.equal(recordsTable(lookups.middle.batch, say).rows.length, lookups.middle.batch.records.length);
});

test("files are checked before a byte is sent", () => {
  const file = (name, bytes) => ({ name, size: bytes }), limit = 64 * 1024 * 1024;
  assert.equal(fault([file("0.log", 10), file("0.index", 8), file("0.timeindex", 12)], limit), null);
  assert.equal(fault([file("notes.txt", 10)], limit)[0], "log.wrong_kind");
  assert.equal(fault([file("0.index", 10)], limit)[0], "log.no_log");
  assert.equal(fault([file("0.log", 0)], limit)[0], "log.is_empty");
  assert.deepEqual(fault([file("0.log", limit), file("1.log", 1)], limit), [
    "log.too_large", { bytes: "67\u202f108\u202f865", most: "67\u202f108\u202f864", limit: "64\u202fMiB" },
  ]);
});

test("bytes are written with three digits", () => {
  assert.deepEqual([0, 999, 16_331, 1_073_741_513, 278_255_892].map(size), [
    "0\u202fB", "999\u202fB", "16.3\u202fkB", "1.07\u202fGB", "278\u202fMB",
  ]);
});

test("a tile of __consumer_offsets bears what tells its key from the others", () => {
  assert.equal(compaction.shortKey("OffsetCommit group=lab topic=records partition=11"), "11");
  assert.equal(compaction.shortKey("GroupMetadata group=lab"), "lab");
  assert.deepEqual(["key-14", "a=b", ""].map(compaction.shortKey), ["key-14", "a=b", ""]);
});

test("a replica that lags behind a paused lab is asked for again, a lane's own log within its linger is not", () => {
  const folder = { segments: [{}], reading: false, behind: 0, behind_us: 0, replica: { role: "follows" } };
  assert.deepEqual(
    [
      isOld(folder), isOld({ ...folder, behind_us: 1 }),
      isOld({ ...folder, replica: null, behind: 7, behind_us: 247_481 }),
    ],
    [false, true, false],
  );
  assert.equal(isUnfinished({ ...folder, behind_us: 1e6 }), false, "what it holds can be looked up meanwhile");
  assert.deepEqual(
    [{ behind: 101 }, { reading: true }, { segments: [] }, { behind: 100 }].map((part) =>
      isUnfinished({ ...folder, ...part }),
    ),
    [true, true, true, false],
  );
});
