// A look-up: the search, the scan, the player, and the sentences of its moments.
import assert from "node:assert/strict";
import test from "node:test";

import { firstExample } from "../../../static/js/log/example.js";
import * as indexSearch from "../../../static/js/log/index_search.js";
import { isBelow } from "../../../static/js/log/offsets.js";
import { STEP_MS, createPlayer, moments } from "../../../static/js/log/player.js";
import * as scan from "../../../static/js/log/scan.js";
import { isLong } from "../../../static/js/log/settings_form.js";
import { lookWords, message, stepWords } from "../../../static/js/log/words.js";
import { say } from "../fixtures/load.mjs";
import { byId, folder, lookups, article, walks, far, all } from "./known.mjs";

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

test("what no 64 bits hold is no offset", () => {
  assert.deepEqual(["0", "9223372036854775807", "007"].map(isLong), [true, true, true]);
  assert.deepEqual(
    ["-1", "9223372036854775808", "99999999999999999999999", "", "soon", "1.5"].map(isLong),
    Array(6).fill(false),
  );
});
