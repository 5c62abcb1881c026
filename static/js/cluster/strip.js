// One copy of a partition as a strip: its records upward, the flag of its high watermark, its open end, and at its left
// a bracket for each leader epoch. A leader's fill is full, a follower's 35 %; hatched is what consumers cannot see. In
// the ISR: a firm outline. Ink alone: colours are consumers'.

import { number } from "../base/say.js";
import { widthOf } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";
import { breaksOf, rise } from "./window.js";

const OPEN = 7, RECORD_LEAST = 7, FOOT_APART = 20, LIFT = 6, TOOTH = 5, TORN = 4, BRACKET = 3, BESIDE = 8;
const WORDS_LEAST = 14, SHELL_LEAST = 30;
export const FLAG_ROOM = 14;                            // px from the strip to its number

// copy: of the view. at: {x, width, base: y of the bottom, window, room: px at the left of the strip, leaderEnd: what
// the copy is to have, or null}.
// -> shapes for drawing/shapes.js, all ids under `id`.
export function layout(id, copy, { x, width, base, window, room = 0, leaderEnd = null, say }) {
  const y = (offset) => round(base - rise(window, offset)), right = x + width, shapes = [];
  const hidden = Math.min(copy.high_watermark, copy.end);
  const from = Math.max(copy.start, window.low), isRunning = copy.role !== "not_running", top = y(copy.end);
  const mark = y(copy.high_watermark);
  // a break that hides where it starts
  const startsIn = breaksOf(window).find((gap) => gap.from < copy.start && copy.start < gap.to && copy.end > gap.to);
  const bottom = startsIn ? round(base - startsIn.low) : y(from);

  const isFar = leaderEnd !== null && breaksOf(window).some(({ from: low }) => copy.end <= low) && copy.end < leaderEnd;
  if (isFar) shapes.push(...shell(id, { x, right, top, high: y(leaderEnd), count: leaderEnd - copy.end, say }));
  const body = y(Math.max(from, hidden));
  if (bottom > body) {
    shapes.push({
      id: `${id}-body`, tag: "rect", x, y: body, width, height: round(bottom - body),
      "fill-opacity": copy.role === "leads" ? 1 : 0.35, class: "band",
    });
  }
  if (body > top) {
    shapes.push({
      id: `${id}-unseen`, tag: "rect", x, y: top, width, height: round(body - top), fill: "url(#unseen)", class: "thin",
    });
  }
  for (const [part, low, high, kind] of [
    ["records", from, hidden, "records"], ["hidden", Math.max(from, hidden), copy.end, "records hidden"],
  ]) {
    const d = edges(window, low, high, (offset) => `M${x} ${y(offset)}h${width}`);
    if (d) shapes.push({ id: `${id}-${part}`, tag: "path", d, class: kind });
  }
  const sides =
    from > copy.start
      ? `M${x} ${bottom + OPEN}V${top - OPEN}M${right} ${bottom + OPEN}V${top - OPEN}`
      : `M${x} ${top - OPEN}V${bottom}H${right}V${top - OPEN}`;
  shapes.push({
    id: `${id}-wall`, tag: "path", d: sides, class: `wall ${copy.is_in_isr ? "in" : "out"}${isRunning ? "" : " gone"}`,
  });
  shapes.push(...torn(id, copy, { x, right, base, window, say }), ...brackets(id, copy, { x, y, from, room, say }));

  // The flag stands on the right, its number beside it; the end's number above the open edge.
  shapes.push({ id: `${id}-pole`, tag: "path", d: `M${x - 4} ${mark}H${right + 10}`, class: "pole" });
  shapes.push({ id: `${id}-flag`, tag: "path", d: `M${right + 2} ${mark}v-11h10l-3 4 3 4h-8z`, class: "ink" });
  shapes.push({
    id: `${id}-hw`, tag: "text", x: right + FLAG_ROOM, y: mark - 1, class: "n b halo", "data-term": "high_watermark",
    text: number(copy.high_watermark),
  });
  if (copy.stable < copy.high_watermark && copy.stable >= from) {
    const stable = y(copy.stable);
    shapes.push({ id: `${id}-stable`, tag: "path", d: `M${x - 10} ${stable}H${right}`, class: "stable" });
    shapes.push({
      id: `${id}-lso`, tag: "text", x: x - 12, y: stable + 4, class: "n m s end halo",
      "data-term": "last_stable_offset", text: `LSO ${number(copy.stable)}`,
    });
  }
  if (bottom <= base - FOOT_APART && copy.start === from) {
    shapes.push({
      id: `${id}-start`, tag: "text", x: x + width / 2, y: bottom + 15, class: "n m s mid halo",
      "data-term": "log_start", text: say("cluster.starts_at", { offset: copy.start }),
    });
  }
  // it reaches over the flag's number
  const text = `LEO ${number(copy.end)}`, isWide = widthOf(text) > width + 2 * FLAG_ROOM;
  shapes.push({
    id: `${id}-leo`, tag: "text", x: x + width / 2, y: round(top - OPEN - (isWide ? 3 + LIFT : 3)),
    class: "n m mid halo", text,
  });
  return shapes;
}

// Lines between records, where they are wide enough to be told apart.
function edges(window, low, high, line) {
  let d = "";
  for (const part of window.parts) {
    if (part.pitch < RECORD_LEAST) continue;
    for (let offset = Math.max(low + 1, part.low); offset < Math.min(high, part.high + 1); offset += 1) {
      d += line(offset);
    }
  }
  return d;
}

// A bracket for each leader epoch over what is shown of it, and its number beside it, never on top of the records.
function brackets(id, copy, { x, y, from, room, say }) {
  return copy.epochs.flatMap(([epoch, start], place) => {
    const begin = Math.max(start, from);
    const end = Math.min(place + 1 < copy.epochs.length ? copy.epochs[place + 1][1] : copy.end, copy.end);
    if (end <= begin) return [];
    const low = round(y(begin) - 1), high = round(y(end) + 1), key = `${id}-epoch-${epoch}-${start}`, at = x - BESIDE;
    const words = [say("cluster.epoch_short", { epoch }), number(epoch)].find((text) => widthOf(text) <= room - BESIDE);
    const shapes = [
      {
        id: `${key}-bracket`, tag: "path", d: `M${x - BRACKET} ${high}h-${BRACKET}V${low}h${BRACKET}`, class: "bracket",
      },
    ];
    if (words !== undefined && low - high >= WORDS_LEAST) {
      shapes.push({
        id: key, tag: "text", x: at, y: round((low + high) / 2 + 4), class: "m end halo",
        title: say("cluster.epoch_short", { epoch }), text: words,
      });
    }
    return shapes;
  });
}

// What a break of the scale leaves out of a copy: a torn gap with the number of its records.
function torn(id, copy, { x, right, base, window, say }) {
  return breaksOf(window)
    .filter(({ from, to }) => copy.start < to && copy.end > from)
    .flatMap(({ from, to, low, high }, place) => {
      const up = zigzag(x - TORN, right + TORN, round(base - high));
      const down = zigzag(x - TORN, right + TORN, round(base - low));
      const count = Math.min(copy.end, to) - Math.max(copy.start, from);
      const startsHere = copy.start > from, foot = round(base - low) - 2, long = say("cluster.torn", { count });
      const band = `M${up.join("L")}L${startsHere ? `${right} ${foot}L${x} ${foot}` : [...down].reverse().join("L")}Z`;
      return [
        { id: `${id}-gap-${place}`, tag: "path", d: band, class: "torn-gap" },
        {
          id: `${id}-torn-${place}`, tag: "path", d: `M${up.join("L")}${startsHere ? "" : `M${down.join("L")}`}`,
          class: "torn",
        },
        {
          id: `${id}-left-out-${place}`, tag: "text", x: (x + right) / 2, y: round(base - (low + high) / 2 + 5),
          class: "n m mid halo", title: long, text: widthOf(long) <= right - x ? long : number(count),
        },
      ];
    });
}

function zigzag(left, right, y) {
  const teeth = Math.max(2, 2 * Math.round((right - left) / 24)), step = (right - left) / teeth;
  return Array.from({ length: teeth + 1 }, (_, place) => `${round(left + place * step)} ${place % 2 ? y + TOOTH : y}`);
}

// What a copy far below lacks: an empty shell up to its leader's end.
function shell(id, { x, right, top, high, count, say }) {
  const middle = (x + right) / 2, from = top - SHELL_LEAST;
  if (from <= high) return [];
  return [
    { id: `${id}-lacks`, tag: "path", d: `M${x} ${from}V${high}H${right}V${from}`, class: "shell" },
    {
      id: `${id}-behind`, tag: "text", x: middle, y: round((from + high) / 2 + 4), class: "n b mid halo warn",
      title: say("cluster.lag", { count }), text: `−${number(count)}`,
    },
  ];
}
