// The states of the group and what leads from one to the next, as the coordinator's table has them; the state it is in
// is lit, and so is the way by which it came.

import { round } from "../drawing/shapes.js";

const BOX_HEIGHT = 34, STEP = 72, BOX_WIDTH = 164, TOP = 6, FADES_MS = 2500;

export const height = (machine) => TOP * 2 + BOX_HEIGHT + (machine.states.length - 1) * STEP;

// machine: {states: [names, in their order], transitions: [[from, event, to]]}. past: events lit at the moment, as
// "from>to".
export function layout(machine, state, { width, past = [], say }) {
  const middle = round(width / 2), box = Math.min(BOX_WIDTH, width - 130), shapes = [];
  const y = (name) => TOP + machine.states.indexOf(name) * STEP;
  const ways = [], labels = [];
  machine.transitions.forEach(([from, event, to]) => {
    const same = ways.find((way) => way.from === from && way.to === to);
    if (same) same.events.push(event);
    else ways.push({ from, to, events: [event] });
  });
  let lefts = 0, rights = 0;
  for (const { from, to, events } of ways) {
    const steps = machine.states.indexOf(to) - machine.states.indexOf(from), id = `${from}>${to}`;
    const words = events.map((event) => say(`groups.event.${event.replaceAll(" ", "_")}`)).join(" / ");
    const isLit = past.includes(id) ? " lit" : "";
    if (steps === 1) {
      const top = y(from) + BOX_HEIGHT, bottom = y(to);
      shapes.push({ id: `way-${id}`, tag: "path", d: `M${middle} ${top}V${bottom - 7}`, class: `way${isLit}` });
      shapes.push({ id: `tip-${id}`, tag: "path", d: `M${middle} ${bottom - 1}l-4 -8h8z`, class: `tip-of${isLit}` });
      labels.push({
        id: `word-${id}`, tag: "text", x: middle + 9, y: (top + bottom) / 2 + 4, class: `s${isLit ? " b" : " m"}`,
        text: words,
      });
    } else {
      // Back up, or over several states: a curve on the side with more room.
      const isLeft = lefts <= rights, place = isLeft ? lefts++ : rights++, out = box / 2, side = isLeft ? -1 : 1;
      const reach = Math.min(width / 2 - 2, out + 34 + place * 14);
      const a = y(from) + BOX_HEIGHT / 2 + (steps < 0 ? -6 : 6), b = y(to) + BOX_HEIGHT / 2 + (steps < 0 ? 8 : -8);
      const x = middle + side * out, far = middle + side * reach;
      shapes.push({
        id: `way-${id}`, tag: "path", d: `M${x} ${a}C${far} ${a} ${far} ${b} ${round(x + side * 8)} ${b}`,
        class: `way${isLit}`,
      });
      shapes.push({ id: `tip-${id}`, tag: "path", d: `M${x + side} ${b}l${side * 8} -4v8z`, class: `tip-of${isLit}` });
      labels.push({
        id: `word-${id}`, tag: "text", x: isLeft ? 0 : width, y: round((a + b) / 2 + (Math.abs(steps) > 1 ? -16 : 4)),
        class: `s halo${isLit ? " b" : " m"}${isLeft ? "" : " end"}`, text: words,
      });
    }
  }
  shapes.push(...labels);           // above all ways, on a halo: a curve passes behind the words
  for (const name of machine.states) {
    const isNow = name === state;
    shapes.push({
      id: `state-${name}`, tag: "rect", x: round(middle - box / 2), y: y(name), width: box, height: BOX_HEIGHT, rx: 17,
      class: `state${isNow ? " now-in" : ""}`,
    });
    shapes.push({
      id: `state-name-${name}`, tag: "text", x: middle, y: y(name) + 22,
      class: `mid state-name${isNow ? " b now-in" : ""}`, text: name,
    });
  }
  return shapes;
}

// The ways that lead from one state to another by the table, by the fewest steps: what was passed between two frames.
export function path(machine, from, to) {
  const before = new Map([[from, null]]), queue = [from];
  while (queue.length) {
    const name = queue.shift();
    if (name === to) break;
    for (const [one, , other] of machine.transitions) {
      if (one !== name || before.has(other)) continue;
      before.set(other, name);
      queue.push(other);
    }
  }
  const found = [];
  for (let name = to; before.get(name); name = before.get(name)) found.unshift(`${before.get(name)}>${name}`);
  return found;
}

// Remembers for a moment by which ways the group came.
export function createPast(now = () => performance.now()) {
  let state = null, lit = [];
  return function pass(machine, next) {
    if (state !== null && next !== null && next !== state) {
      lit.push(...path(machine, state, next).map((way) => ({ way, until: now() + FADES_MS })));
    }
    state = next ?? state;
    lit = lit.filter(({ until }) => until > now());
    return lit.map(({ way }) => way);
  };
}
