// The log page's pictures are arithmetic over the server's numbers: to scale, whole, and the same bytes at the same
// pixels in each tier.
import assert from "node:assert/strict";
import test from "node:test";

import * as compaction from "../../static/js/log/compaction.js";
import { firstExample } from "../../static/js/log/example.js";
import * as fields from "../../static/js/log/fields.js";
import * as folderPicture from "../../static/js/log/folder.js";
import { size, span } from "../../static/js/log/format.js";
import * as indexSearch from "../../static/js/log/index_search.js";
import { distance, isBelow, plus } from "../../static/js/log/offsets.js";
import { byteAt, entryAt, offsetAt, places, positionOf, room } from "../../static/js/log/places.js";
import { STEP_MS, createPlayer, moments } from "../../static/js/log/player.js";
import * as scan from "../../static/js/log/scan.js";
import { isLong } from "../../static/js/log/settings_form.js";
import { cleanTable, folderTable, indexTable, recordsTable, scanTable } from "../../static/js/log/tables.js";
import { fault } from "../../static/js/log/upload.js";
import {
  behind, isOld, isUnfinished, lookWords, message, remarks, settingsLine, stepWords, sub,
} from "../../static/js/log/words.js";
import { load, say } from "./fixtures/load.mjs";

const WORDS = { second: "s", minute: "min", "log.hour": "h", "log.day": "d" };
const context = { width: 1392, say, words: WORDS };
const WIDTHS = [640, 920, 1392];

function check(shapes, width, height) {
  const ids = shapes.map((shape) => shape.id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, index) => ids.indexOf(id) !== index)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(value !== undefined && !/NaN|undefined|Infinity/.test(String(value)), `${shape.id} ${name} = ${value}`);
    }
    if (shape.tag !== "rect") continue;
    assert.ok(shape.width >= 0 && shape.height >= 0, shape.id);
    assert.ok(shape.x >= -1 && shape.x + shape.width <= width + 2, `${shape.id} leaves the picture sideways`);
    assert.ok(shape.y >= -1 && shape.y + shape.height <= height + 1, `${shape.id} leaves the picture below`);
  }
}

test("the first example lies between two index rows, above the log start", () => {
  for (const data of [folder, article, far.folder]) {
    const example = firstExample(data), at = BigInt(example);
    const live = data.segments.filter(({ state }) => state !== "deleted");
    const { entries, base_offset: from, next_offset: to } = live.at(-2) ?? live.at(-1);
    assert.ok(!isBelow(example, data.start_offset) && !isBelow(example, from) && (to === null || isBelow(example, to)));
    assert.ok(!entries.some(([offset]) => BigInt(offset) === at), "a record that the index names needs no scan");
  }
  const alone = {
    start_offset: 0, end_offset: 40, segments: [{ state: "live", base_offset: 0, next_offset: null, entries: [] }],
  };
  assert.equal(firstExample(alone), 38);
  assert.equal(firstExample({ ...alone, end_offset: 1 }), 0);
  assert.equal(firstExample({ ...alone, start_offset: 39 }), 39);
});

const byId = (shapes, id) => shapes.find((shape) => shape.id === id);
const { folder, lookups, clean, article, walks, far } = load("log");
const all = { ...lookups, ...walks };

for (const width of WIDTHS) {
  test(`${width} px: the folder's picture is whole, the lab's and the article's`, () => {
    for (const data of [folder, article]) {
      check(
        folderPicture.layout(data, { ...context, width, chosen: data.segments[1].base_offset, gap: [0, 100] }),
        width,
        folderPicture.HEIGHT,
      );
    }
  });
  test(`${width} px: each moment of each look-up is a whole picture`, () => {
    for (const lookup of Object.values(all)) {
      for (const moment of moments(lookup)) {
        const step = lookup.steps[moment.step], gap = lookup.steps.find(({ step: kind }) => kind === "scan");
        if (step.step === "index") {
          check(
            indexSearch.layout(step, {
              width, probes: moment.probes, isResult: moment.isResult, gap, segmentBytes: 1_073_741_513, say,
            }),
            width,
            indexSearch.heightOf(step),
          );
        }
        if (step.step === "scan") {
          check(
            scan.layout(step, { width, scanned: moment.scanned, isFound: moment.isResult, found: lookup.found }),
            width,
            scan.HEIGHT,
          );
        }
      }
    }
  });
  test(`${width} px: before and after compaction are whole`, () =>
    check(compaction.layout(clean, { width, say }), width, compaction.HEIGHT));
}

test("segments are to scale by their bytes, and stand in a row", () => {
  const { list, scale } = places(folder, 1392);
  for (const { segment, width } of list) assert.ok(Math.abs(width - Math.max(1, segment.bytes * scale)) < 1e-9);
  for (let place = 1; place < list.length; place += 1) {
    assert.ok(list[place].x > list[place - 1].x + list[place - 1].width);
  }
});

test("nothing moves while the active segment grows into its room; it all moves when it rolls", () => {
  const grown = structuredClone(folder), active = grown.segments.at(-1);
  active.bytes += 6000;
  const [before, after] = [places(folder, 1392).list, places(grown, 1392).list];
  assert.deepEqual(after.map(({ x }) => x), before.map(({ x }) => x));
  assert.ok(after.at(-1).width > before.at(-1).width);
  assert.equal(room(folder) - room(grown), 6000);
  grown.segments.push({ ...active, base_offset: 1100, next_offset: 1101, bytes: 90, entries: [] });
  active.active = false;
  assert.ok(places(grown, 1392).list[1].width < before[1].width);
});

test("an offset lies at the byte of its index entry, and between two entries in proportion", () => {
  const segment = folder.segments[1], [offset, position] = segment.entries[3], [later, further] = segment.entries[4];
  assert.equal(positionOf(segment, offset), position);
  const between = positionOf(segment, offset + 1);
  assert.ok(between > position && between < further && later > offset + 1);
  assert.equal(positionOf(segment, segment.next_offset), segment.bytes);
});

test("damage is told and marked where it begins; a hole and a missing index are remarks", () => {
  const broken = structuredClone(folder), segment = broken.segments[2], name = "00000000000000000349.index";
  segment.damage = [
    { kind: "crc", position: 5000, bytes: 100, detail: "" }, { kind: "index", position: 0, bytes: 0, detail: name },
  ];
  const shapes = folderPicture.layout(broken, context), { x, width } = places(broken, 1392).list[2];
  const marks = shapes.filter((shape) => shape.class === "damage");
  assert.equal(marks.length, 1);
  assert.ok(Math.abs(marks[0].x - (x + (width * 5000) / segment.bytes)) < 0.1);
  assert.deepEqual(
    remarks(broken, say).map(([text, isDamage]) => [text.split(" ")[0], isDamage]),
    [
      ["log.damage.crc", true], ["log.damage.index_missing", false],
    ],
  );
  assert.deepEqual(
    remarks(article, say).map(([text, isDamage]) => [text.split(" ")[0], isDamage]),
    article.reading ? [] : [["log.hollow", false]],
  );
});

test("a place in a segment means the entry at or before it", () => {
  const segment = folder.segments[1], [offset, position] = segment.entries[5];
  assert.equal(entryAt(segment, (position + 1) / segment.bytes), offset);
  assert.equal(entryAt(segment, 0), segment.base_offset);
});

test("flag, committed mark and retention line stand where their offset and byte lie", () => {
  const shapes = folderPicture.layout(folder, context), { list } = places(folder, 1392);
  const number = (id) => Number(/M(-?[\d.]+)/.exec(byId(shapes, id).d)[1]);
  assert.ok(Math.abs(number("hw-pole") - offsetAt(list, folder.high_watermark)) < 0.1);
  assert.ok(Math.abs(number("committed") - offsetAt(list, folder.committed)) < 0.1);
  assert.ok(Math.abs(number("cut") - byteAt(list, folder.retention.reaches_position)) < 0.1);
  const first = list.find(({ segment }) => segment.state !== "deleted");
  assert.ok(number("cut") > first.x && number("cut") < first.x + first.width);
});

test("files that somebody brought along are closed: the last one ends, and nothing is to come", () => {
  const segments = folder.segments.map((segment) => ({ ...segment, active: false }));
  const brought = { ...folder, kind: "upload", high_watermark: null, committed: null, segments };
  const shapes = folderPicture.layout(brought, context);
  check(shapes, context.width, folderPicture.HEIGHT);
  for (const id of ["leo", "room", "hw-pole"]) {
    assert.equal(byId(shapes, id), undefined, id);
    assert.ok(byId(folderPicture.layout(folder, context), id), id);
  }
  assert.equal(shapes.filter((shape) => /active/.test(shape.class) || /-active$/.test(shape.id)).length, 0);
  const { x, width } = places(brought, context.width).list.at(-1);
  assert.match(byId(shapes, "file-end").d, new RegExp(`^M${Math.round((x + width) * 10) / 10} `));
  assert.match(byId(shapes, "file-end-words").text, /^log.file_end /);
  assert.ok(!folderTable(brought, say).rows.some((row) => row.includes("log.state.active {}")));
});

test("what a lab keeps at the most is told as the lab's limit, not as retention.bytes", () => {
  const free = { ...folder, settings: { ...folder.settings, retention_bytes: -1 } };
  assert.match(byId(folderPicture.layout(free, context), "cut-words").text, /log.lab_limit/);
  assert.match(byId(folderPicture.layout(folder, context), "cut-words").text, /log.retention_bytes/);
});

test("offsets that a number cannot hold lie where they are, and are written to the last digit", () => {
  const { list } = places(far.folder, 1392), offset = far.lookup.found;
  assert.equal(typeof offset, "string");
  const after = list.find(({ segment }) => segment.next_offset?.length > String(segment.base_offset).length);
  assert.ok(after.segment.base_offset > offset, "as texts the smaller is the larger");
  const x = offsetAt(list, offset);
  assert.ok(x > after.x && x < after.x + after.width, `${offset} lies in segment ${after.segment.base_offset}`);
  const [entry, position] = after.segment.entries[3];
  assert.equal(positionOf(after.segment, entry), position);
  const next = String(BigInt(entry) + 1n);
  assert.ok(
    positionOf(after.segment, next) > position && positionOf(after.segment, next) < after.segment.entries[4][1],
  );
  const scanned = far.lookup.steps.find(({ step }) => step === "scan");
  const hit = scanned.batches[scan.hitOf(scanned, offset)];
  assert.ok(BigInt(hit.base_offset) <= BigInt(offset) && BigInt(offset) <= BigInt(hit.last_offset));
  check(
    folderPicture.layout(far.folder, { ...context, chosen: after.segment.base_offset, gap: [0, 100] }),
    1392,
    folderPicture.HEIGHT,
  );
  const { to } = JSON.parse(sub(far.folder, say).replace(/^\S+ /, ""));
  assert.equal(to.replace(/\D/g, ""), String(BigInt(far.folder.end_offset) - 1n));
  const base = far.lookup.batch.fields.find(({ name, record }) => name === "base_offset" && record === null);
  assert.equal(fields.fieldValue(base, far.lookup.batch, say).replace(/\D/g, ""), hit.base_offset);
  assert.equal(message(far.lookup, far.folder, say), "");
  assert.match(message(far.lookup, { ...far.folder, start_offset: plus(offset, 1) }, say), /^log.message.gone/);
});

test("the sum of an offset and a count is exact, and a number again where a number holds it", () => {
  assert.equal(plus(41, 1), 42);
  assert.equal(plus(String(2n ** 53n), -1), 2 ** 53 - 1);
  assert.equal(plus("9999999999999999", 1), "10000000000000000");
  assert.ok(isBelow("9999999999999999", "10000000000000000") && isBelow(7, "10000000000000000") && !isBelow(-1, -1));
  assert.equal(distance("9999999999999999", "10000000000000076"), 77);
});

test("a deleted segment is hatched, counts down, and cannot be looked up", () => {
  const shapes = folderPicture.layout(folder, { ...context, width: 4000 }), gone = byId(shapes, "gone-0");
  assert.equal(gone.class, "gone");
  assert.equal(gone["data-offset"], undefined);
  assert.match(byId(shapes, "gone-words").text, /"count":1,"left_us":58000000/);
  assert.equal(
    byId(folderPicture.layout(folder, { ...context, width: 640 }), "gone-words"),
    undefined,
    "no room beside the next segment's index",
  );
  const undated = { ...folder, segments: folder.segments.map((segment) => ({ ...segment, deletes_in_ms: null })) };
  assert.match(byId(folderPicture.layout(undated, { ...context, width: 4000 }), "gone-words").text, /^log.state.gone /);
  assert.match(folderTable(undated, say).rows[0].at(-1), /^log.state.gone /);
  assert.equal(folderTable(folder, say).offsets[0], null);
});

test("every tick of the index ends at the byte that its entry points at", () => {
  const shapes = folderPicture.layout(folder, context), { x, width, segment } = places(folder, 1392).list[1];
  const ends = [...byId(shapes, `seg-${segment.base_offset}-ticks`).d.matchAll(/L([\d.]+)/g)].map((match) =>
    Number(match[1]),
  );
  segment.entries.forEach(([, position], row) =>
    assert.ok(Math.abs(ends[row] - (x + (width * position) / segment.bytes)) < 0.1),
  );
});

test("the search narrows to the row that the server found, and each look lies in what was still possible", () => {
  for (const lookup of Object.values(all)) {
    for (const step of lookup.steps.filter(({ step: kind }) => kind === "index")) {
      const rows = indexSearch.searchRows(step);
      for (const { low, high, slot, from, to } of rows) {
        assert.ok(low <= slot && slot <= high && from <= low && high <= to);
      }
      const last = rows.at(-1), side = step.probes.at(-1)?.side;
      if (!last || step.result_slot < 0 || (step.kind === "time" && lookup.rule === "document")) continue;
      assert.equal(
        side === "high" ? Math.max(last.low, last.slot - 1) : Math.max(last.low, last.slot),
        step.result_slot,
      );
    }
  }
});

test("a row that would be too narrow to see is spread over the whole width", () => {
  const step = walks.offset.steps.find(({ step: kind }) => kind === "index");
  assert.equal(step.entries, 228_537);
  for (const { low, high, from, to } of indexSearch.searchRows(step)) {
    assert.ok((high - low + 1) / (to - from + 1) > 1 / 13);
  }
});

test("the gap of the index tier is the stretch that the scan reads, byte for byte", () => {
  const [, index, step] = walks.offset.steps, width = 920;
  const shapes = indexSearch.layout(index, {
    width, probes: 99, isResult: true, gap: step, segmentBytes: 1_073_741_513, say,
  });
  const { from, to } = indexSearch.span(index, step, 1_073_741_513);
  const x = (byte) => 1 + ((byte - from) * (width - 2)) / (to - from);
  assert.ok(Math.abs(byId(shapes, "gap").x - x(step.from)) < 0.1);
  assert.ok(Math.abs(byId(shapes, "gap").x + byId(shapes, "gap").width - x(step.to)) < 0.2);
  assert.equal(byId(shapes, `row-${index.result.offset}`).class, "row-box chosen");
});

test("the scan hops over as many headers as the server passed, to the batch that holds the offset", () => {
  for (const lookup of Object.values(all).filter(({ found }) => found !== null)) {
    const step = lookup.steps.at(-1);
    const shapes = scan.layout(step, { width: 920, scanned: 0, isFound: true, found: lookup.found });
    assert.equal(shapes.filter(({ id }) => id.startsWith("arc-")).length, step.skipped);
    assert.equal(byId(shapes, `batch-${lookup.batch.position}`).class, "row-box chosen");
  }
});

test("moments: a step for the segment, for each look, for the row, for each header and for the batch", () => {
  const [, index, step] = walks.offset.steps, list = moments(walks.offset);
  assert.equal(list.length, 1 + index.probes.length + 1 + step.skipped + 1);
  assert.deepEqual(list.at(-1), { step: 2, probes: 0, scanned: step.skipped, isResult: true });
  assert.equal(moments(lookups.below).length, 0);
});

test("the player goes by itself to the end, stops there, and can be stepped by hand", () => {
  let now = 0, timers = [];
  const clock = {
    setTimeout(call, wait) { timers.push({ call, at: now + wait }); return timers.at(-1); },
    clearTimeout(timer) { timers = timers.filter((other) => other !== timer); },
  };
  const seen = [], states = [];
  const player = createPlayer({
    onMoment: (_, place) => seen.push(place), onState: (state) => states.push(state), clock,
  });
  player.open(lookups.middle, true);
  const count = moments(lookups.middle).length;
  while (timers.length) {
    const [timer] = timers.splice(0, 1);
    assert.equal(timer.at - now, STEP_MS);
    now = timer.at;
    timer.call();
  }
  assert.deepEqual(seen, [...Array(count).keys()]);
  assert.equal(states.at(-1).isPlaying, false);
  player.back();
  player.back();
  player.next();
  assert.deepEqual(seen.slice(count), [count - 2, count - 3, count - 2]);
  player.close();
  player.redraw();
  player.next();
  assert.equal(seen.length, count + 3, "what has been put away is not drawn again");
});

test("sentences carry the server's numbers and nothing else", () => {
  const [segment, index, step] = walks.offset.steps;
  assert.equal(stepWords(walks.offset, segment, say)[1], "3\u202f257\u202f573");
  assert.equal(stepWords(walks.offset, index, say)[1], "<6506150, 1073707263>");
  assert.match(stepWords(walks.offset, step, say)[0], /"skipped":5,"bytes":1765/);
  assert.equal(stepWords(walks.document, walks.document.steps[1], say)[1], "<1570793423503, 6506240>");
  assert.equal(stepWords(walks.kafka, walks.kafka.steps[1], say)[1], "<1570793423500, 6506228>");
  assert.match(lookWords(walks.offset, moments(walks.offset)[1], say), /log\.looking\.(low|high)/);
  for (const [name, code] of [
    ["below", "offset_below_start"], ["at_end", "offset_at_end"], ["beyond", "offset_beyond_end"],
    ["late", "time_beyond_last"],
  ]) {
    assert.ok(message(lookups[name], folder, say).startsWith(`log.message.${code}`));
  }
});

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

test("what no 64 bits hold is no offset", () => {
  assert.deepEqual(["0", "9223372036854775807", "007"].map(isLong), [true, true, true]);
  assert.deepEqual(
    ["-1", "9223372036854775808", "99999999999999999999999", "", "soon", "1.5"].map(isLong),
    Array(6).fill(false),
  );
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
  assert.deepEqual(
    settingsLine(
      { settings, settings_shown: ["retention_bytes"], bytes_limit: 1_048_576 },
      { "log.no_limit": "no limit" },
    ),
    ["retention.bytes no limit (≤\u202f1.05\u202fMB)"],
  );
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
