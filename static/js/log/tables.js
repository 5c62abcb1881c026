// The log page's pictures as tables: what a screen reader reads, and what key T shows in their place.

import { NONE, number } from "../base/say.js";
import { fate } from "./compaction.js";
import { instant } from "./format.js";

// {head: [words], terms?: [the glossary's term of each head, or null], rows: [[words]], offsets: [offset of each row or
// null]}
export function folderTable(folder, say) {
  const rows = folder.segments.map((segment) => [
    ...[segment.base_offset, segment.bytes, segment.records, segment.index_entries].map((value) =>
      value === null ? NONE : number(value),
    ),
    state(segment, say),
  ]);
  const offsets = folder.segments.map((segment) => (segment.state === "deleted" ? null : segment.base_offset));
  return {
    head: ["base", "size", "count", "entries", "state"].map((code) => say(`log.column.${code}`)),
    terms: ["segment", null, null, "index", "retention"], rows, offsets,
  };
}

function state(segment, say) {
  if (segment.state === "deleted" && segment.deletes_in_ms === null) return say("log.state.gone");
  if (segment.state === "deleted") {
    return say("log.state.deleted", { left_us: Math.ceil(segment.deletes_in_ms / 1000) * 1e6 });
  }
  return say(`log.state.${segment.active ? "active" : segment.state}`);
}

export function indexTable(step, say) {
  const isTime = step.kind === "time", first = step.around_first_slot ?? 0;
  const rows = step.around.map(([value, points], row) => [
    isTime ? String(value) : number(value), number(points), number(first + row),
  ]);
  return {
    head: [isTime ? "timestamp" : "offset", isTime ? "offset" : "position", "slot"].map((code) =>
      say(`log.column.${code}`),
    ),
    terms: [null, null, "index"], rows, offsets: step.around.map(([value, points]) => (isTime ? points : value)),
  };
}

export function scanTable(step, say) {
  return {
    head: ["base", "last", "position", "size"].map((code) => say(`log.column.${code}`)),
    terms: ["batch", null, null, null],
    rows: step.batches.map((batch) => [batch.base_offset, batch.last_offset, batch.position, batch.bytes].map(number)),
    offsets: step.batches.map((batch) => batch.base_offset),
  };
}

export function cleanTable(data, say) {
  const kept = new Set(data.after.map(({ offset }) => offset));
  return {
    head: [say("log.column.offset"), say("log.column.key"), say("log.zone_word"), say("log.fate")],
    terms: [null, null, "compaction", "tombstone"],
    rows: data.before.map((record) => [
      number(record.offset), String(record.key ?? ""), say(`log.zone.${record.zone}.short`),
      fate(record, kept.has(record.offset), say),
    ]),
    offsets: data.before.map(() => null),
  };
}

export function recordsTable(batch, say) {
  const content = (part) =>
    part === null ? say("log.null") : part.bytes === 0 ? say("log.empty") : (part.text ?? `0x${part.hex}`);
  const headers = (list) =>
    list.map((header) => `${header.key?.text ?? header.key}=${content(header.value)}`).join(say("list.comma"));
  return {
    head: ["offset", "timestamp", "key", "value", "headers"].map((code) => say(`log.column.${code}`)),
    rows: batch.records.map((record) => [
      number(record.offset), instant(record.timestamp), content(record.key), content(record.value),
      headers(record.headers ?? []),
    ]),
    offsets: batch.records.map(() => null),
  };
}
