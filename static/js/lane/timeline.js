// Changes by virtual time: a mark for each change, in the colour of its consumer. Shape says what: full = joined, ring
// = left, triangle = crashed, half = slow or paused. A branch leaves the line where it was made, and goes as far as it
// has come. Changes that would overlap are one mark with their number. The newest has its name in bold; older names
// show where there is room. A mark that is pressed, or has the focus, says what was done and when.

import { clock, tickCode } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { draw, round } from "../drawing/shapes.js";
import { laneName } from "./name.js";

export const LINE = 20;
const BRANCH = 5, TEXT = 44, LETTER = 7.4, APART = 20, TOLD_MAX = 8;

const LEFT = 10, RIGHT = 14;

// The marks in the order in which they were made, and the time at which the line begins.
function spanOf(view) {
  const ticks = Object.entries(view.timeline)
    .map(([position, tick]) => ({ position, ...tick }))
    .sort((a, b) => a.position - b.position);
  return { ticks, from: ticks.length >= 60 ? ticks[0].at_us : 0 };
}

const rightOf = (width) => Math.max(60, width - RIGHT);

// The time that a place on the line stands for.
export function timeAt(view, { width, x }) {
  const { from } = spanOf(view), share = (x - LEFT) / (rightOf(width) - LEFT);
  return Math.round(from + Math.min(1, Math.max(0, share)) * (view.at_us - from));
}

// shownUs: what the page shows of the past; null: it shows now, which is the end of the line. branches: [{id, letter,
// left_at_us, at_us}], of the lab's others.
export function layout(view, { width, say, shownUs = null, branches = [] }) {
  const { ticks, from } = spanOf(view), span = Math.max(1, view.at_us - from), right = rightOf(width);
  const x = (at) => round(LEFT + ((Math.max(at, from) - from) / span) * (right - LEFT));
  const here = shownUs === null ? right : x(shownUs);
  const shapes = [
    { id: "track", tag: "rect", x: 0, y: 0, width, height: 40, class: "track" },
    { id: "line", tag: "path", d: `M${LEFT} ${LINE}H${here}`, class: "axis" },
  ];
  if (here < right) shapes.push({ id: "later", tag: "path", d: `M${here} ${LINE}H${right}`, class: "axis later" });
  const away = branches.filter(({ left_at_us: left }) => left >= from);
  shapes.push(...branchLines(away, (at) => Math.min(x(at), right)));
  const marks = clusters(ticks, (tick) => x(tick.at_us));
  for (const { ticks: own, at } of marks) shapes.push(...(own.length === 1 ? mark(own[0], at) : many(own, at)));
  shapes.push({ id: "now", tag: "path", d: `M${right} 8V32`, class: shownUs === null ? "here" : "post" });
  if (shownUs !== null) {
    shapes.push({ id: "shown", tag: "path", d: `M${here} 4V36M${here - 5} 2H${here + 5}L${here} 9Z`, class: "here" });
  }
  shapes.push(...labels(marks, right, view, say));
  // in the order of time: arrow keys follow it
  for (const { ticks: own, at } of [...marks].reverse()) shapes.push(hit(own, at, view, say));
  return shapes;
}

// Each rises from the line where it was made; one that has come no further is as long as its bend. Its letter stands
// at its end, where there is room beside the others'.
function branchLines(branches, x) {
  const taken = [];
  return branches.flatMap(({ id, letter, left_at_us: leftAtUs, at_us: atUs }) => {
    const left = x(leftAtUs), end = Math.max(left + 16, x(atUs));
    const shapes = [{
      id: `branch-${id}`, tag: "path", class: "branch",
      d: `M${left} ${LINE}C${left + 5} ${BRANCH} ${left + 5} ${BRANCH} ${left + 12} ${BRANCH}H${end}`,
    }];
    const width = LETTER * Math.max(1, letter.length);
    if (letter && taken.every((at) => Math.abs(at - end) > width + 4)) {
      taken.push(end);
      shapes.push({ id: `branch-${id}-n`, tag: "text", x: end + 3, y: BRANCH + 4.5, class: "m", text: letter });
    }
    return shapes;
  });
}

// -> [{ at, ticks }], the newest first: what is nearer than APART to a mark's newest change belongs to that mark. Marks
// are APART or more.
export function clusters(ticks, x) {
  const found = [];
  for (const tick of [...ticks].reverse()) {
    const last = found.at(-1);
    if (last && last.at - x(tick) < APART) last.ticks.unshift(tick);
    else found.push({ at: x(tick), ticks: [tick] });
  }
  return found;
}

const many = (ticks, x) => {
  const { position } = ticks.at(-1), half = ticks.length > 9 ? 9 : 7;
  return [
    {
      id: `tick-${position}`, tag: "rect", x: x - half, y: LINE - 9, width: 2 * half, height: 18, rx: 7,
      class: "o panel",
    },
    { id: `tick-${position}-n`, tag: "text", x, y: LINE + 4.5, class: "n mid", text: String(ticks.length) },
  ];
};

// What was done, and in which lane where it was done in one of several.
function what(tick, view, say) {
  const did = say(tickCode(tick), tick), model = view.lanes?.[tick.lane]?.model;
  if (!model || view.lane_order.length < 2) return did;
  return say("list.named", { name: laneName(tick.lane, view, say), what: did });
}

// What a finger, a mouse or the focus meets: larger than the mark. Its caption is the same for all three.
function hit(ticks, x, view, say) {
  const told = ticks.slice(-TOLD_MAX).map((tick) => `${clock(tick.at_us)} ${what(tick, view, say)}`);
  const hidden = ticks.length - told.length;
  const text = [...(hidden ? [say("picture.more", { count: hidden })] : []), ...told].join("\n");
  return {
    id: `hit-${ticks.at(-1).position}`, tag: "rect", x: round(x - APART / 2), y: 2, width: APART, height: 36, rx: 4,
    class: "hit", role: "button", "aria-label": text.replaceAll("\n", say("covers.comma")), "data-tip": text,
    "data-part": ticks.at(-1).position,
  };
}

// One mark at x, on the line.
export function mark({ position, kind, color }, x) {
  const id = `tick-${position}`, fill = paint(color);
  if (kind === "leave") {
    return [
      { id: `${id}-e`, tag: "circle", cx: x, cy: LINE, r: 6.5, class: "o panel" },
      { id, tag: "circle", cx: x, cy: LINE, r: 4.5, fill: "none", stroke: fill, "stroke-width": 3 },
    ];
  }
  if (kind === "crash") {
    const [top, foot] = [LINE - 6, LINE + 7];
    return [{ id, tag: "path", d: `M${x - 7} ${top}H${x + 7}L${x} ${foot}Z`, class: "o", fill }];
  }
  if (kind === "slow" || kind === "pause") {
    return [{ id, tag: "path", d: `M${x - 6} ${LINE}A6 6 0 0 0 ${x + 6} ${LINE}Z`, class: "o", fill }];
  }
  if (kind === "set_algorithm") {
    return [
      {
        id, tag: "rect", x: x - 5, y: LINE - 5, width: 10, height: 10, class: "o panel",
        transform: `rotate(45 ${x} ${LINE})`,
      },
    ];
  }
  return [{ id, tag: "circle", cx: x, cy: LINE, r: 6, class: "o", fill }];
}

// Newest first: a name that would touch one already placed is left out.
function labels(marks, right, view, say) {
  const placed = [], shapes = [];
  for (const [index, { ticks, at: x }] of marks.entries()) {
    if (index > 0 && ticks.length > 1) continue;
    const tick = ticks.at(-1), text = what(tick, view, say);
    const half = ([...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 13 : LETTER), 0)) / 2;
    const at = Math.min(right - half + 8, Math.max(half, x));
    if (placed.some(([from, to]) => at + half + 8 > from && at - half - 8 < to)) continue;
    placed.push([at - half, at + half]);
    shapes.push({
      id: `name-${tick.position}`, tag: "text", x: round(at), y: TEXT, class: index === 0 ? "mid b" : "mid m", text,
    });
  }
  return shapes;
}

export function render(root, view, context) {
  draw(root, layout(view, context));
}
