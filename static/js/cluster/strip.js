// One copy of a partition as a strip: its records upward, the flag of its high watermark, its open end, and at its left
// a bracket for each leader epoch. A leader's fill is full, a follower's 35 %; hatched is what consumers cannot see. In
// the ISR: a firm outline. Ink alone: colours are consumers'.

import { number } from "../base/say.js";
import { widthOf, wrapped } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";
import { breaksOf, rise } from "./window.js";

const OPEN = 7, RECORD_LEAST = 7, FOOT_APART = 20, TOOTH = 5, TORN = 4, BRACKET = 3, BESIDE = 8, LINE = 15;
const WORDS_LEAST = 14, SHELL_LEAST = 30, ABOVE_FLAG = 24, CUT_WIDTH = 36, CUT_LEAST = 5;

// copy: of the view, that of `broker`. at: {x, width, base: y of the bottom, window, room, beside: px at the left and
// at
// the right of the strip, isRoomy: whether there is room for words, leaderEnd: what the copy is to have, or null,
// cutOff:
// what it has cut off a moment ago, or null, avoid: y at which something else stands at the left, or null}.
// -> shapes for drawing/shapes.js, all ids under `copy-<broker>`.
export function layout(broker, copy, at) {
  const { x, width, base, window, room = 0, beside = 0, isRoomy = true, leaderEnd = null, cutOff = null,
    avoid = null } = at;
  const { say } = at;
  const id = `copy-${broker}`;
  const y = (offset) => round(base - rise(window, offset)), right = x + width, shapes = [];
  const hidden = Math.min(copy.high_watermark, copy.end);
  const from = Math.max(copy.start, window.low), isRunning = copy.role !== "not_running", top = y(copy.end);
  const mark = y(copy.high_watermark);
  // a break that hides where it starts
  const startsIn = breaksOf(window).find((gap) => gap.from < copy.start && copy.start < gap.to && copy.end > gap.to);
  const bottom = startsIn ? round(base - startsIn.low) : y(from);

  const isFar = leaderEnd !== null && breaksOf(window).some(({ from: low }) => copy.end <= low) && copy.end < leaderEnd;
  if (isFar) shapes.push(...shell(id, { x, right, top, high: y(leaderEnd), count: leaderEnd - copy.end, isRoomy,
    say }));
  if (cutOff) shapes.push(...cut(id, cutOff, { x, y, room, isRoomy, say }));
  const body = y(Math.max(from, hidden));
  if (bottom > body) {
    shapes.push({
      id: `${id}-body`, tag: "rect", x, y: body, width, height: round(bottom - body),
      "fill-opacity": copy.role === "leads" ? 1 : 0.35, class: "band", "data-replica": broker,
    });
  }
  if (body > top) {
    shapes.push({
      id: `${id}-unseen`, tag: "rect", x, y: top, width, height: round(body - top), fill: "url(#unseen)", class: "thin",
      "data-replica": broker, "data-mark": "unseen",
    });
    const words = isRoomy && copy.role === "leads" ? wrapped(say("cluster.not_yet"), beside - 12) : [];
    if (body - top >= words.length * LINE + ABOVE_FLAG) {
      words.forEach((text, line) =>
        shapes.push({
          id: `${id}-not-yet-${line}`, tag: "text", x: right + 10, y: round(top + 12 + line * LINE), class: "m", text,
        }),
      );
    }
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
  shapes.push(...torn(id, copy, { x, right, base, window, say }), ...brackets(id, copy, { x, y, from, room, avoid,
    say }));

  // The flag stands on the right, its number below it; the end's number above the open edge.
  const marked = { "data-replica": broker, "data-mark": "hw" };
  shapes.push({
    id: `${id}-pole`, tag: "path", d: `M${x - 6} ${mark}H${right + 8}M${right} ${mark}v-20`, class: "pole",
  });
  shapes.push({
    id: `${id}-flag`, tag: "path", d: `M${right} ${mark - 20}h15l-4 5 4 5h-15z`, class: "ink flag", ...marked,
  });
  if (isRoomy) {
    shapes.push({
      id: `${id}-hw-name`, tag: "text", x: right + 6, y: mark + 13, class: "b halo", "data-term": "high_watermark",
      text: "HW",
    });
  }
  shapes.push({
    id: `${id}-hw`, tag: "text", x: right + (isRoomy ? 6 : 4), y: mark + (isRoomy ? 28 : 14), class: "n b halo",
    "data-term": "high_watermark", ...marked, text: number(copy.high_watermark),
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
  // Above the flag, where it would reach over it.
  const leo = leoText(copy), isOver = widthOf(leo) > width - 2 && top > mark - ABOVE_FLAG;
  shapes.push({
    id: `${id}-leo`, tag: "text", x: x + width / 2, y: round(isOver ? mark - ABOVE_FLAG : top - OPEN - 3),
    class: "n mid halo", text: leo,
    "data-replica": broker, "data-mark": "leo",
  });
  return shapes;
}

const leoText = (copy) => `LEO ${number(copy.end)}`;

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
function brackets(id, copy, { x, y, from, room, avoid, say }) {
  return copy.epochs.flatMap(([epoch, start], index) => {
    const begin = Math.max(start, from);
    const end = Math.min(index + 1 < copy.epochs.length ? copy.epochs[index + 1][1] : copy.end, copy.end);
    if (end <= begin) return [];
    const low = round(y(begin) - 1), high = round(y(end) + 1), key = `${id}-epoch-${epoch}-${start}`, at = x - BESIDE;
    const words = [say("cluster.epoch_short", { epoch }), number(epoch)].find((text) => widthOf(text) <= room - BESIDE);
    const shapes = [
      {
        id: `${key}-bracket`, tag: "path", d: `M${x - BRACKET} ${high}h-${BRACKET}V${low}h${BRACKET}`, class: "bracket",
      },
    ];
    const place = clear((low + high) / 2 + 4, avoid, high, low);
    if (words !== undefined && low - high >= WORDS_LEAST && place !== null) {
      shapes.push({
        id: key, tag: "text", x: at, y: round(place), class: "m end halo",
        title: say("cluster.epoch_short", { epoch }), text: words,
      });
    }
    return shapes;
  });
}

// Where between two heights a number stands, clear of what is at `avoid`; null: nowhere.
function clear(middle, avoid, high, low) {
  if (avoid === null || Math.abs(middle - avoid) >= LINE) return middle;
  if (avoid + LINE + 5 <= low) return avoid + LINE + 5;
  return avoid - LINE >= high + 8 ? avoid - LINE : null;
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
function shell(id, { x, right, top, high, count, isRoomy, say }) {
  const middle = (x + right) / 2, from = top - SHELL_LEAST, at = round((from + high) / 2), title = say("cluster.lag",
    { count });
  if (from <= high) return [];
  const shapes = [
    { id: `${id}-lacks`, tag: "path", d: `M${x} ${from}V${high}H${right}V${from}`, class: "shell" },
    {
      id: `${id}-behind`, tag: "text", x: middle, y: isRoomy ? at - 4 : at + 4, class: "n b mid halo warn", title,
      text: isRoomy ? number(count) : `−${number(count)}`,
    },
  ];
  if (isRoomy) {
    shapes.push({
      id: `${id}-behind-word`, tag: "text", x: middle, y: at + 12, class: "mid halo warn", text: say("cluster.behind"),
    });
  }
  return shapes;
}

// What was cut off a moment ago lies beside the log, at its own offsets.
function cut(id, { offset, count }, { x, y, room, isRoomy, say }) {
  const width = Math.max(8, Math.min(CUT_WIDTH, room - 2 * BESIDE)), left = round(x - 2 * BESIDE - width);
  const tall = Math.max(CUT_LEAST, y(offset) - y(offset + count)), title = say("cluster.cut_off", { count });
  const shapes = [
    {
      id: `${id}-cut`, tag: "rect", x: left, y: round(y(offset) - tall), width: round(width), height: round(tall),
      class: "cut-off", fill: "url(#cut-off)", title, "data-mark": "cut",
    },
  ];
  const lines = isRoomy ? wrapped(title, room) : [`−${number(count)}`];
  lines.forEach((text, line) =>
    shapes.push({
      id: `${id}-cut-words-${line}`, tag: "text", x: left, class: "m halo", text, title,
      y: round(y(offset) - tall - 6 - (lines.length - 1 - line) * LINE),
    }),
  );
  return shapes;
}
