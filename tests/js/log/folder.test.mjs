// The folder's picture is arithmetic over the server's numbers: to scale, whole, the same bytes at the same pixels.
import assert from "node:assert/strict";
import test from "node:test";

import * as compaction from "../../../static/js/log/compaction.js";
import * as fields from "../../../static/js/log/fields.js";
import * as folderPicture from "../../../static/js/log/folder.js";
import * as indexSearch from "../../../static/js/log/index_search.js";
import { distance, isBelow, plus } from "../../../static/js/log/offsets.js";
import { byteAt, entryAt, offsetAt, places, positionOf, room } from "../../../static/js/log/places.js";
import { moments } from "../../../static/js/log/player.js";
import * as scan from "../../../static/js/log/scan.js";
import { folderTable } from "../../../static/js/log/tables.js";
import { message, remarks, sub } from "../../../static/js/log/words.js";
import { say } from "../fixtures/load.mjs";
import { WORDS, byId, folder, clean, article, far, all } from "./known.mjs";

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
