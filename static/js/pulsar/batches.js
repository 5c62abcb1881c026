// The producer's batches, a column for each entry: above who got it, below its messages, each in the colour of its
// key's owner. Under Key_Shared the broker looks at an entry's first key alone, so with default batching a column has
// many colours, and each message of another owner is outlined. Where keys have no owner a column has one colour.

import { NONE, number, percent, sentences } from "../base/say.js";
import { isTextured, paint, textOn } from "../drawing/paint.js";

const COLUMN = 80, ROW = 22, HEAD = 52, WHO = { y: 22, h: 24 }, LETTERS = 7;
const DONE = { a: "acked", h: "handled", ".": "open" }, MARK = { acked: "✓", handled: "•" };

// The entries sent last that fit, the oldest first: [[key, entry]].
export function shown({ recent }, width) {
  const count = Math.max(1, Math.floor(width / COLUMN));
  return Object.entries(recent)
    .sort(([, one], [, other]) => one.at_us - other.at_us || one.part - other.part || one.position - other.position)
    .slice(-count);
}

// Of several partitions or topics with which one: 3:128.
const nameOf = ({ part, position }) => (part === null ? number(position) : `${number(part)}:${number(position)}`);

const rowsOf = ({ keys, size }) => keys.length + (size > keys.length ? 1 : 0);

export const tall = (batches, width) =>
  HEAD + Math.max(1, ...shown(batches, width).map(([, entry]) => rowsOf(entry))) * ROW + 4;

export const kind = ({ kind: known, has_owners: hasOwners }, say) =>
  say(known === "default" && !hasOwners ? "subscription.batching.default_any" : `subscription.batching.${known}`);

export const misplacedIn = ({ owners, to }) => owners.filter((owner) => owner !== to).length;

export function layout(batches, { width, colorOf, say }) {
  const entries = shown(batches, width), shapes = [];
  if (!entries.length) {
    shapes.push({ id: "none", tag: "text", x: 0, y: HEAD, class: "m", text: say("subscription.batches_none") });
  }
  entries.forEach(([position, entry], place) => {
    const x = place * COLUMN, color = colorOf(entry.to), wide = COLUMN - 6, name = nameOf(entry);
    shapes.push({
      id: `at-${position}`, tag: "text", x: x + wide / 2, y: 14, class: "n m mid",
      text: entry.times > 1 ? `${name} ×${entry.times}` : name,
    });
    shapes.push({
      id: `who-${position}`, tag: "rect", x, y: WHO.y, width: wide, height: WHO.h,
      fill: color ? paint(color) : "var(--muted)", class: "oo",
      title: say("subscription.batch_entry", {
        position: name, consumer: entry.to, count: entry.size, times: entry.times,
      }),
    });
    shapes.push(word(`who-word-${position}`, x + wide / 2, WHO.y + 17, entry.to, color, "b mid"));
    entry.keys.forEach((key, row) => {
      const owner = batches.has_owners ? entry.owners[row] : entry.to, isStray = owner !== entry.to;
      const y = HEAD + row * ROW, shade = owner === null ? null : colorOf(owner), done = DONE[entry.done[row]];
      const title = say(
        batches.has_owners
          ? isStray
            ? "subscription.batch_stray"
            : "subscription.batch_message"
          : "subscription.batch_any",
        {
          key: key || say("subscription.batch_keyless"), owner: owner ?? say("subscription.gap"), consumer: entry.to,
          state: say(`subscription.batch_state.${done}`),
        },
      );
      shapes.push({
        id: `cell-${position}-${row}`, tag: "rect", x: x + 2, y: y + 1, width: wide - 4, height: ROW - 3,
        fill: shade ? paint(shade) : "url(#void)", class: isStray ? "stray" : "thin", title,
      });
      shapes.push(word(`key-${position}-${row}`, x + 7, y + 15, short(key), shade, "key-text"));
      if (done !== "open") {
        shapes.push(word(`done-${position}-${row}`, x + wide - 9, y + 15, MARK[done], shade, "mid b"));
      }
    });
    if (entry.size > entry.keys.length) {
      shapes.push({
        id: `more-${position}`, tag: "text", x: x + wide / 2, y: HEAD + entry.keys.length * ROW + 15, class: "n m mid",
        text: `+${entry.size - entry.keys.length}`,
      });
    }
  });
  return shapes;
}

// Text on a consumer's colour.
function word(id, x, y, text, color, look) {
  const isPlain = color && !isTextured(color);
  return {
    id, tag: "text", x, y, class: `n on-cell ${look}${isPlain ? "" : " halo"}`,
    fill: isPlain ? textOn(color) : "var(--ink)", text,
  };
}

const short = (key) =>
  key === "" ? NONE : [...key].length > LETTERS ? `…${[...key].slice(1 - LETTERS).join("")}` : key;

// How many there were and how many went astray; then what the broker hears of a batch that is handled in part.
export function words(batches, say) {
  const { entries, messages, mixed, misplaced, has_owners: hasOwners } = batches;
  if (!hasOwners) {
    return say("subscription.batches_any", {
      entries, messages, each: entries ? (messages / entries).toFixed(1) : NONE,
    });
  }
  if (entries && !mixed && !misplaced) {
    return say("subscription.batches_right", { entries, messages, each: (messages / entries).toFixed(1) });
  }
  return say("subscription.batches_words", {
    entries, messages, each: entries ? (messages / entries).toFixed(1) : NONE, mixed, misplaced,
    part: messages ? percent(misplaced / messages, 0) : NONE,
  });
}

export function ackWords({ index_acks: hears, in_part: [entries, count], gathering }, say) {
  return sentences([
    say(hears ? "subscription.batches_index" : "subscription.batches_whole", { entries, count }),
    say("subscription.batches_gathering", { count: gathering }),
  ]);
}

export function table(batches, say) {
  const isShown = (_, column) => batches.has_owners || column !== 3;  // what is misplaced
  return {
    head: ["entry", "sent_to", "messages", "misplaced", "keys", "sent_times"]
      .filter(isShown)
      .map((code) => say(`subscription.column.${code}`)),
    terms: [null, null, null, null, null, "redelivered"].filter(isShown),
    rows: shown(batches, Infinity)
      .reverse()
      .map(([, entry]) =>
        [
          nameOf(entry), entry.to, number(entry.size), number(misplacedIn(entry)),
          entry.keys.map((key) => key || say("subscription.batch_keyless")).join(say("list.comma")),
          number(entry.times),
        ].filter(isShown),
      ),
  };
}
