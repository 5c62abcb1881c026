// What the log page says about a folder and about each moment of a look-up. The head's two lines are also
// dashboard/logs/presentation.py's.

import { NONE, number } from "../base/say.js";
import { SETTINGS } from "./api.js";
import { duration, size, span } from "./format.js";
import { isBelow, plus } from "./offsets.js";
import { hitOf } from "./scan.js";

const BEHIND_MOST = 100, MISSING_NAMED = 2, A_FILE = /^\d{20}\.\w+(\.\w+)?$/;

// What of the log is not here yet; "" when all is.
export function behind(folder, say, words) {
  if (folder.behind <= BEHIND_MOST) return folder.reading ? say("log.counting") : "";
  const us = folder.behind_us ?? 0;
  return us >= 1e6
    ? say("log.behind_time", { count: folder.behind, time: span(us, words) })
    : say("log.behind", { count: folder.behind });
}

// Whether the worker has not written as far as the lab's records go.
const isPreparing = ({ segments, behind: count }) => !segments.length || count > BEHIND_MOST;

// A lab's log is written while the page waits for it, a large one that was opened is counted meanwhile.
export const isUnfinished = (folder) => Boolean(folder.reading) || isPreparing(folder);

// A replica of which the lab's shard has told before, and not since. A lane's own log may well end less than a linger
// before its lab.
export const isOld = (folder) => Boolean(folder.replica && folder.behind_us > 0);

export function sub(folder, say) {
  const deleted = folder.segments.filter((segment) => segment.state === "deleted").length;
  if (folder.end_offset === folder.start_offset && !folder.bytes) {
    return say(isPreparing(folder) ? "log.sub_preparing" : "log.sub_empty");
  }
  return say(deleted ? "log.sub_waiting" : "log.sub", {
    segments: folder.segments.length - deleted, deleted, size: size(folder.bytes), from: number(folder.start_offset),
    to: number(plus(folder.end_offset, -1)),
  });
}

// The settings that act on this topic, in one line, under Kafka's own names: a compacted one has others.
export function settingsLine({ settings, settings_shown: shown }, words) {
  const write = (name, value) => {
    if (value < 0) return words["log.no_limit"];
    return name.endsWith("_bytes") ? size(value) : name.endsWith("_ms") ? duration(value, words) : String(value);
  };
  const names = (shown ?? SETTINGS).filter((name) => name in settings);
  return names.map((name) => `${name.replaceAll("_", ".")} ${write(name, settings[name])}`);
}

const pair = (row, kind) =>
  kind === "time" ? `<${row.timestamp}, ${row.offset}>` : `<${row.offset}, ${row.position}>`;
const target = (lookup) =>
  lookup.target.kind === "timestamp" ? String(lookup.target.value) : number(lookup.target.value);

// The step's sentence as [text before its result, the result]; the result is written in figures.
export function stepWords(lookup, step, say) {
  const isTime = lookup.target.kind === "timestamp";
  if (step.step === "segment") {
    return split(
      say(isTime ? "log.step.segment_time" : "log.step.segment_offset", { target: target(lookup), chosen: "\u0000" }),
      number(step.chosen),
    );
  }
  if (step.step === "index") {
    const isDocument = step.kind === "time" && lookup.rule === "document";
    const isNone = step.result_slot < 0 || !step.result || !step.entries;
    if (isNone) return [say(step.kind === "time" ? "log.step.time_none" : "log.step.index_none"), ""];
    const code = step.kind === "offset" ? "log.step.index" : isDocument ? "log.step.time_document" : "log.step.time";
    return split(
      say(code, { entries: step.entries, probes: step.probes.length, row: "\u0000" }),
      pair(step.result, step.kind),
    );
  }
  if (lookup.found === null || hitOf(step, lookup.found) < 0) {
    return [say("log.step.scan_none", { skipped: step.skipped, bytes: step.bytes }), ""];
  }
  return split(
    say("log.step.scan", { skipped: step.skipped, bytes: step.bytes, found: "\u0000" }),
    number(lookup.found),
  );
}

function split(text, result) {
  const [before, after = ""] = text.split("\u0000");
  return [before, result, after];
}

// What the current look at a slot or a batch tells, empty where the step has its result.
export function lookWords(lookup, moment, say) {
  const step = lookup.steps[moment.step];
  if (moment.isResult) return "";
  if (step.step === "scan") {
    const batch = step.batches[moment.scanned];
    return batch
      ? say("log.looking.scan", {
          offset: number(batch.base_offset), target: lookup.found === null ? target(lookup) : number(lookup.found),
        })
      : "";
  }
  const probe = step.probes[moment.probes - 1], isTime = step.kind === "time";
  const sought = isTime ? String(step.target) : number(step.target);
  const value = isTime ? String(probe.timestamp) : number(probe.offset);
  return say(probe.side === "high" ? "log.looking.high" : "log.looking.low", {
    slot: probe.slot, value, target: sought,
  });
}

const MESSAGES = new Set([
  "offset_below_start", "offset_at_end", "offset_beyond_end", "time_beyond_last", "not_found", "missed", "next_kept",
  "damaged", "hollow", "old_format",
]);

export function message(lookup, folder, say) {
  if (!lookup.message && lookup.found !== null && isBelow(lookup.found, folder.start_offset)) {
    return say("log.message.gone", { found: number(lookup.found), start: number(folder.start_offset) });
  }
  if (!lookup.message) return "";
  const params = {
    target: target(lookup), start: number(folder.start_offset), end: number(folder.end_offset),
  };
  for (const name of ["found", "kafka_found"]) params[name] = number(lookup[name] ?? NONE);
  return say(MESSAGES.has(lookup.message) ? `log.message.${lookup.message}` : "log.message.other", params);
}

// What is odd about the files: [text, whether it is damage]. Zeros are reported once (a sparse file is not broken), and
// so are indexes that nobody brought along.
export function remarks(folder, say) {
  const all = folder.segments.flatMap((segment) =>
    (segment.damage ?? []).map((damage) => ({ ...damage, base_offset: segment.base_offset })),
  );
  const hollow = new Set(all.filter(({ kind }) => kind === "zeros").map(({ base_offset }) => base_offset)).size;
  const isMissing = ({ kind, detail }) => kind === "index" && A_FILE.test(detail), missing = all.filter(isMissing);
  const list = all
    .filter((damage) => damage.kind !== "zeros" && !isMissing(damage))
    .map(({ kind, position, detail, base_offset }) => [
      say(`log.damage.${kind}`, { segment: base_offset, position }) + (detail ? ` (${detail})` : ""), true,
    ]);
  if (missing.length > MISSING_NAMED) list.push([say("log.damage.indexes_missing", { count: missing.length }), false]);
  else list.push(...missing.map(({ detail }) => [say("log.damage.index_missing", { name: detail }), false]));
  if (hollow) list.push([say("log.hollow", { count: hollow }), false]);
  return list;
}

export function turning(event, say) {
  return say(`log.${event.kind}.${event.reason}`, event);
}
