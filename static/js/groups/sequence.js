// The sequence chart: the coordinator's lifeline at the left, a lifeline for each member, time downward; the newest row
// stands above the line "now". Time is not to scale: rows follow each other, and a long silence is a gap with its
// length. Below "now" the timers run out. Those of a crowd that nothing sets apart share the last lifeline: what they
// say is one dot a row, with its count.

import { NARROW, halfUp } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { TIME_APART, geometry, isWell, namesOf } from "./columns.js";
import { NAMES, labelOf, moment, noteWords, rowsOf, toneOf } from "./rows.js";
import { arcs, rings } from "./timers.js";

const HEAD = 40, FOOT = 78, ROW = 26, LINE = 16, FIRST_LINE = 17, GAP = 18, DOT = 5, ASIDE = 12;
const NOTE_LEAST = 92, NOTE_ROOM = 44, LETTER = 6.8, BOLD_LETTER = 8.8, NOTE_LETTER = 7.9, WAITS_LEAST = 60;

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
export function needed(group, { say, ...shown }) {
  const { all, grid } = planOf(group, { ...shown, height: 0 });
  return all.reduce((sum, row) => sum + heightOf(row, linesOf(row, grid, say)), HEAD + FOOT + 24);
}

// All rows, and where the lifelines of those who say something in the last of them stand.
function planOf(group, { consumers, isFolded, ...shown }) {
  const all = rowsOf(group.exchanges, { isFolded });
  return {
    all,
    grid: geometry(namesOf(group, consumers, all.slice(-24)), {
      ...shown, group, foot: FOOT, isLong: group.protocol === "consumer",
    }),
  };
}

const heightOf = (row, label) => ROW + label.below.length * LINE + (row.gapUs ? GAP : 0);

// group: of the view; consumers: name -> {color, order}; chosen: number of the exchange that is looked at; named: of a
// crowd, whom the page names.
export function layout(
  group,
  { consumers, available, height, isPhone = false, isFolded = true, atUs, chosen = null, named = [], say },
) {
  const { all, grid } = planOf(group, { consumers, available, height, isPhone, isFolded, atUs, named });
  const rows = placed(all, grid, say).filter((row) =>
    row.items.some(({ exchange }) => grid.columnOf(exchange.member)),
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
  return { shapes, width: grid.width, columns: Object.values(grid.columns), others: grid.others };
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
    if (name === grid.together) {
      shapes.push(...lifelineOfOthers(x, grid, known, say));
      continue;
    }
    const member = known.get(name), isUp = member?.condition === "running", color = consumers[name]?.color;
    shapes.push({ id: `life-${name}`, tag: "path", d: `M${x} ${HEAD}V${now}`, class: `life${isUp ? "" : " gone"}` });
    shapes.push({ id: `life-dot-${name}`, tag: "circle", cx: x, cy: 24, r: 6, fill: paint(color), class: "o" });
    shapes.push({
      id: `life-name-${name}`, tag: "text", x, y: 12, class: `mid ${member?.is_leader ? "b" : ""}`,
      text: `${member?.is_leader ? "★" : ""}${name === "tool" ? say("groups.tool") : name}`,
      title: member?.is_leader ? say("groups.leads") : "",
    });
    const sign = signOf(member);
    if (sign) shapes.push({ id: `life-sign-${name}`, tag: "text", x: x + 10, y: 29, class: "b bad", text: sign });
  }
  return shapes;
}

const signOf = (member) =>
  member === undefined
    ? ""
    : { running: member.is_stuck ? "!" : "", paused: "‖", crashed: "▼", gone: "○" }[member.condition];

// How many they are, and of those that do not run how many of each sort.
function lifelineOfOthers(x, { now, others }, known, say) {
  const signs = new Map(), members = others.map((name) => known.get(name));
  for (const sign of members.map(signOf).filter(Boolean)) signs.set(sign, (signs.get(sign) ?? 0) + 1);
  const isUp = members.some((member) => member && isWell(member));
  return [
    { id: "life-others", tag: "path", d: `M${x} ${HEAD}V${now}`, class: `life many${isUp ? "" : " gone"}` },
    { id: "life-name-others", tag: "text", x, y: 12, class: "mid", text: say("groups.others_word") },
    { id: "life-count-others", tag: "text", x, y: 29, class: "n b mid", text: String(others.length) },
    ...[...signs].map(([sign, count], place) => ({
      id: `life-sign-others-${sign}`, tag: "text", x: x + 20 + place * 34, y: 29, class: "n b bad",
      text: `${sign}${count}`,
    })),
  ];
}

// A request that waits at the coordinator: a bar on its member's lifeline, from its row to its answer's, or to now.
// One whose row is older than all that fit comes down from the top.
function parked(group, rows, grid, { consumers, atUs, say }) {
  const shapes = [], asked = new Map(), answered = new Map(), bars = new Map();
  for (const row of rows) {
    const rowOf = { ask: asked, answer: answered }[row.way];
    for (const { number } of row.items) rowOf?.set(number, row);
  }
  for (const [number, exchange] of Object.entries(group.exchanges)) {
    const column = grid.columnOf(exchange.member), ask = asked.get(number), end = answered.get(number);
    if (column === undefined || exchange.arrived_us === null || exchange.lost_us !== null) continue;
    if (!ask && !end && exchange.answered_us !== null) continue;
    // of those who stand together one bar for all that wait from one row to another
    const id = column === grid.together ? `others-${ask?.id ?? "before"}-${end?.id ?? "now"}` : number;
    const bar = bars.get(id) ?? { column, top: ask?.y ?? HEAD, end, waiting: [] };
    bar.waiting.push(exchange);
    bars.set(id, bar);
  }
  for (const [id, { column, top, end, waiting }] of bars) {
    const x = grid.columns[column], until = end ? end.y : grid.now, count = waiting.length;
    const [{ kind, member }] = waiting;
    const waitedUs = Math.max(...waiting.map((one) => (one.answered_us ?? atUs) - one.arrived_us));
    const isMany = column === grid.together;
    shapes.push({
      id: `parked-${id}`, tag: "rect", x: x - 4, y: top, width: 8, height: Math.max(0, until - top),
      ...(isMany ? {} : { fill: paint(consumers[member]?.color) }),
      class: `parked${end ? "" : " open"}${isMany ? " many" : ""}`,
      title: isMany
        ? say("groups.parked_many", { what: NAMES[kind], count, waited_us: waitedUs })
        : say("groups.parked", { what: NAMES[kind], waited_us: waitedUs }),
    });
    if (!end && until - top > 24 && (isMany || grid.pitch >= WAITS_LEAST)) {
      shapes.push({
        id: `parked-words-${id}`, tag: "text", x: x + 9, y: round(until - 8), class: "s halo",
        text: isMany ? `×${count}` : say("groups.waits", { waited_us: waitedUs }),
      });
    }
  }
  return shapes;
}

const REACHED = 0.96;

function rowShapes(row, grid, { group, consumers, chosen, say, atUs }) {
  const { coordinator } = grid, tone = toneOf(row), shapes = [];
  const dots = dotsOf(row, grid), far = Math.max(...dots.map(({ x }) => x)), id = row.id, y = row.y;
  if (row.gapUs) {
    shapes.push({
      id: `gap-${id}`, tag: "text", x: grid.time - TIME_APART, y: y - ROW / 2 - 4, class: "m end n",
      text: `+${halfUp(row.gapUs / 1e6, row.gapUs < 9.95e6 ? 1 : 0)}${NARROW}${say("second")}`,
    });
  }
  shapes.push({
    id: `at-${id}`, tag: "text", x: grid.time - TIME_APART, y: y + 4, class: "n m end", text: moment(row.atUs),
  });
  const share = flight(row, dots[0].items[0].exchange, group, atUs);
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
  for (const { x, items, isMany } of dots) {
    const [{ number, exchange }] = items, key = isMany ? "others" : number;
    const isThere = share >= REACHED, lost = items.filter((item) => item.exchange.lost_us !== null).length;
    const unheard = items.filter((item) => isUnheard(row, item.exchange, isThere)).length;
    if (row.way !== "ask" && unheard < items.length && (row.way !== "answer" || isThere)) {
      shapes.push({
        id: `out-${id}-${key}`, tag: "path", d: `M${x - DOT - 1} ${y}l-8 -4v8z`, class: `head ${tone}`,
      });
    }
    const isChosen = items.some((item) => item.number === chosen), size = isMany ? DOT + 1 : DOT;
    const what = { what: NAMES[exchange.kind], note: noteWords(exchange.note, say) };
    shapes.push({
      id: `dot-${id}-${key}`, tag: "circle", cx: x, cy: y, r: isChosen ? size + 3 : size,
      ...(isMany ? {} : { fill: paint(consumers[exchange.member]?.color) }),
      class: `dot-of${isMany ? " many" : ""}${isChosen ? " chosen" : ""}`,
      role: "button", tabindex: -1, "data-part": `${id}-${key}`, "data-exchange": number,
      ...(isMany ? { "data-count": items.length } : {}),
      "aria-label": isMany
        ? say("groups.messages_label", { ...what, count: items.length })
        : say("groups.message_label", { ...what, member: exchange.member }),
    });
    if (isMany) {
      shapes.push({
        id: `many-${id}`, tag: "text", x: x + DOT + 6, y: y + 4, class: "n s halo", text: `×${items.length}`,
      });
    }
    if (lost || unheard) {
      shapes.push({
        id: `lost-${id}-${key}`, tag: "path", d: lost ? cross(coordinator + 16, y) : cross(x - 14, y),
        class: "severed",
        ...(isMany ? { title: say("groups.lost_of", { lost: lost || unheard, count: items.length }) } : {}),
      });
    }
    if (
      !isMany &&
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

// The messages of a row where they stand: each on its member's lifeline, those of the others in one.
// -> [{x, items, isMany}], never without items
function dotsOf(row, grid) {
  const found = row.items.filter(({ exchange }) => grid.columnOf(exchange.member));
  const isOf = ({ exchange }) => grid.columnOf(exchange.member) === grid.together, together = found.filter(isOf);
  return [
    ...found.filter((item) => !isOf(item)).map((item) => ({
      x: grid.columns[item.exchange.member], items: [item], isMany: false,
    })),
    ...(together.length ? [{ x: grid.columns[grid.together], items: together, isMany: true }] : []),
  ];
}

const isUnheard = ({ way }, { received_us: received, answered_us: answered }, isThere) =>
  way !== "ask" && received === null && isThere && answered !== null;

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
