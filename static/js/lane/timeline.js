// Changes by virtual time: a mark for each change, in the colour of its consumer. Shape says what: full = joined, ring
// = left, triangle = crashed, half = slow or paused; an open square is what the system did on its own, which is only
// told in the caption of an order that it stands at. A branch leaves the line where it was made, and goes as far as it
// has come. Changes that would overlap are one mark with their number. The newest has its name in bold; older names
// show where there is room. A mark that is pressed, or has the focus, says what was done and when.

import { clock, tickCode } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { draw, round } from "../drawing/shapes.js";
import { laneName } from "./name.js";
import { captionOf } from "./system_marks.js";

export const LINE = 20, AT = "at:";               // AT: a part that is a moment and no order
const BRANCH = 5, TEXT = 44, LETTER = 7.4, APART = 20, TOLD_MAX = 8;

export const LEFT = 10, RIGHT = 14;

// What the system did between two times, as ticks whose place is their moment.
export const systemTicks = (view, system, [from, until]) =>
  system.filter(({ at_us: at }) => at >= from && at <= until).map((mark) => ({
    ...mark, position: `${AT}${mark.at_us}`, color: view.consumers?.[mark.consumer]?.color ?? null,
  }));

// The marks by time, orders of one time in their order, and the time at which the line begins.
function spanOf(view, system = []) {
  const orders = Object.entries(view.timeline)
    .map(([position, tick]) => ({ position, ...tick }))
    .sort((a, b) => a.position - b.position);
  const from = orders.length >= 60 ? orders[0].at_us : 0;
  const all = [...orders, ...systemTicks(view, system, [from, view.at_us])];
  return { ticks: all.sort((a, b) => a.at_us - b.at_us), from };
}

const isSystem = ({ by }) => by === "system";
// What of a cluster is drawn: its orders, else what the system did.
const shownOf = (ticks) => (ticks.every(isSystem) ? ticks : ticks.filter((tick) => !isSystem(tick)));

const rightOf = (width) => Math.max(60, width - RIGHT);

// The time that a place on the line stands for.
export function timeAt(view, { width, x }) {
  const { from } = spanOf(view), share = (x - LEFT) / (rightOf(width) - LEFT);
  return Math.round(from + Math.min(1, Math.max(0, share)) * (view.at_us - from));
}

// shownUs: what the page shows of the past; null: it shows now, which is the end of the line. branches: [{id, letter,
// left_at_us, at_us}], of the lab's others.
export function layout(view, { width, say, shownUs = null, branches = [], system = [], language = "en" }) {
  const { ticks, from } = spanOf(view, system), span = Math.max(1, view.at_us - from), right = rightOf(width);
  const x = (at) => round(LEFT + ((Math.max(at, from) - from) / span) * (right - LEFT));
  const here = shownUs === null ? right : x(shownUs);
  const shapes = [
    { id: "track", tag: "rect", x: 0, y: 0, width, height: 40, class: "track" },
    { id: "line", tag: "path", d: `M${LEFT} ${LINE}H${here}`, class: "axis" },
  ];
  if (here < right) shapes.push({ id: "later", tag: "path", d: `M${here} ${LINE}H${right}`, class: "axis later" });
  const away = branches.filter(({ left_at_us: left }) => left >= from);
  shapes.push(...branchLines(away, (at) => Math.min(x(at), right)));
  const marks = groups(ticks, (tick) => x(tick.at_us));
  for (const { ticks: all, at } of marks) {
    const own = shownOf(all);
    shapes.push(...(own.length === 1 ? mark(own[0], at) : many(own, at)));
  }
  shapes.push({ id: "now", tag: "path", d: `M${right} 8V32`, class: shownUs === null ? "here" : "post" });
  if (shownUs !== null) {
    shapes.push({ id: "shown", tag: "path", d: `M${here} 4V36M${here - 5} 2H${here + 5}L${here} 9Z`, class: "here" });
  }
  shapes.push(...labels(marks, right, view, say));
  // in the order of time: arrow keys follow it
  for (const { ticks: own, at } of [...marks].reverse()) shapes.push(hit(own, at, { view, say, language }));
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

// The clusters of orders, with what the system did so near to one that it stands there; and those of the rest of it.
function groups(ticks, x) {
  const found = clusters(ticks.filter((tick) => !isSystem(tick)), x), rest = [];
  for (const tick of ticks.filter(isSystem)) {
    const near = found.find(({ at }) => Math.abs(at - x(tick)) < APART);
    (near?.ticks ?? rest).push(tick);
  }
  for (const { ticks: own } of found) own.sort((a, b) => a.at_us - b.at_us);
  return [...found, ...clusters(rest, x)].sort((a, b) => b.at - a.at);
}

const many = (ticks, x) => {
  const { position } = ticks.at(-1), half = ticks.length > 9 ? 9 : 7;
  return [
    {
      id: `tick-${position}`, tag: "rect", x: x - half, y: LINE - 9, width: 2 * half, height: 18,
      rx: ticks.every(isSystem) ? 1 : 7,
      class: "o panel",
    },
    { id: `tick-${position}-n`, tag: "text", x, y: LINE + 4.5, class: "n mid", text: String(ticks.length) },
  ];
};

// What was done, and in which lane where it was done in one of several.
function what(tick, view, say, language) {
  const one = isSystem(tick) ? captionOf(tick, language, say) : say(tickCode(tick), tick);
  const others = isSystem(tick) && tick.count > 1 ? [say("each.more", { count: tick.count - 1 })] : [];
  const did = [one, ...others].join(say("list.comma")), model = view.lanes?.[tick.lane]?.model;
  if (!model || view.lane_order.length < 2) return did;
  return say("list.named", { name: laneName(tick.lane, view, say), what: did });
}

// What was done when, a line each: of many the last, after how many more there are.
export function told(ticks, { view, say, language }) {
  const lines = ticks.slice(-TOLD_MAX).map((tick) => `${clock(tick.at_us)} ${what(tick, view, say, language)}`);
  const hidden = ticks.length - lines.length;
  return [...(hidden ? [say("picture.more", { count: hidden })] : []), ...lines];
}

// What a finger, a mouse or the focus meets: larger than the mark. Its caption is the same for all three.
export function hit(ticks, x, context) {
  const { position } = shownOf(ticks).at(-1), { say } = context, text = told(ticks, context).join("\n");
  return {
    id: `hit-${position}`, tag: "rect", x: round(x - APART / 2), y: 2, width: APART, height: 36, rx: 4,
    class: "hit", role: "button", "aria-label": text.replaceAll("\n", say("covers.comma")), "data-tip": text,
    "data-part": position,
  };
}

// One mark at x, on the line.
export function mark(tick, x) {
  const { position, kind, color } = tick, id = `tick-${position}`, fill = paint(color);
  if (isSystem(tick)) return square(id, color, x, LINE);
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

// Of a consumer in its colour, with an outline so that it is seen on every ground.
export function square(id, color, x, y) {
  const box = (half) => ({ tag: "rect", x: x - half, y: y - half, width: 2 * half, height: 2 * half });
  if (color === null) return [{ id, ...box(4.5), class: "o panel" }];
  const stroke = paint(color);
  return [{ id: `${id}-e`, ...box(6), class: "o panel" }, { id, ...box(4), fill: "none", stroke, "stroke-width": 3 }];
}

// Newest first: a name that would touch one already placed is left out.
function labels(marks, right, view, say) {
  const placed = [], shapes = [];
  const named = marks.map(({ ticks, at }) => ({ ticks: shownOf(ticks), at }));
  for (const [index, { ticks, at: x }] of named.filter(({ ticks: [first] }) => !isSystem(first)).entries()) {
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
