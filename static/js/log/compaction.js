// Compaction before and after: one column an offset. What stays is solid and keeps its column; what a later record of
// the same key supersedes is struck through; a tombstone has its own sign; clean, dirty and active part are told apart
// by walls.

import { draw, round } from "../drawing/shapes.js";
import { size, textWidth } from "./format.js";

export const HEIGHT = 168;
const LEFT = 72, CELL = 34, BEFORE = 42, AFTER = 124;

export const least = (data) => LEFT + data.before.length * 36;

export const fate = ({ tombstone }, isKept, say) =>
  say(`log.fate.${!isKept ? "superseded" : tombstone ? "tombstone" : "kept"}`);

export const recordWords = (record, isKept, say) =>
  say("log.clean_record", {
    offset: record.offset, key: String(record.key ?? say("log.null")), fate: fate(record, isKept, say),
  });

export const stoppedWords = (data, say) =>
  say("log.clean_stopped", { segment: data.stopped_in, byte: data.stopped_at });

// What a round would do, or why it would stop early.
export function cleanWords(data, say) {
  const tomb = data.after.find(({ tombstone }) => tombstone);
  const list = [
    say(data.due ? "log.clean_due" : "log.clean_dry", {
      before: data.records_before, after: data.records_after, bytes_before: size(data.bytes_before),
      bytes_after: size(data.bytes_after),
    }),
  ];
  if (data.stopped_at !== null && data.stopped_at !== undefined) list.push(stoppedWords(data, say));
  if (tomb) list.push(say("log.clean_tomb", { key: tomb.key }));
  return list;
}

// context: {width, say}
export function layout(data, { width, say }) {
  const { before } = data, shapes = [], kept = new Set(data.after.map(({ offset }) => offset));
  const each = Math.min(44, (width - LEFT) / Math.max(1, before.length)), cell = Math.min(CELL, each - 4);
  const x = (column) => LEFT + column * each + (each - cell) / 2;
  shapes.push({ id: "before", tag: "text", x: 0, y: BEFORE + 22, class: "b", text: say("log.before") });
  shapes.push({ id: "after", tag: "text", x: 0, y: AFTER + 22, class: "b", text: say("log.after") });
  zones(shapes, data, x, each, cell, say);
  before.forEach((record, column) => {
    const { offset, zone } = record, at = round(x(column)), middle = round(x(column) + cell / 2);
    shapes.push({
      id: `no-${offset}`, tag: "text", x: middle, y: BEFORE - 8, class: "n m mid",
      text: each > String(offset).length * 8 ? String(offset) : String(offset).slice(-2).padStart(2, "0"),
    });
    const isKept = kept.has(offset), tone = zone === "active" ? "row-box" : isKept ? "row-box chosen" : "superseded";
    sign(shapes, `b-${offset}`, record, isKept, at, middle, BEFORE, cell, tone, say);
    if (!isKept) {
      shapes.push({
        id: `x-${offset}`, tag: "path", d: `M${at + 3} ${BEFORE + cell - 3}L${round(at + cell - 3)} ${BEFORE + 3}`,
        class: "strike",
      });
      shapes.push({
        id: `none-${offset}`, tag: "path", d: `M${middle - 6} ${AFTER + cell / 2}h12`, class: "rule-line",
      });
      return;
    }
    shapes.push({
      id: `down-${offset}`, tag: "path", d: `M${middle} ${BEFORE + cell + 4}V${AFTER - 5}`, class: "rule-line",
    });
    sign(shapes, `a-${offset}`, record, isKept, at, middle, AFTER, cell, tone, say);
  });
  return shapes;
}

// What tells a key from its neighbours: of one with named fields, as __consumer_offsets has them, the value of the
// last, else all of it.
export const shortKey = (key) => (/ \w+=[^=]*$/.test(key) ? key.slice(key.lastIndexOf("=") + 1) : key);

// A tile has room for the end of a key; the whole key is its label, and is written out under the picture.
function sign(shapes, id, record, isKept, x, middle, y, cell, tone, say) {
  const key = shortKey(`${record.key ?? ""}`), most = Math.max(1, Math.floor(cell / 8.5));
  const room = record.tombstone ? most - 1 : most, end = record.tombstone ? "∅" : "";
  const text = (key.length <= room ? key : room > 0 ? key.slice(-room) : "") + end;
  shapes.push({
    id, tag: "rect", x, y: y + 0.5, width: round(cell), height: round(cell), rx: 3, class: `tile ${tone}`, role: "img",
    tabindex: -1, "data-part": id, "data-record": record.offset, "aria-label": recordWords(record, isKept, say),
  });
  shapes.push({
    id: `${id}-key`, tag: "text", x: middle, y: round(y + cell / 2 + 5),
    class: `n b mid${tone.includes("chosen") ? " on-ink" : tone === "superseded" ? " m" : ""}`, text,
  });
  if (record.tombstone) {
    shapes.push({
      id: `${id}-tomb`, tag: "path", d: `M${x + 4} ${round(y + cell - 4)}h${round(cell - 8)}`,
      class: tone.includes("chosen") ? "tomb on-ink" : "tomb",
    });
  }
}

function zones(shapes, { before, dirty_ratio, min_cleanable_ratio }, x, each, cell, say) {
  const firsts = new Map();
  before.forEach(({ zone }, column) => { if (!firsts.has(zone)) firsts.set(zone, column); });
  const list = [...firsts];
  list.forEach(([zone, column], place) => {
    const params =
      zone === "dirty"
        ? {
            ratio: dirty_ratio.toFixed(2), least: min_cleanable_ratio.toFixed(2),
            isDue: dirty_ratio > min_cleanable_ratio ? 1 : 0,
          }
        : {};
    const next = list[place + 1]?.[1] ?? before.length, wide = (next - column) * each;
    const long = say(`log.zone.${zone}`, params), short = say(`log.zone.${zone}.short`);
    const left = x(column) - (each - cell) / 2;
    shapes.push({
      id: `zone-${zone}`, tag: "text", x: round(left + 6), y: 13, class: "m",
      text: textWidth(long) < wide ? long : short,
    });
    if (place) {
      shapes.push({ id: `wall-${zone}`, tag: "path", d: `M${round(left)} 2V${AFTER + cell + 6}`, class: "cut" });
    }
  });
}

export function render(root, data, context) {
  root.setAttribute("viewBox", `0 0 ${context.width} ${HEIGHT}`);
  draw(root, layout(data, context));
}
