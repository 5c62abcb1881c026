// What each client would take, has, releases and registers, as its next pass computes it: a row a client.
//
//     would take A (by the rule) | has H | releases H - (A and S) | registers (A and S) - H
//
// S: subscribable by the client's own map, which is as old as its last query.

import { inTurn } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { chipShapes, placed, tallOf } from "./chips.js";

const NAME = 134, HEAD = 44, PAD = 9, ROW_LEAST = 62, NARROW = 620, LABEL = 96, PERIOD_US = 10e6;
export const ROWS_MOST = 12;
const COLUMNS = ["takes", "has", "releases", "registers"];

// A client that has what it wants and wants what it has needs no row of its own when there are many.
const isQuiet = (client) => client.state === "started" && !client.releases.length && !client.registers.length;

// -> {shown: names, folded: how many more have nothing to do}
export function rowsOf(clients) {
  const names = inTurn(Object.keys(clients));
  if (names.length <= ROWS_MOST) return { shown: names, folded: 0 };
  const busy = names.filter((name) => !isQuiet(clients[name]));
  const shown = inTurn([...busy, ...names.filter((name) => isQuiet(clients[name]))].slice(0, ROWS_MOST));
  return { shown, folded: names.length - shown.length };
}

// The one whose pass is next.
export const nextOf = (clients) =>
  Object.entries(clients)
    .filter(([, client]) => client.next_pass_us !== null && client.state === "started")
    .reduce((best, [name, each]) => (best && clients[best].next_pass_us <= each.next_pass_us ? best : name), null);

// panel: the view's. width: of the picture. chosen: partition. words: of `differenceWords`. -> {shapes, height}
export function layout(panel, { width, atUs, colorOf, words, chosen = null }) {
  const { clients } = panel, { shown } = rowsOf(clients), next = nextOf(clients), isNarrow = width < NARROW;
  const column = isNarrow ? width - LABEL - 12 : (width - NAME - 12) / COLUMNS.length;
  const shapes = isNarrow ? [] : headShapes(column, words);
  let y = isNarrow ? 0 : HEAD;
  for (const name of shown) {
    const client = clients[name], cells = COLUMNS.map((what) => placed(client[what], column - 12));
    const talls = cells.map(tallOf);
    const tall = isNarrow
      ? 34 + talls.reduce((sum, each) => sum + each + 8, 0) + PAD
      : Math.max(ROW_LEAST, Math.max(...talls) + 2 * PAD);
    shapes.push({ id: `${name}/rule`, tag: "path", d: `M0 ${y}H${width}`, class: "rule" });
    if (name === next) {
      shapes.push({ id: `${name}/next`, tag: "rect", x: 0, y: y + 1, width: 3, height: tall - 2, class: "next" });
    }
    shapes.push(...whoShapes(name, client, y, { atUs, color: colorOf(name), words, isNarrow }));
    let line = y + 34;
    COLUMNS.forEach((what, place) => {
      const x = isNarrow ? LABEL : NAME + place * column, top = isNarrow ? line : y + PAD;
      const write = (part, at, text) =>
        shapes.push({ id: `${name}/${what}/${part}`, tag: "text", x: at, y: top + 19, text, class: "m" });
      if (isNarrow) write("label", 12, words.heads[what]);
      if (!client[what].length) write("none", x, "∅");
      for (const { key, x: dx, y: dy } of cells[place]) {
        shapes.push(...chipShapes(`${name}/${what}/${key}`, key, x + dx, top + dy, {
          ...lookOf(panel, name, what, key), color: colorOf(name), title: words.title(what, name, key),
          part: `${what}/${name}/${key}`, isPressed: key === chosen,
        }));
      }
      line += talls[place] + 8;
    });
    y += tall;
  }
  return { shapes, height: Math.max(y, HEAD) };
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
    { id: "head/who", tag: "text", x: 12, y: 15, text: words.who, class: "m" },
    { id: "head/pass", tag: "text", x: 12, y: 33, text: words.pass, class: "m" },
    ...COLUMNS.flatMap((what, place) => [
      { id: `head/${what}`, tag: "text", x: at(place), y: 15, text: words.heads[what], class: "b t15" },
      { id: `head/${what}/formula`, tag: "text", x: at(place), y: 33, text: words.formulas[what], class: "n m" },
    ]),
  ];
}

// Name, node id, state; for one that runs the time to its next pass, as an arc and in figures.
function whoShapes(name, client, y, { atUs, color, words, isNarrow }) {
  const left = client.next_pass_us === null ? null : Math.max(0, client.next_pass_us - atUs);
  const isRunning = client.state === "started" && left !== null;
  const top = [
    {
      id: `${name}/swatch`, tag: "rect", x: 12.5, y: y + 4.5, width: 12, height: 12, rx: 3, class: "chip",
      fill: paint(color),
    },
    { id: `${name}/name`, tag: "text", x: 33, y: y + 16, text: name, class: "b t15" },
    { id: `${name}/node`, tag: "text", x: 41 + 9 * name.length, y: y + 16, text: words.node(client), class: "n m" },
  ];
  if (!isRunning) {
    const text = words.state(client);
    return [...top, { id: `${name}/state`, tag: "text", x: 12, y: y + 35, text, class: words.tone(client) }];
  }
  return [
    ...top,
    { id: `${name}/ring`, tag: "circle", cx: 19, cy: y + 31, r: 6, class: "ring" },
    { id: `${name}/arc`, tag: "path", d: arc(19, y + 31, 6, left / PERIOD_US), class: "arc" },
    { id: `${name}/left`, tag: "text", x: 33, y: y + 36, text: words.left(left, client), class: "n m" },
    {
      id: `${name}/age`, tag: "text", x: isNarrow ? 150 : 12, y: y + (isNarrow ? 16 : 55), text: words.age(client),
      class: "m",
    },
  ];
}

// From the top, clockwise, `share` of the circle.
export function arc(x, y, radius, share) {
  const part = Math.min(0.9999, Math.max(0, share)), angle = 2 * Math.PI * part;
  const end = [x + radius * Math.sin(angle), y - radius * Math.cos(angle)].map((value) => value.toFixed(2));
  return `M${x} ${y - radius}A${radius} ${radius} 0 ${part > 0.5 ? 1 : 0} 1 ${end.join(" ")}`;
}
