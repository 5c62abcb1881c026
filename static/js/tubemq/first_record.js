// From start() to the first record, on one scale and in its parts: each client of this lane, those of the lab's other
// TubeMQ lanes, and what a group that its master balances has to wait where all goes well. A process that starts,
// refusals and the time in which nothing is given are named apart.

import { paint } from "../drawing/paint.js";

const NAME = 150, HEAD = 24, ROW = 30, BAR = 16, RIGHT = 120, LABELLED = 56, LINE = 20, CHARACTER = 8, APART = 60;
export const ROWS_MOST = 8;

// clients: of a panel. -> [{name, us, isOver, parts, apart: [[what, us]]}] the slowest first; isOver: its first
// record has come
export function waits(clients) {
  return Object.entries(clients)
    .filter(([, { first }]) => first !== null)
    .map(([name, { first: { us, is_over: isOver, parts, apart } }]) => ({ name, us, isOver, parts, apart }))
    .sort((one, other) => other.us - one.us);
}

// lanes: [{id, label, waits}]. bound: {parts: [[label, us]]}. -> {shapes, height}
export function layout(lanes, { width, bound, words, colorOf }) {
  const rows = lanes.flatMap(({ id, label, waits: found }) =>
    found.slice(0, ROWS_MOST).map((each) => ({
      ...each, id: `${id}/${each.name}`, label: label ? `${label} ${each.name}` : each.name,
    })),
  );
  const total = bound.parts.reduce((sum, [, us]) => sum + us, 0);
  const most = Math.max(total, ...rows.map(({ us }) => us)), isNarrow = width < 520;
  const left = isNarrow ? 84 : NAME, wide = Math.max(80, width - left - (isNarrow ? 108 : RIGHT));
  const x = (us) => left + (wide * us) / most;
  const shapes = [];
  const centred = (id, at, y, text, look) =>
    shapes.push({ id, tag: "text", x: at, y, "text-anchor": "middle", text, class: look });
  for (const tick of ticks(most, wide)) {
    const d = `M${x(tick)} ${HEAD}V${HEAD + (rows.length + 1) * ROW}`;
    shapes.push({ id: `line/${tick}`, tag: "path", d, class: "rule" });
    centred(`tick/${tick}`, x(tick), 15, words.seconds(tick), "n m");
  }
  rows.forEach(({ id, name, label, us, isOver, parts, apart }, place) => {
    const top = HEAD + place * ROW, end = x(us);
    let from = 0;
    shapes.push(
      { id: `${id}/name`, tag: "text", x: 0, y: top + 20, text: label, class: "b" },
      ...parts.map(([what, partUs], number) => {
        const box = { x: x(from), width: Math.max(3, x(from + partUs) - x(from)) };
        from += partUs;
        const isOpen = what !== "reads" || (!isOver && number === parts.length - 1);
        return {
          id: `${id}/${what}`, tag: "rect", ...box, y: top + 7, height: BAR, title: words.part(what, partUs),
          class: isOpen ? "wait part" : "wait",
        };
      }),
      {
        id: `${id}/chip`, tag: "rect", x: left - 18, y: top + 9, width: 12, height: 12, rx: 2, class: "chip",
        fill: paint(colorOf(name)),
      },
      {
        id: `${id}/time`, tag: "text", ...besideBar(end, width), y: top + 20, class: "n b",
        ...fitting(timeWords(us, isOver, apart, words), timeWords(us, isOver, [], words), end, width),
      },
    );
    from = 0;
    for (const [what, partUs] of parts) {
      const mid = x(from + partUs / 2);
      if (x(partUs) - left > LABELLED && what !== "reads") {
        centred(`${id}/${what}/text`, mid, top + 20, words.wait(what), "m");
      }
      from += partUs;
    }
  });
  const top = HEAD + rows.length * ROW;
  shapes.push({ id: "bound/name", tag: "text", x: 0, y: top + 20, text: words.bound, class: "m" });
  let from = 0;
  bound.parts.forEach(([label, us], place) => {
    const box = { x: x(from), y: top + 7, width: x(from + us) - x(from), height: BAR };
    shapes.push({ id: `bound/${place}`, tag: "rect", ...box, class: "most" });
    centred(`bound/${place}/text`, x(from + us / 2), top + 20, isNarrow ? "" : label, "m");
    from += us;
  });
  shapes.push(
    { id: "bound/time", tag: "text", x: left, y: top + ROW + 14, text: words.atMost(total), class: "m" },
  );
  return { shapes, height: top + ROW + LINE };
}

// Right of the bar, or at its end where there is no room.
const besideBar = (end, width) => (end > width - RIGHT - 8
  ? { x: width, "text-anchor": "end" }
  : { x: end + 8 });

// What is apart is left to the title where it would run over the edge.
const fitting = (whole, brief, end, width) =>
  (end + 8 + CHARACTER * whole.length <= width ? { text: whole } : { text: brief, title: whole });

const timeWords = (us, isOver, apart, words) =>
  [
    isOver ? words.seconds(us) : words.waiting(us),
    ...apart.map(([what, apartUs]) => words.apart(what, apartUs)),
  ].join(" · ");

// In steps of 10 s, or as many of them as their words need.
function ticks(most, wide) {
  const step = 10e6 * Math.max(1, Math.ceil((APART * most) / (wide * 10e6)));
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
}

// -> the table in its place.
export function table(lanes, { words, say }) {
  return {
    head: [say("balance.twin.consumer"), say("balance.tab.first")],
    rows: [
      ...lanes.flatMap(({ label, waits: found }) => found.map(({ name, us, isOver, parts, apart }) => [
        label ? `${label} ${name}` : name,
        [timeWords(us, isOver, apart, words), ...parts.map(([what, partUs]) => words.part(what, partUs))]
          .join(say("list.comma")),
      ])),
      [words.bound, words.atMost(words.total)],
    ],
  };
}
