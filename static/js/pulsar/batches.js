// The producer's batches, a column for each entry: above who got it, below its messages, each in the colour of its key's owner. The broker looks
// at an entry's first key alone, so under default batching a column has many colours, and each message of another owner is outlined.

import { isTextured, paint, textOn } from "../paint.js";
import { NONE, number, percent, sentences } from "../say.js";

const COLUMN = 80, ROW = 22, HEAD = 52, WHO = { y: 22, h: 24 }, LETTERS = 7, DONE = { a: "acked", h: "handled", ".": "open" }, MARK = { acked: "✓", handled: "•" };

// The entries sent last that fit, the oldest first: [[position, entry]].
export function shown({ recent }, width) {
  const count = Math.max(1, Math.floor(width / COLUMN));
  return Object.entries(recent).map(([position, entry]) => [Number(position), entry]).sort(([a, one], [b, other]) => one.at_us - other.at_us || a - b).slice(-count);
}

const rowsOf = ({ keys, size }) => keys.length + (size > keys.length ? 1 : 0);

export const tall = (batches, width) => HEAD + Math.max(1, ...shown(batches, width).map(([, entry]) => rowsOf(entry))) * ROW + 4;

export const misplacedIn = ({ owners, to }) => owners.filter((owner) => owner !== to).length;

export function layout(batches, { width, colorOf, say }) {
  const entries = shown(batches, width), shapes = [];
  if (!entries.length) shapes.push({ id: "none", tag: "text", x: 0, y: HEAD, class: "m", text: say("subscription.batches_none") });
  entries.forEach(([position, entry], place) => {
    const x = place * COLUMN, color = colorOf(entry.to), wide = COLUMN - 6;
    shapes.push({ id: `at-${position}`, tag: "text", x: x + wide / 2, y: 14, class: "n m mid", text: entry.times > 1 ? `${number(position)} ×${entry.times}` : number(position) });
    shapes.push({ id: `who-${position}`, tag: "rect", x, y: WHO.y, width: wide, height: WHO.h, fill: color ? paint(color) : "var(--muted)", class: "oo", title: say("subscription.batch_entry", { position, consumer: entry.to, count: entry.size, times: entry.times }) });
    shapes.push(word(`who-word-${position}`, x + wide / 2, WHO.y + 17, entry.to, color, "b mid"));
    entry.keys.forEach((key, row) => {
      const y = HEAD + row * ROW, owner = entry.owners[row], shade = owner === null ? null : colorOf(owner), isStray = owner !== entry.to, done = DONE[entry.done[row]];
      const title = say(isStray ? "subscription.batch_stray" : "subscription.batch_message", { key: key || say("subscription.batch_keyless"), owner: owner ?? say("subscription.gap"), consumer: entry.to, state: say(`subscription.batch_state.${done}`) });
      shapes.push({ id: `cell-${position}-${row}`, tag: "rect", x: x + 2, y: y + 1, width: wide - 4, height: ROW - 3, fill: shade ? paint(shade) : "url(#void)", class: isStray ? "stray" : "thin", title });
      shapes.push(word(`key-${position}-${row}`, x + 7, y + 15, short(key), shade, "key-text"));
      if (done !== "open") shapes.push(word(`done-${position}-${row}`, x + wide - 9, y + 15, MARK[done], shade, "mid b"));
    });
    if (entry.size > entry.keys.length) shapes.push({ id: `more-${position}`, tag: "text", x: x + wide / 2, y: HEAD + entry.keys.length * ROW + 15, class: "n m mid", text: `+${entry.size - entry.keys.length}` });
  });
  return shapes;
}

// Text on a consumer's colour.
function word(id, x, y, text, color, look) {
  const isPlain = color && !isTextured(color);
  return { id, tag: "text", x, y, class: `n on-cell ${look}${isPlain ? "" : " halo"}`, fill: isPlain ? textOn(color) : "var(--ink)", text };
}

const short = (key) => (key === "" ? NONE : [...key].length > LETTERS ? `…${[...key].slice(1 - LETTERS).join("")}` : key);

// How many there were and how many went astray; then what the broker hears of a batch that is handled in part.
export function words(batches, say) {
  const { entries, messages, mixed, misplaced } = batches;
  if (entries && !mixed && !misplaced) return say("subscription.batches_right", { entries, messages, each: (messages / entries).toFixed(1) });
  return say("subscription.batches_words", { entries, messages, each: entries ? (messages / entries).toFixed(1) : NONE, mixed, misplaced, part: messages ? percent(misplaced / messages, 0) : NONE });
}

export function ackWords({ index_acks: hears, in_part: [entries, count], gathering }, say) {
  return sentences([say(hears ? "subscription.batches_index" : "subscription.batches_whole", { entries, count }), say("subscription.batches_gathering", { count: gathering })]);
}

export function table(batches, say) {
  return {
    head: ["entry", "sent_to", "messages", "misplaced", "keys", "sent_times"].map((code) => say(`subscription.column.${code}`)), terms: [null, null, null, null, null, "redelivered"],
    rows: shown(batches, Infinity).reverse().map(([position, entry]) => [
      number(position), entry.to, number(entry.size), number(misplacedIn(entry)), entry.keys.map((key) => key || say("subscription.batch_keyless")).join(say("list.comma")), number(entry.times),
    ]),
  };
}
