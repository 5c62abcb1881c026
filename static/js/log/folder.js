// The partition's folder: segments to scale, their index entries drawn to the bytes they point at, the active one solid
// and open at its end, what waits for deletion hatched, the lines that retention, committed position and high watermark
// have reached. Files that somebody brought along are closed, and end where the last of them ends.

import { number } from "../base/say.js";
import { draw, round } from "../drawing/shapes.js";
import { duration, figuresWidth, size, textWidth } from "./format.js";
import { isBelow } from "./offsets.js";
import { byteAt, offsetAt, places } from "./places.js";

export const HEIGHT = 190;
const IN_LOG = new Set(["cut", "no_batch", "old_format", "crc", "records"]);
const TOP = 48, TALL = 48, FOOT = TOP + TALL, INDEX = FOOT + 31, WORDS = INDEX + 20;

// context: {width, say, words, chosen: base offset or null, gap: [from, to] of bytes or null, funnelTo: width of what
// is below}
export function layout(folder, { width, say, words, chosen = null, gap = null, funnelTo = width }) {
  const { list, roomWidth, end } = places(folder, width), shapes = [];
  for (const place of list) {
    if (place.segment.state === "deleted") deleted(shapes, place);
    else live(shapes, place, place.segment.base_offset === chosen, say);
  }
  waiting(shapes, list, say);
  if (roomWidth) openEnd(shapes, folder, end, roomWidth);
  else if (folder.kind === "upload" && list.length) fileEnd(shapes, end, say);
  const flagLeft = flag(shapes, folder, list);
  committed(shapes, folder, list, say);
  retention(shapes, folder, list, flagLeft, say, words);
  damages(shapes, list, say);
  if (chosen !== null) {
    funnel(
      shapes,
      list.find(({ segment }) => segment.base_offset === chosen && segment.state !== "deleted"),
      gap,
      funnelTo,
    );
  }
  return shapes;
}

function deleted(shapes, { segment, x, width }) {
  const id = `gone-${segment.base_offset}`, name = number(segment.base_offset), plate = figuresWidth(name) + 8;
  shapes.push({ id, tag: "rect", x: round(x), y: TOP + 0.5, width: round(width), height: TALL, class: "gone" });
  if (width < plate + 8) return;
  shapes.push({
    id: `${id}-plate`, tag: "rect", x: round(x + 12), y: TOP + 14, width: round(plate), height: 20, rx: 3,
    class: "plate",
  });
  shapes.push({ id: `${id}-no`, tag: "text", x: round(x + 16), y: TOP + 29, class: "n m", text: name });
}

function live(shapes, { segment, x, width }, isChosen, say) {
  const id = `seg-${segment.base_offset}`, name = number(segment.base_offset), bytes = size(segment.bytes);
  shapes.push({
    id, tag: "rect", x: round(x), y: TOP + 0.5, width: round(width), height: TALL,
    class: `seg-box${segment.active ? " active" : ""}${isChosen ? " chosen" : ""}`, role: "button", tabindex: -1,
    "data-offset": segment.base_offset,
    "aria-label": say("log.segment_label", {
      base_offset: segment.base_offset, size: bytes, entries: segment.index_entries,
    }),
  });
  const tone = segment.active ? " on-ink" : "";
  if (width > figuresWidth(name) + 20) {
    shapes.push({ id: `${id}-no`, tag: "text", x: round(x + 10), y: TOP + 29, class: `n b${tone}`, text: name });
  }
  if (width > figuresWidth(name) + figuresWidth(bytes) + 44) {
    shapes.push({
      id: `${id}-size`, tag: "text", x: round(x + width - 10), y: TOP + 29, class: `n end m${tone}`, text: bytes,
    });
  }
  index(shapes, segment, id, x, width);
  const entries = say("log.entries", { entries: segment.index_entries });
  const text = width > textWidth(entries) ? entries : width > 44 ? number(segment.index_entries) : null;
  if (text) shapes.push({ id: `${id}-entries`, tag: "text", x: round(x), y: WORDS, class: "m", text });
  const active = segment.active ? say("log.state.active") : "";
  if (active && width > textWidth(active)) {
    shapes.push({ id: `${id}-active`, tag: "text", x: round(x), y: WORDS + 17, class: "m", text: active });
  }
}

// The index file is an array of equal rows, the bar below; each tick runs from its row up to the byte that it points
// at.
function index(shapes, segment, id, x, width) {
  const entries = segment.entries.filter(([, position]) => position < segment.bytes);
  shapes.push({ id: `${id}-index`, tag: "path", d: `M${round(x)} ${INDEX}h${round(width)}`, class: "axis" });
  if (!entries.length) return;
  const ticks = entries.map(([, position], row) => {
    const from = x + ((row + 0.5) * width) / entries.length, to = x + (width * position) / Math.max(1, segment.bytes);
    return `M${round(from)} ${INDEX}L${round(to)} ${FOOT + 1}`;
  });
  shapes.push({ id: `${id}-ticks`, tag: "path", d: ticks.join(""), class: "ticks" });
}

function waiting(shapes, list, say) {
  const gone = list.filter(({ segment }) => segment.state === "deleted");
  if (!gone.length) return;
  const due = gone.map(({ segment }) => segment.deletes_in_ms).filter((ms) => ms !== null);
  const text = due.length
    ? say("log.files_go", { count: gone.length, left_us: Math.ceil(Math.min(...due) / 1000) * 1e6 })
    : say("log.state.gone");
  const { x, width } = gone.at(-1);                     // what is to the right has its index there
  if (x + width > textWidth(text)) {
    shapes.push({ id: "gone-words", tag: "text", x: 2, y: INDEX - 12, class: "m", text });
  }
}

function openEnd(shapes, folder, end, width) {
  const x = round(end), leo = folder.end_offset === null ? "" : number(folder.end_offset);
  shapes.push({
    id: "room", tag: "path", d: `M${x} ${TOP + 0.5}h${round(width)}M${x} ${FOOT + 0.5}h${round(width)}`, class: "open",
  });
  shapes.push({ id: "leo", tag: "text", x: x + 8, y: TOP + 20, class: "m", text: "LEO" });
  shapes.push({ id: "leo-no", tag: "text", x: x + 8, y: TOP + 38, class: "n", text: leo });
}

function fileEnd(shapes, end, say) {
  const x = round(end);
  shapes.push({ id: "file-end", tag: "path", d: `M${x} ${TOP - 7}V${FOOT + 8}`, class: "pole" });
  shapes.push({ id: "file-end-words", tag: "text", x: x - 8, y: TOP - 7, class: "m end", text: say("log.file_end") });
}

// The flag is at the high watermark; its words are on the left, where the log is. Returns how far left they reach.
function flag(shapes, folder, list) {
  const at = folder.high_watermark === null ? null : offsetAt(list, folder.high_watermark);
  if (at === null) return Infinity;
  const x = round(at), text = number(folder.high_watermark);
  shapes.push({ id: "hw-pole", tag: "path", d: `M${x} ${TOP}V14`, class: "pole" });
  shapes.push({ id: "hw-flag", tag: "path", d: `M${x} 14h24l-6 6.5l6 6.5h-24Z`, class: "ink" });
  const isRoom = x > figuresWidth(text) + 40;
  shapes.push({
    id: "hw-word", tag: "text", "data-term": "high_watermark", x: isRoom ? x - 8 : x + 30, y: 11,
    class: `b${isRoom ? " end" : ""}`, text: "HW",
  });
  shapes.push({ id: "hw-no", tag: "text", x: isRoom ? x - 8 : x + 30, y: 25, class: `n${isRoom ? " end" : ""}`, text });
  return x - figuresWidth(text) - 16;
}

function committed(shapes, folder, list, say) {
  // The group may be ahead of what the worker has written so far.
  const at =
    folder.committed === null || isBelow(folder.end_offset, folder.committed) ? null : offsetAt(list, folder.committed);
  if (at === null) return;
  const x = round(at), text = say("log.committed", { offset: folder.committed }), isRoom = x > textWidth(text) + 12;
  shapes.push({ id: "committed", tag: "path", d: `M${x} ${TOP - 1}l-5 -9h10Z`, class: "ink" });
  shapes.push({
    id: "committed-words", tag: "text", "data-term": "committed", x: isRoom ? x - 10 : x + 10, y: TOP - 5,
    class: `m${isRoom ? " end" : ""}`, text,
  });
}

function retention(shapes, folder, list, flagLeft, say, words) {
  const { bytes, ms, reaches_position: bySize, reaches_position_ms: byTime } = folder.retention;
  const isByTime = (byTime ?? 0) > Math.max(0, bySize ?? 0), position = Math.max(byTime ?? 0, bySize ?? 0);
  if (position <= 0) return;
  const at = byteAt(list, position);
  if (at === null) return;
  const x = round(at);
  const rule = isByTime
    ? say("log.retention_ms", { time: duration(ms, words) })
    : say("log.retention_bytes", { size: size(bytes) });
  const long = say("log.retention_reaches", { rule }), isLong = x + 14 + textWidth(long) < flagLeft;
  const isRight = x + 14 + textWidth(rule) < flagLeft;
  shapes.push({ id: "cut", tag: "path", d: `M${x} 4V${FOOT}`, class: "cut" });
  shapes.push({ id: "cut-mark", tag: "path", d: `M${x} 4v10l-9 -5Z`, class: "ink" });
  shapes.push({
    id: "cut-words", tag: "text", x: isRight ? x + 8 : x - 14, y: 14, class: isRight ? "" : "end",
    text: isLong ? long : rule,
  });
}

// What no reader gets past is marked where it begins.
function damages(shapes, list, say) {
  for (const { segment, x, width } of list) {
    (segment.damage ?? []).forEach(({ kind, position, bytes }, place) => {
      if (!IN_LOG.has(kind)) return;                      // a sparse file is not broken, and an index has no place here
      const left = x + (width * Math.min(position, segment.bytes)) / Math.max(1, segment.bytes);
      const wide = (width * Math.min(bytes, segment.bytes - position)) / Math.max(1, segment.bytes);
      shapes.push({
        id: `damage-${segment.base_offset}-${segment.state}-${place}`, tag: "rect", x: round(left), y: TOP + 2,
        width: Math.max(3, round(wide)), height: TALL - 3, class: "damage",
        "aria-label": say(`log.damage.${kind}`, { segment: segment.base_offset, position }),
      });
    });
  }
}

// From the bytes that the next tier shows, or from the whole segment while they are not known yet.
function funnel(shapes, place, gap, width) {
  if (!place) return;
  const { segment, x, width: wide } = place, [from, to] = gap ?? [0, segment.bytes];
  const left = round(x + (wide * from) / Math.max(1, segment.bytes));
  const right = round(x + (wide * to) / Math.max(1, segment.bytes));
  shapes.push({
    id: "funnel", tag: "path",
    d: `M${left} ${FOOT + 2}V${WORDS + 8}L1 ${HEIGHT}M${right} ${FOOT + 2}V${WORDS + 8}L${round(width - 1)} ${HEIGHT}`,
    class: "funnel",
  });
}

export function render(root, folder, context) {
  root.setAttribute("viewBox", `0 0 ${context.width} ${HEIGHT}`);
  draw(root, layout(folder, context));
}
