// The sequence chart: the coordinator's lifeline at the left, a lifeline for each member, time downward; the newest row
// stands above the line "now". Time is not to scale: rows follow each other, and a long silence is a gap with its
// length. Below "now" the timers run out.

import { NARROW, halfUp } from "../base/say.js";
import { widthOf } from "../drawing/labels.js";
import { paint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { NAMES, labelOf, noteWords, rowsOf, toneOf } from "./rows.js";
import { arcs, rings } from "./timers.js";

const HEAD = 40, FOOT = 78, ROW = 26, LINE = 16, FIRST_LINE = 17, GAP = 18, DOT = 5, ASIDE = 12, PITCH_LEAST = 34;
const PITCH_MOST = 170, NOTE_LEAST = 92, NOTE_ROOM = 44, LETTER = 6.8, BOLD_LETTER = 8.8, NOTE_LETTER = 7.9;
const TIME_APART = 8, TIME_LEAST = 74;

// -> where things stand: {columns: name -> x, coordinator: x, width, now: y}
export function geometry(names, { available, height, isPhone = false, isLong = false, atUs = 0 }) {
  // as wide as the longest time: from ten minutes on it has a digit more
  const time = Math.max(TIME_LEAST, widthOf(moment(atUs)) + TIME_APART + 2);
  const labels = isPhone ? (isLong ? 164 : 120) : 190, coordinator = time + 18, first = coordinator + labels;
  const pitch = Math.min(PITCH_MOST, Math.max(PITCH_LEAST, (available - first - 8) / Math.max(1, names.length)));
  const columns = Object.fromEntries(names.map((name, place) => [name, round(first + pitch * (place + 0.5))]));
  return {
    time, coordinator, first, pitch, columns, isPhone,
    width: Math.max(available, Math.ceil(first + pitch * names.length + 8)), height, now: height - FOOT,
  };
}

// Who has a lifeline: the group's members, and whoever says something in the exchanges that are shown; by colour.
function namesOf(group, consumers, rows) {
  const names = new Set(Object.values(group.members).map(({ consumer }) => consumer));
  for (const row of rows) for (const { exchange } of row.items) names.add(exchange.member);
  return [...names].sort((a, b) => (consumers[a]?.order ?? 1e9) - (consumers[b]?.order ?? 1e9) || a.localeCompare(b));
}

// The rows that fit, each with its y, the oldest first.
export function placed(rows, grid, say) {
  const found = [];
  let y = grid.now - 20;
  for (const row of [...rows].reverse()) {
    const label = linesOf(row, grid, say), below = label.below.length * LINE;
    if (y - below < HEAD + 20) break;
    found.push({ ...row, label, y: y - below });
    y -= heightOf(row, label);
  }
  return found.reverse();
}

// The words of a row: one line above it, the others below, none as wide as to reach the first lifeline, where dots and
// bars are.
// -> {title, note, below: [{text, isNote}]}
function linesOf(row, grid, say) {
  const room = grid.first + grid.pitch / 2 - DOT - grid.coordinator - 2 * ASIDE, said = labelOf(row, say("list.comma"));
  const note = noteWords(said.note, say);
  const [title, ...rest] = broken(said.title, room, row.way === "quiet" ? LETTER : BOLD_LETTER);
  const notes = note ? broken(note, room, NOTE_LETTER) : [];
  return {
    title, note, whole: said.title,
    below: [...rest.map((text) => ({ text, isNote: false })), ...notes.map((text) => ({ text, isNote: true }))],
  };
}

// A text in lines of that room: between words, a count with its name; a word that is wider after a "_", or before a
// capital of Kafka's names.
export function broken(text, room, letter) {
  const lines = [], isWide = (words) => words.trimEnd().length * letter > room;
  const words = text.match(/[^\s、]+(?: ×[^\s、]+)?[\s、]*/g) ?? [];
  for (const piece of words.flatMap((word) =>
    isWide(word) ? word.split(/(?<=_)|(?<=[a-z])(?=[A-Z])|(?<=\s)(?=×)/) : [word],
  )) {
    if (lines.length && !isWide(lines.at(-1) + piece)) lines[lines.length - 1] += piece;
    else lines.push(piece);
  }
  return lines.map((line) => line.trimEnd());
}

// How high a chart of all rows would be.
export function needed(group, { consumers, available, isPhone, isFolded, atUs, say }) {
  const { all, grid } = planOf(group, { consumers, available, height: 0, isPhone, isFolded, atUs });
  return all.reduce((sum, row) => sum + heightOf(row, linesOf(row, grid, say)), HEAD + FOOT + 24);
}

// All rows, and where the lifelines of those who say something in the last of them stand.
function planOf(group, { consumers, available, height, isPhone, isFolded, atUs }) {
  const all = rowsOf(group.exchanges, { isFolded });
  return {
    all,
    grid: geometry(namesOf(group, consumers, all.slice(-24)), {
      available, height, isPhone, isLong: group.protocol === "consumer", atUs,
    }),
  };
}

const heightOf = (row, label) => ROW + label.below.length * LINE + (row.gapUs ? GAP : 0);

// group: of the view; consumers: name -> {color, order}; chosen: number of the exchange that is looked at.
export function layout(
  group,
  { consumers, available, height, isPhone = false, isFolded = true, atUs, chosen = null, say },
) {
  const { all, grid } = planOf(group, { consumers, available, height, isPhone, isFolded, atUs });
  const rows = placed(all, grid, say).filter((row) =>
    row.items.some(({ exchange }) => exchange.member in grid.columns),
  );
  const shapes = [...lifelines(group, grid, { consumers, say, atUs })];
  if (!rows.length) {
    shapes.push({
      id: "nothing", tag: "text", x: grid.coordinator + 14, y: HEAD + 40, class: "m", text: say("groups.nothing_said"),
    });
  }
  shapes.push(...parked(group, rows, grid, { consumers, atUs, say }), ...arcs(group, rows, grid, { atUs }));
  for (const row of rows) shapes.push(...rowShapes(row, grid, { group, consumers, chosen, say, atUs }));
  shapes.push({ id: "now", tag: "path", d: `M${grid.time - 4} ${grid.now}H${grid.width - 4}`, class: "now" });
  shapes.push({
    id: "now-word", tag: "text", x: grid.time - TIME_APART, y: grid.now + 4, class: "b end", text: say("groups.now"),
  });
  shapes.push(...rings(group, grid, { atUs, say, isPhone }));
  return { shapes, width: grid.width, columns: Object.values(grid.columns) };
}

function lifelines(group, grid, { consumers, say }) {
  const shapes = [], { coordinator, now } = grid;
  const known = new Map();
  for (const member of Object.values(group.members)) {
    if (!(known.get(member.consumer)?.condition === "running")) known.set(member.consumer, member);
  }
  const isThere = group.coordinator !== null;
  shapes.push({
    id: "life", tag: "path", d: `M${coordinator} ${HEAD}V${now}`, class: `life coordinator${isThere ? "" : " gone"}`,
  });
  shapes.push({
    id: "life-name", tag: "text", x: coordinator - 6, y: 16, class: "b", "data-term": "coordinator",
    text: say("groups.coordinator"),
  });
  shapes.push({
    id: "life-broker", tag: "text", x: coordinator - 6, y: 33, class: isThere ? "m" : "bad",
    text: isThere ? say("groups.on_broker", { broker: group.coordinator }) : say("groups.no_coordinator"),
  });
  for (const [name, x] of Object.entries(grid.columns)) {
    const member = known.get(name), isUp = member?.condition === "running", color = consumers[name]?.color;
    shapes.push({ id: `life-${name}`, tag: "path", d: `M${x} ${HEAD}V${now}`, class: `life${isUp ? "" : " gone"}` });
    shapes.push({ id: `life-dot-${name}`, tag: "circle", cx: x, cy: 24, r: 6, fill: paint(color), class: "o" });
    shapes.push({
      id: `life-name-${name}`, tag: "text", x, y: 12, class: `mid ${member?.is_leader ? "b" : ""}`,
      text: `${member?.is_leader ? "★" : ""}${name === "tool" ? say("groups.tool") : name}`,
      title: member?.is_leader ? say("groups.leads") : "",
    });
    const sign =
      member === undefined
        ? ""
        : { running: member.is_stuck ? "!" : "", paused: "‖", crashed: "▼", gone: "○" }[member.condition];
    if (sign) shapes.push({ id: `life-sign-${name}`, tag: "text", x: x + 10, y: 29, class: "b bad", text: sign });
  }
  return shapes;
}

// A request that waits at the coordinator: a bar on its member's lifeline, from its row to its answer's, or to now.
// One whose row is older than all that fit comes down from the top.
function parked(group, rows, grid, { consumers, atUs, say }) {
  const shapes = [], asked = new Map(), answered = new Map();
  for (const row of rows) {
    const rowOf = { ask: asked, answer: answered }[row.way];
    for (const { number } of row.items) rowOf?.set(number, row);
  }
  for (const [number, exchange] of Object.entries(group.exchanges)) {
    const x = grid.columns[exchange.member], ask = asked.get(number), end = answered.get(number);
    if (x === undefined || exchange.arrived_us === null || exchange.lost_us !== null) continue;
    if (!ask && !end && exchange.answered_us !== null) continue;
    const top = ask?.y ?? HEAD, until = end ? end.y : grid.now;
    const waitedUs = (exchange.answered_us ?? atUs) - exchange.arrived_us;
    shapes.push({
      id: `parked-${number}`, tag: "rect", x: x - 4, y: top, width: 8, height: Math.max(0, until - top),
      fill: paint(consumers[exchange.member]?.color), class: `parked${end ? "" : " open"}`,
      title: say("groups.parked", { what: NAMES[exchange.kind], waited_us: waitedUs }),
    });
    if (!end && until - top > 24 && grid.pitch >= 60) {
      shapes.push({
        id: `parked-words-${number}`, tag: "text", x: x + 9, y: round(until - 8), class: "s halo",
        text: say("groups.waits", { waited_us: waitedUs }),
      });
    }
  }
  return shapes;
}

const REACHED = 0.96;

function rowShapes(row, grid, { group, consumers, chosen, say, atUs }) {
  const { coordinator } = grid, tone = toneOf(row), shapes = [];
  const items = row.items.filter(({ exchange }) => exchange.member in grid.columns);
  const far = Math.max(...items.map(({ exchange }) => grid.columns[exchange.member])), id = row.id, y = row.y;
  if (row.gapUs) {
    shapes.push({
      id: `gap-${id}`, tag: "text", x: grid.time - TIME_APART, y: y - ROW / 2 - 4, class: "m end n",
      text: `+${halfUp(row.gapUs / 1e6, row.gapUs < 9.95e6 ? 1 : 0)}${NARROW}${say("second")}`,
    });
  }
  shapes.push({
    id: `at-${id}`, tag: "text", x: grid.time - TIME_APART, y: y + 4, class: "n m end", text: moment(row.atUs),
  });
  const share = flight(row, items[0].exchange, group, atUs);
  const reach =
    row.way === "ask" && share < REACHED
      ? [round(far + (coordinator - far) * share), far]
      : row.way === "answer" && share < REACHED
        ? [coordinator, round(coordinator + (far - coordinator) * share)]
        : [coordinator, far];
  shapes.push({ id: `line-${id}`, tag: "path", d: `M${reach[0]} ${y}H${reach[1]}`, class: `message ${tone}` });
  if (row.way !== "answer" && reach[0] === coordinator) {
    shapes.push({ id: `in-${id}`, tag: "path", d: `M${coordinator + 1} ${y}l8 -4v8z`, class: `head ${tone}` });
  }
  for (const { number, exchange } of items) {
    const x = grid.columns[exchange.member], isLost = exchange.lost_us !== null;
    const isUnheard =
      row.way !== "ask" && exchange.received_us === null && share >= REACHED && exchange.answered_us !== null;
    if (row.way !== "ask" && !isUnheard && (row.way !== "answer" || share >= REACHED)) {
      shapes.push({
        id: `out-${id}-${number}`, tag: "path", d: `M${x - DOT - 1} ${y}l-8 -4v8z`, class: `head ${tone}`,
      });
    }
    shapes.push({
      id: `dot-${id}-${number}`, tag: "circle", cx: x, cy: y, r: chosen === number ? DOT + 3 : DOT,
      fill: paint(consumers[exchange.member]?.color), class: `dot-of${chosen === number ? " chosen" : ""}`,
      role: "button", tabindex: -1, "data-part": `${id}-${number}`, "data-exchange": number,
      "aria-label": say("groups.message_label", {
        what: NAMES[exchange.kind], member: exchange.member, note: noteWords(exchange.note, say),
      }),
    });
    if (isLost || isUnheard) {
      shapes.push({
        id: `lost-${id}-${number}`, tag: "path", d: isLost ? cross(coordinator + 16, y) : cross(x - 14, y),
        class: "severed",
      });
    }
    if (
      (row.way === "answer" || row.way === "both") &&
      row.label.note === "" &&
      exchange.note &&
      !grid.isPhone &&
      grid.pitch >= NOTE_LEAST
    ) {
      // up to the column before, or to the row's own words
      const room = Math.min(grid.pitch - 24, x - 22 - grid.coordinator - 12 - row.label.title.length * BOLD_LETTER);
      if (room >= NOTE_ROOM) {
        shapes.push({
          id: `note-${id}-${number}`, tag: "text", x: x - 18, y: y - 5, class: "n s end halo",
          text: clip(noteWords(exchange.note, say), room, NOTE_LETTER),
        });
      }
    }
  }
  const name = tone === "quiet" ? "m" : "b", x = coordinator + ASIDE;
  shapes.push({
    id: `title-${id}`, tag: "text", x, y: y - 5, class: `halo ${name}`, text: row.label.title, title: row.label.whole,
  });
  row.label.below.forEach(({ text, isNote }, place) =>
    shapes.push({
      id: `${isNote ? "row-note" : "title-more"}-${id}-${place}`, tag: "text", x, y: y + FIRST_LINE + place * LINE,
      class: isNote ? `n s halo ${tone === "plain" ? "m" : tone}` : `halo ${name}`, text,
      title: isNote ? row.label.note : row.label.whole,
    }),
  );
  return shapes;
}

// How far a message on its way has come: 1 when it is there.
function flight(row, exchange, group, atUs) {
  const [from, there] =
    row.way === "answer"
      ? [exchange.answered_us, exchange.received_us]
      : [exchange.sent_us, exchange.arrived_us ?? exchange.received_us];
  return there !== null ? 1 : Math.min(1, Math.max(0.04, (atUs - from) / Math.max(1, group.delay_us * 1.1)));
}

const cross = (x, y) => `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x + 5} ${y - 5}L${x - 5} ${y + 5}`;
const clip = (text, room, letter = LETTER) =>
  text.length * letter <= room ? text : `${text.slice(0, Math.max(1, Math.floor(room / letter) - 1))}…`;

// Minutes, seconds and thousandths: a rebalance takes some of those.
export function moment(us) {
  const ms = Math.max(0, Math.floor(us / 1000));
  const seconds = String(Math.floor(ms / 1000) % 60).padStart(2, "0"), thousandths = String(ms % 1000).padStart(3, "0");
  return `${Math.floor(ms / 60_000)}:${seconds}.${thousandths}`;
}
