// The log page's pictures as tables: what a screen reader reads, and what key T shows in their place.

import { NONE, number } from "../say.js";
import { instant } from "./format.js";

const ROWS_MAX = 200;

// {head: [words], rows: [[words]], offsets: [offset of each row or null]}
export function folderTable(folder, say) {
  const rows = folder.segments.map((segment) => [
    ...[segment.base_offset, segment.bytes, segment.records, segment.index_entries].map((value) => (value === null ? NONE : number(value))), state(segment, say),
  ]);
  const offsets = folder.segments.map((segment) => (segment.state === "deleted" ? null : segment.base_offset));
  return { head: ["base", "size", "count", "entries", "state"].map((code) => say(`log.column.${code}`)), rows, offsets };
}

export function state(segment, say) {
  if (segment.state === "deleted") return say("log.state.deleted", { left: Math.ceil((segment.deletes_in_ms ?? 0) / 1000) * 1e6 });
  return say(segment.active ? "log.state.active" : `log.state.${segment.state}`);
}

export function indexTable(step, say) {
  const isTime = step.kind === "time", first = step.around_first_slot ?? 0;
  const rows = step.around.map(([value, points], row) => [isTime ? String(value) : number(value), number(points), number(first + row)]);
  return {
    head: [isTime ? "timestamp" : "offset", isTime ? "offset" : "position", "slot"].map((code) => say(`log.column.${code}`)),
    rows, offsets: step.around.map(([value, points]) => (isTime ? points : value)),
  };
}

export function scanTable(step, say) {
  const shown = step.batches.slice(0, ROWS_MAX);
  return {
    head: ["base", "last", "position", "size"].map((code) => say(`log.column.${code}`)),
    rows: shown.map((batch) => [batch.base_offset, batch.last_offset, batch.position, batch.bytes].map(number)),
    offsets: shown.map((batch) => batch.base_offset),
  };
}

export function cleanTable(data, say) {
  const kept = new Set(data.after.map(({ offset }) => offset));
  const fate = ({ offset, tombstone }) => say(`log.fate.${!kept.has(offset) ? "superseded" : tombstone ? "tombstone" : "kept"}`);
  return {
    head: [say("log.column.offset"), say("log.column.key"), say("log.zone_word"), say("log.fate")],
    rows: data.before.map((record) => [number(record.offset), String(record.key ?? ""), say(`log.zone.${record.zone}.short`), fate(record)]),
    offsets: data.before.map(() => null),
  };
}

export function recordsTable(batch, say) {
  const content = (part) => (part === null ? say("log.null") : part.bytes === 0 ? say("log.empty") : (part.text ?? `0x${part.hex}`));
  const headers = (list) => list.map((header) => `${header.key?.text ?? header.key}=${content(header.value)}`).join(say("list.comma"));
  return {
    head: ["offset", "timestamp", "key", "value", "headers"].map((code) => say(`log.column.${code}`)),
    rows: batch.records.slice(0, ROWS_MAX).map((record) => [
      number(record.offset), instant(record.timestamp), content(record.key), content(record.value), headers(record.headers ?? []),
    ]),
    offsets: batch.records.slice(0, ROWS_MAX).map(() => null),
  };
}

// A row that can be looked up has its first cell as a button.
export function writeTable(table, { head, rows, offsets }, label = "") {
  const line = (texts, tag, offset) => {
    const row = document.createElement("tr");
    texts.forEach((text, place) => {
      const cell = row.appendChild(document.createElement(tag));
      if (tag === "th") cell.scope = "col";
      if (place === 0 && offset !== null && offset !== undefined) {
        const button = cell.appendChild(document.createElement("button"));
        button.type = "button";
        button.className = "link";
        button.dataset.offset = offset;
        button.textContent = text;
      } else cell.textContent = text;
    });
    return row;
  };
  table.tHead.replaceChildren(line(head, "th", null));
  table.tBodies[0].replaceChildren(...rows.map((texts, place) => line(texts, "td", offsets[place])));
  if (label) table.setAttribute("aria-label", label);
}
