// The form for a new study: what a person types becomes the ids that the server knows.
import assert from "node:assert/strict";
import test from "node:test";

import { settingsOf, valuesOf } from "../../../static/js/analyze/file_settings.js";
import { heard, wholePart } from "../../../static/js/analyze/progress_part.js";
import { bytes } from "../../../static/js/analyze/sizes.js";
import { combinations, numbers, parse, wrongParams } from "../../../static/js/analyze/strategy_ids.js";
import { visible } from "../../../static/js/analyze/visible.js";

const RING = { model: "pulsar", algorithm: "consistent_hash", params: [{ name: "points" }] };
const MODULO = { model: "tubemq", algorithm: "modulo", params: [{ name: "partitions" }, { name: "brokers" }] };

test("several numbers are several strategies, however they are separated", () => {
  assert.deepEqual(numbers("10, 100，1000"), ["10", "100", "1000"]);
  assert.deepEqual(combinations(RING, { points: "10, 100" }), [
    "pulsar.consistent_hash:points=10", "pulsar.consistent_hash:points=100",
  ]);
  assert.deepEqual(combinations(MODULO, { partitions: "12 24", brokers: "3" }), [
    "tubemq.modulo:partitions=12,brokers=3", "tubemq.modulo:partitions=24,brokers=3",
  ]);
});

test("an empty number stays a mistake that the server can name", () => {
  assert.deepEqual(combinations(RING, { points: " " }), ["pulsar.consistent_hash:points=-"]);
});

test("a parameter takes whole numbers within its limits, and nothing else", () => {
  const family = { params: [{ name: "partitions", min: 1, max: 1000 }, { name: "prefetch", min: 0, max: 65_535 }] };
  const wrong = (partitions, prefetch = "5") => wrongParams(family, { partitions, prefetch }).map(({ name }) => name);
  for (const text of ["12", "1, 1000", "12，24"]) assert.deepEqual(wrong(text), []);
  for (const text of ["", " ", ",", "0", "1001", "-3", "1.5", "1e3", "a", "12 x"]) {
    assert.deepEqual(wrong(text), ["partitions"], text);
  }
  assert.deepEqual(wrong("", ""), ["partitions", "prefetch"]);
  assert.deepEqual(wrong("1", "0"), []);
});

test("an id is taken apart and put together again", () => {
  const { family, params } = parse("tubemq.modulo:partitions=12,brokers=3");
  assert.equal(family, "tubemq.modulo");
  assert.deepEqual(combinations(MODULO, params), ["tubemq.modulo:partitions=12,brokers=3"]);
  assert.deepEqual(parse("pulsar.auto_split").params, {});
});

test("bytes that are no text are told apart in the preview", () => {
  assert.deepEqual(["\u0002\\xff\u0000", "\u0003\\xff\u0000", "a\tb\n", "客户-3 \u{1F600}"].map(visible), [
    "\\x02\\xff\\x00", "\\x03\\xff\\x00", "a\\x09b\\x0a", "客户-3 \u{1F600}",
  ]);
});

test("sizes are read as on a disk's label", () => {
  assert.deepEqual(
    [0, 999, 1000, 1_500_000, 200_000_000].map(bytes),
    ["0 B", "999 B", "1.0 kB", "1.5 MB", "200 MB"].map((text) => text.replace(" ", "\u202f")),
  );
});

test("progress grows from stage to stage and is unknown before the first", () => {
  const parts = ["reading", "grouping", "routing", "lab", "writing"].map((stage) =>
    wholePart({ stage, done: 1, total: 2 }),
  );
  for (let i = 1; i < parts.length; i += 1) assert.ok(parts[i] > parts[i - 1]);
  assert.ok(parts.at(-1) < 1);
  assert.equal(wholePart({ stage: "starting_spark", done: 0, total: 0 }), null);
});

test("a study that begins while its page is open gets its start, and somebody runs it", () => {
  const waiting = { id: "a", mine: true, state: "queued", started_at: null, worker: false, progress: { place: 1 } };
  const begun = "2026-05-01T12:00:00+00:00";
  const study = heard(waiting, {
    type: "progress", state: "running", started_at: begun, progress: { stage: "reading" }, error: null,
  });
  assert.deepEqual(study, {
    id: "a", mine: true, state: "running", started_at: begun, worker: true, progress: { stage: "reading" },
  });
  assert.equal(heard({ ...study, worker: false }, { state: "running", started_at: begun, progress: {} }).worker, false);
});

test("how a file is written goes from the server into the form and back unchanged", () => {
  const csv = {
    delimiter: ";", header: true, comment: "#", escape: "\\", skip: 1, nulls: ["NULL", "\\N"], encoding: "cp1252",
  };
  const consumed = { key_separator: "\t", skip: 0, nulls: ["null"], encoding: "utf-8" };
  const back = (kind, settings) => settingsOf(kind, valuesOf(kind, settings));
  for (const settings of [csv, consumed]) assert.deepEqual(back("csv", settings), settings);
  const json = { layout: "values", encoding: "utf-16-le" };
  assert.deepEqual(back("jsonl", json), json);
  assert.deepEqual(settingsOf("csv", { ...valuesOf("csv", csv), nulls: " NULL，none " }).nulls, ["NULL", "none"]);
  assert.deepEqual(settingsOf("csv", { ...valuesOf("csv", csv), nulls: "" }).nulls, [], "no word means no value");
});
