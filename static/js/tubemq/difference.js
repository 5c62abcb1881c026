// What each client would take, has, releases and registers, as its next pass computes it: a row a client.
//
//     would take A (by the rule) | has H | releases H - (A and S) | registers (A and S) - H
//
// S: subscribable by the client's own map, which is as old as its last query.

import { inTurn } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { CHIP, chipShapes, linesOf, placed, tallOf } from "./chips.js";

const NAME = 150, PAD = 3, ROW_LEAST = 46, FILLED = 4 * ROW_LEAST, NARROW = 620, LABEL = 96, TOP = 46, PERIOD_US = 10e6;
const LINES_MOST = 12;
export const HEADS = 40, ROWS_MOST = 16;
const COLUMNS = ["takes", "has", "releases", "registers"];

// A client that has what it wants and wants what it has needs no row of its own when there are many.
export const isQuiet = (client) => client.state === "started" && !client.releases.length && !client.registers.length;

// Of many clients have a row: the selected one, of those that have started who has something to do and who holds a
// partition, then who is starting, then the others.
// -> {shown: names, folded: names of those without a row}
export function rowsOf(clients, selected = null) {
  const names = inTurn(Object.keys(clients));
  if (names.length <= ROWS_MOST) return { shown: names, folded: [] };
  const rank = (name) => {
    const { state, has } = clients[name];
    if (name === selected) return 0;
    if (state !== "started") return has.length ? 2 : 3;
    return !isQuiet(clients[name]) ? 1 : has.length ? 2 : 4;
  };
  const byRank = [...names].sort((one, other) => rank(one) - rank(other)), chosen = new Set(byRank.slice(0, ROWS_MOST));
  return { shown: names.filter((name) => chosen.has(name)), folded: names.filter((name) => !chosen.has(name)) };
}

// How many lines of chips every row has, and how tall it is: by how many clients and partitions there are, never by
// who has what, so that nothing moves while partitions do.
function gridOf(panel, shown, column, isNarrow) {
  const keys = Object.keys(panel.partitions), each = Math.ceil(keys.length / Object.keys(panel.clients).length);
  const usual = Math.min(LINES_MOST, linesOf(keys, each, column)), tallFor = (lines) => tallOf(lines) + 2 * PAD;
  if (isNarrow) return { lines: usual, tall: TOP + COLUMNS.length * (tallOf(usual) + 8) + PAD };
  const row = Math.max(ROW_LEAST, Math.floor(FILLED / shown.length), tallFor(usual));
  return { lines: Math.floor((row - 2 * PAD + CHIP.gap) / (CHIP.height + CHIP.gap)), tall: row };
}

// The one whose pass is next.
export const nextOf = (clients) =>
  Object.entries(clients)
    .filter(([, client]) => client.next_pass_us !== null && client.state === "started")
    .reduce((best, [name, each]) => (best && clients[best].next_pass_us <= each.next_pass_us ? best : name), null);

const widthsOf = (width) => {
  const isNarrow = width < NARROW;
  return { isNarrow, column: isNarrow ? width - LABEL - 12 : (width - NAME - 12) / COLUMNS.length };
};

// panel: the view's. width: of the picture. chosen: partition. words: of `differenceWords`. -> {shapes, height}
export function layout(panel, { width, atUs, colorOf, words, chosen = null, selected = null }) {
  const { clients } = panel, { shown } = rowsOf(clients, selected), next = nextOf(clients), shapes = [];
  if (!shown.length) return { shapes, height: FILLED };
  const { isNarrow, column } = widthsOf(width), { lines, tall } = gridOf(panel, shown, column - 12, isNarrow);
  shown.forEach((name, row) => {
    const client = clients[name], y = row * tall;
    shapes.push({ id: `${name}/rule`, tag: "path", d: `M0 ${y + 0.5}H${width}`, class: "rule" });
    if (name === next) {
      shapes.push({ id: `${name}/next`, tag: "rect", x: 0, y: y + 1, width: 3, height: tall - 2, class: "next" });
    }
    shapes.push(...whoShapes(name, client, y, { atUs, color: colorOf(name), words, isNarrow }));
    COLUMNS.forEach((what, place) => {
      const x = isNarrow ? LABEL : NAME + place * column;
      const top = isNarrow ? y + TOP + place * (tallOf(lines) + 8) : y + (tall - tallOf(lines)) / 2;
      const write = (part, at, dy, text, more = {}) =>
        shapes.push({ id: `${name}/${what}/${part}`, tag: "text", x: at, y: top + dy + 18, text, class: "m", ...more });
      if (isNarrow) write("label", 12, 0, words.heads[what]);
      if (!client[what].length) write("none", x, 0, "∅");
      const { places, rest } = placed(client[what], column - 12, lines);
      for (const { key, x: dx, y: dy } of places) {
        shapes.push(...chipShapes(`${name}/${what}/${key}`, key, x + dx, top + dy, {
          ...lookOf(panel, name, what, key), color: colorOf(name), title: words.title(what, name, key),
          part: `${what}/${name}/${key}`, isPressed: key === chosen,
        }));
      }
      if (rest) write("rest", x + rest.x, rest.y, `+${rest.keys.length}`, { title: words.rest(rest.keys), class: "b" });
    });
  });
  return { shapes, height: Math.max(FILLED, shown.length * tall) };
}

// The columns' names; a narrow picture has them in its rows.
export function heads({ width, words }) {
  const { isNarrow, column } = widthsOf(width);
  return isNarrow ? { shapes: [], height: 0 } : { shapes: headShapes(column, words), height: HEADS };
}

function lookOf({ clients, partitions }, name, what, key) {
  const partition = partitions[key], client = clients[name];
  if (what === "takes") return { look: client.closed.includes(key) ? "void" : "has" };
  if (what === "has") return { look: client.pass?.registers.includes(key) ? "moved" : "has" };
  if (what === "releases") return { look: "goes" };
  return { look: partition?.refused.includes(name) || client.pass?.refused?.[key] ? "refused" : "comes" };
}

function headShapes(column, words) {
  const at = (place) => NAME + place * column;
  return [
    { id: "head/who", tag: "text", x: 12, y: 14, text: words.who, class: "m" },
    { id: "head/pass", tag: "text", x: 12, y: 31, text: words.pass, class: "m" },
    ...COLUMNS.flatMap((what, place) => [
      { id: `head/${what}`, tag: "text", x: at(place), y: 14, text: words.heads[what], class: "b t15" },
      { id: `head/${what}/formula`, tag: "text", x: at(place), y: 31, text: words.formulas[what], class: "n m" },
    ]),
  ];
}

// Name, node id, state; for one that runs the time to its next pass, as an arc and in figures.
function whoShapes(name, client, y, { atUs, color, words, isNarrow }) {
  const left = client.next_pass_us === null ? null : Math.max(0, client.next_pass_us - atUs);
  const isRunning = client.state === "started" && left !== null;
  const top = [
    {
      id: `${name}/swatch`, tag: "rect", x: 12.5, y: y + 6.5, width: 12, height: 12, rx: 3, class: "chip",
      fill: paint(color),
    },
    { id: `${name}/name`, tag: "text", x: 33, y: y + 17, text: name, class: "b t15" },
    { id: `${name}/node`, tag: "text", x: 41 + 9 * name.length, y: y + 17, text: words.node(client), class: "n m" },
  ];
  if (!isRunning) {
    const text = words.state(client);
    return [...top, { id: `${name}/state`, tag: "text", x: 12, y: y + 37, text, class: words.tone(client) }];
  }
  return [
    ...top,
    { id: `${name}/ring`, tag: "circle", cx: 19, cy: y + 32, r: 6, class: "ring" },
    { id: `${name}/arc`, tag: "path", d: arc(19, y + 32, 6, left / PERIOD_US), class: "arc" },
    { id: `${name}/left`, tag: "text", x: 33, y: y + 37, text: words.left(left), class: "m" },
    {
      id: `${name}/age`, tag: "text", x: isNarrow ? 180 : 80, y: y + (isNarrow ? 17 : 37), text: words.age(client),
      class: "m", title: words.ageAbout(client),
    },
  ];
}

// From the top, clockwise, `share` of the circle.
export function arc(x, y, radius, share) {
  const part = Math.min(0.9999, Math.max(0, share)), angle = 2 * Math.PI * part;
  const end = [x + radius * Math.sin(angle), y - radius * Math.cos(angle)].map((value) => value.toFixed(2));
  return `M${x} ${y - radius}A${radius} ${radius} 0 ${part > 0.5 ? 1 : 0} 1 ${end.join(" ")}`;
}
