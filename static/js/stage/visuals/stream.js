// The last records of the workload, oldest left: three lines, by airport for flights, else by the most frequent keys.

import { draw } from "../../drawing/shapes.js";

const LINES = 3, PITCH = 14, LEFT = 54, COUNT = 64, LETTERS = 6;

export function layout(view, { width, say }) {
  const indexes = Object.keys(view.recent).map(Number).sort((a, b) => a - b).slice(-COUNT);
  const isFlights = view.workload.kind === "flights";
  const nameOf = (record) => (isFlights ? record.row?.origin : record.key ?? say("workload.no_key")) ?? "";
  const counts = new Map();
  for (const index of indexes) {
    counts.set(nameOf(view.recent[index]), (counts.get(nameOf(view.recent[index])) ?? 0) + 1);
  }
  const frequent = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
  const lines = isFlights ? frequent.slice(0, LINES).sort() : frequent.slice(0, LINES - 1);
  if (!isFlights && frequent.length > LINES - 1) lines.push(say("workload.others"));
  const pitch = Math.min(9.4, (width - LEFT - 12) / COUNT), side = Math.max(2, pitch - 2.4).toFixed(1);
  const x = (place) => LEFT + (COUNT - indexes.length + place) * pitch;
  let path = "";
  indexes.forEach((index, place) => {
    if (place === indexes.length - 1) return;
    // Filled boxes: the browser would compute the outline of 64 strokes again in each frame.
    path += `M${x(place).toFixed(1)} ${lineY(lines, nameOf(view.recent[index])) - 4}h${side}v8h-${side}z`;
  });
  const labels = shortened(lines);
  const shapes = lines.map((name, line) => ({
    id: `line-${line}`, tag: "text", x: 0, y: 13 + line * PITCH, class: "n m", text: labels[line], title: name,
  }));
  shapes.push({ id: "marks", tag: "path", d: path, class: "marks" });
  if (indexes.length) {
    const last = indexes.length - 1;
    shapes.push({
      id: "last", tag: "rect", x: x(last).toFixed(1), y: lineY(lines, nameOf(view.recent[indexes[last]])) - 4, width: 8,
      height: 8, class: "ink",
    });
  }
  return shapes;
}

// Names with room for LETTERS each: what begins alike is shown from where it differs, as far as its end allows.
export function shortened(names) {
  const letters = names.map((name) => [...name]), heads = letters.map((all) => all.slice(0, LETTERS).join(""));
  return letters.map((all, place) => {
    const alike = letters.filter((_, other) => heads[other] === heads[place]);
    if (all.length <= LETTERS || alike.length < 2) return heads[place];
    const common = all.findIndex((letter, at) => alike.some((other) => other[at] !== letter));
    const from = Math.min(common < 0 ? all.length : common, all.length - LETTERS + 1);
    return `…${all.slice(from, from + LETTERS - 1).join("")}`;
  });
}

function lineY(lines, name) {
  const line = lines.indexOf(name);
  return 8 + (line < 0 ? LINES - 1 : line) * PITCH;
}

export function render(root, view, context) {
  draw(root, layout(view, context));
}
