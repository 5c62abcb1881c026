// A cursor as a strip. Above: the whole of what is not done, with mark-delete, holes, read position and the join
// positions of newcomers, to scale. Below: the first entries after mark-delete one by one, each in the colour of who
// holds it.

import { number } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";

export const TALL = 194;
const UNREAD = -3, WAITING = -2, ACKED = -1;
const BAR = { y: 40, h: 26 }, CELLS = { y: 126, h: 30 }, CELLS_PHONE = [12, 32], CELLS_WIDE = [32, 96], LABEL = 8;

// cursor: of the view. order: the lane's consumers; colorOf(name). -> shapes.
export function layout(cursor, { width, order, colorOf, say }) {
  return [...overview(cursor, { width, colorOf, say }), ...entries(cursor, { width, order, colorOf, say })];
}

// The scale begins a little before mark-delete, so that what is done is seen, too.
export function scaleOf(cursor, width) {
  const first = cursor.mark_delete + 1, span = Math.max(cursor.end - first, 8);
  const low = Math.max(0, first - Math.ceil(span * 0.12)), high = Math.max(cursor.end, low + 8);
  return {
    low, high, at: (position) => round(((Math.min(Math.max(position, low), high) - low) / (high - low)) * width),
  };
}

function overview(cursor, { width, colorOf, say }) {
  const { low, high, at } = scaleOf(cursor, width), shapes = [], first = cursor.mark_delete + 1;
  const box = (id, from, to, more) =>
    at(to) > at(from) &&
    shapes.push({ id, tag: "rect", x: at(from), y: BAR.y, width: round(at(to) - at(from)), height: BAR.h, ...more });
  box("done", low, first, { class: "acked" });
  box("read", first, cursor.read, { class: "unacked" });
  box("unread", cursor.read, cursor.end, { class: "unread" });
  const holes = Object.entries(cursor.holes).map(([from, last]) => [Number(from), last + 1]);
  for (const [from, to] of holes) box(`hole-${from}`, from, to, { class: "acked" });
  if (cursor.hole_count > holes.length) {
    const from = holes.at(-1)[1];
    box("more-holes", from, cursor.read, { class: "blurred" });
  }
  shapes.push({
    id: "frame", tag: "rect", x: at(low), y: BAR.y, width: round(at(high) - at(low)), height: BAR.h, fill: "none",
    class: "o",
  });
  shapes.push({ id: "mark", tag: "path", class: "post", d: `M${at(first)} ${BAR.y - 8}V${BAR.y + BAR.h + 8}` });
  shapes.push({
    id: "read-at", tag: "path", class: "post thinner", d: `M${at(cursor.read)} ${BAR.y - 4}V${BAR.y + BAR.h + 8}`,
  });
  const words = [
    {
      id: "mark-word", at: at(first), text: `${say("subscription.mark_delete")} ${number(cursor.mark_delete)}`,
      term: "mark_delete", look: "b",
    },
    {
      id: "read-word", at: at(cursor.read), text: `${say("subscription.read_position")} ${number(cursor.read)}`,
      term: "read_position", look: "",
    },
  ];
  shapes.push(...placed(words, width, BAR.y + BAR.h + 24));
  const joins = Object.entries(cursor.joins);
  joins.forEach(([name, limit], place) => {
    const x = at(limit), y = 28 - Math.min(place, 1) * 16;
    const text = say("subscription.joined_at", { consumer: name, position: limit });
    shapes.push(
      { id: `join-${name}`, tag: "path", class: "join", d: `M${x} ${BAR.y + BAR.h}V${y + 4}` },
      {
        id: `join-flag-${name}`, tag: "rect", x: round(x - 5), y: y - 6, width: 10, height: 10,
        fill: paint(colorOf(name)), class: "o",
      },
    );
    if (place < 2) {
      shapes.push({
        id: `join-word-${name}`, tag: "text", x: x > width - 200 ? x - 10 : x + 10, y: y + 3,
        class: `s halo${x > width - 200 ? " end" : ""}`, "data-term": "newcomer",
        text:
          joins.length > 2 && place === 1 ? say("subscription.joined_more", { text, count: joins.length - 2 }) : text,
      });
    }
  });
  return shapes;
}

// Words on one line: those that would meet stand side by side.
function placed(words, width, y) {
  const wide = (text) => [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 2 * LABEL : LABEL), 0);
  const shapes = [];
  let free = 0;
  for (const { id, at, text, term, look } of words) {
    const x = Math.max(free, Math.min(at, width - wide(text)));
    free = x + wide(text) + 12;
    shapes.push({ id, tag: "text", x: round(x), y, class: `n ${look}`, "data-term": term, text });
  }
  // Two that do not fit beside one another at the right end: the first one steps back.
  if (shapes.length === 2 && shapes[1].x + wide(words[1].text) > width) {
    shapes[1].x = round(width - wide(words[1].text));
    shapes[0].x = round(Math.max(0, Math.min(shapes[0].x, shapes[1].x - wide(words[0].text) - 12)));
  }
  return shapes;
}

// A topic that is short as yet has wider cells.
function entries(cursor, { width, order, colorOf, say }) {
  const [few, most] = width < 560 ? CELLS_PHONE : CELLS_WIDE, count = cursor.end <= few ? few : most, shapes = [];
  const pitch = width / count, first = cursor.mark_delete + 1;
  shapes.push({
    id: "near-word", tag: "text", x: 0, y: CELLS.y - 10, class: "m",
    text: say("subscription.near", { position: first }),
  });
  let place = 0;
  for (const [who, run] of cursor.near) {
    const name = order[who];
    const kind = who === ACKED ? "acked" : who === WAITING ? "again" : who === UNREAD ? "unread" : "held";
    for (let step = 0; step < run && place < count; step += 1, place += 1) {
      shapes.push({
        id: `entry-${first + place}`, tag: "rect", x: round(place * pitch + 0.5), y: CELLS.y,
        width: round(Math.max(1, pitch - 1)), height: CELLS.h, rx: 1.5, class: `entry ${kind}`,
        ...(kind === "held" ? { fill: paint(colorOf(name)) } : {}),
        title: say(`subscription.entry.${kind}`, { position: first + place, consumer: name ?? "" }),
      });
    }
  }
  if (!place) {
    shapes.push({
      id: "near-none", tag: "text", x: 0, y: CELLS.y + 20, class: "m", text: say("subscription.near_none"),
    });
  }
  const step = count > 48 ? 16 : count > 24 && width >= 560 ? 4 : 8;
  for (let at = 0; at < Math.min(place, count); at += step) {
    shapes.push({
      id: `near-at-${at}`, tag: "text", x: round(at * pitch), y: CELLS.y + CELLS.h + 18, class: "m n",
      text: number(first + at),
    });
  }
  return shapes;
}

// In words: what is done, what is at whom, what waits.
export const words = (cursor, say) =>
  say("subscription.cursor_words", {
    backlog: cursor.backlog, count: cursor.hole_count, waiting: cursor.waiting,
    unread: Math.max(cursor.end - cursor.read, 0),
  });

export function table(cursors, say) {
  return {
    head: ["partition", "mark_delete", "read", "end", "backlog", "holes", "waiting", "joins"].map((code) =>
      say(`subscription.column.${code}`),
    ),
    terms: [null, "mark_delete", "read_position", null, null, "holes", null, "newcomer"],
    rows: Object.entries(cursors).map(([partition, cursor]) => [
      partition === "-1" ? say("subscription.no_partition") : partition,
      ...["mark_delete", "read", "end", "backlog", "hole_count", "waiting"].map((code) => number(cursor[code])),
      Object.entries(cursor.joins)
        .map(([consumer, position]) => say("subscription.joined_at", { consumer, position }))
        .join(say("list.comma")),
    ]),
  };
}
