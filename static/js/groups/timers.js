// The timers that run: an arc along a lifeline from the last sign of life to now, and a ring at its foot that empties
// as the time runs out.

import { NARROW, halfUp } from "../base/say.js";
import { widthOf } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";

const RADIUS = 12, LOW = 0.34, ARCS_MOST = 8, APART = 4;       // of more members only the arcs that matter

// How a timer looks: calm, or soon over.
const toneOf = (timer, atUs, condition = "running") =>
  condition !== "running" ? "bad" : (timer.until_us - atUs) / timer.of_us < LOW ? "warn" : "calm";

export const isCalm = (one, atUs) => one === undefined || toneOf(one.timer, atUs, one.condition) === "calm";

export const left = (us, say) => {
  const s = Math.max(0, us) / 1e6;
  return s >= 600
    ? `${halfUp(s / 60)}${NARROW}${say("minute")}`
    : `${halfUp(s, s >= 10 ? 0 : 1)}${NARROW}${say("second")}`;
};

// Of a member the timer that is over first; several run at a time. Heartbeats renew the session of a member that does
// not poll: its other one counts.
export function ownTimers(group) {
  const found = new Map();
  for (const timer of Object.values(group.timers)) {
    const member = group.members[timer.member];
    if (!member) continue;
    const before = found.get(member.consumer);
    if (
      member.is_stuck &&
      member.condition === "running" &&
      timer.kind === "session" &&
      group.timers[`poll:${timer.member}`]
    ) {
      continue;
    }
    if (!before || timer.until_us < before.timer.until_us) {
      found.set(member.consumer, { timer, condition: member.condition });
    }
  }
  return found;
}

export const groupTimer = (group) => Object.values(group.timers).find(({ member }) => member === null) ?? null;

// In each column the timer that is over first: of those who stand together it is one of many.
// -> column -> {timer, condition, name: whose it is}
function timersIn(group, grid) {
  const found = new Map();
  for (const [name, one] of ownTimers(group)) {
    const column = grid.columnOf(name), before = found.get(column);
    if (column === undefined || (before && before.timer.until_us <= one.timer.until_us)) continue;
    found.set(column, { ...one, name });
  }
  return found;
}

export function arcs(group, rows, grid, { atUs }) {
  const shapes = [];
  for (const [column, { timer, condition, name }] of timersIn(group, grid)) {
    const x = grid.columns[column], since = timer.until_us - timer.of_us;
    const tone = toneOf(timer, atUs, condition);
    if (tone === "calm" && Object.keys(grid.columns).length > ARCS_MOST) continue;
    const row = rows.findLast(
      ({ items, atUs: at }) => at <= since + 50_000 && items.some(({ exchange }) => exchange.member === name),
    );
    const from = row?.y ?? 44, bulge = Math.min(26, 8 + (grid.now - from) / 16);
    shapes.push({
      id: `arc-${column}`, tag: "path",
      d: `M${x} ${round(from)}C${x + bulge} ${round(from + 8)} ${x + bulge} ${round(grid.now - 8)} ${x} ${grid.now}`,
      class: `timer-arc ${tone}`,
    });
  }
  const own = groupTimer(group);
  if (own) {
    const since = own.until_us - own.of_us, row = rows.find(({ untilUs }) => untilUs >= since - 50_000);
    const from = row?.y ?? 44, x = grid.coordinator;
    shapes.push({
      id: "arc-of-group", tag: "path",
      d: `M${x} ${round(from)}C${x - 18} ${round(from + 8)} ${x - 18} ${round(grid.now - 8)} ${x} ${grid.now}`,
      class: "timer-arc group",
    });
  }
  return shapes;
}

export function rings(group, grid, { atUs, say }) {
  const shapes = [], y = grid.now + 28;
  const ring = (id, x, timer, tone, label) => {
    const share = Math.min(1, Math.max(0, (timer.until_us - atUs) / timer.of_us));
    shapes.push({ id: `face-${id}`, tag: "circle", cx: x, cy: y, r: RADIUS, class: "ring-face" });
    shapes.push({ id: `ring-${id}`, tag: "path", d: sweep(x, y, RADIUS, share), class: `ring ${tone}`, title: label });
  };
  // Where one has no room for its unit all have none, and are seconds.
  const own = groupTimer(group), timers = [...timersIn(group, grid)];
  const leftOf = ({ timer }) => left(timer.until_us - atUs, say);
  const hasUnits = timers.every(([, one]) => widthOf(leftOf(one)) + APART <= grid.pitch);
  for (const [name, one] of timers) {
    const { timer, condition } = one, x = grid.columns[name], isTogether = name === grid.together;
    const tone = toneOf(timer, atUs, condition), label = say(`groups.timer.${timer.kind}`);
    ring(name, x, timer, tone, label);
    shapes.push({
      id: `left-${name}`, tag: "text", x, y: y + 29, class: `n s mid ${tone === "calm" ? "m" : tone}`,
      text: hasUnits ? leftOf(one) : halfUp(Math.max(0, timer.until_us - atUs) / 1e6),
    });
    const below = isTogether
      ? say("groups.first_of", { count: grid.others.length })
      : timer.kind !== "session" && grid.pitch >= 76
        ? label
        : "";
    if (below) {
      shapes.push({
        id: `kind-${name}`, tag: "text", x, y: y + 44, class: `s mid ${tone === "calm" ? "m" : tone}`, text: below,
      });
    }
  }
  const x = grid.coordinator;
  if (own) {
    ring("of-group", x, own, "group", say(`groups.timer.${own.kind}`));
    shapes.push({
      id: "left-of-group", tag: "text", x: x + 20, y: y + 5, class: "n b",
      text: `${say(`groups.timer.${own.kind}`)} ${left(own.until_us - atUs, say)}`,
    });
  }
  const kinds = new Set(timers.map(([, { timer }]) => timer.kind));
  if (kinds.size && !own) {
    shapes.push({
      id: "timers-word", tag: "text", x: x + 20, y: y + 5, class: "m", "data-term": "session_timeout",
      text: say("groups.timers_left", {
        kind: say(`groups.timer.${kinds.has("session") ? "session" : [...kinds][0]}`),
      }),
    });
  }
  return shapes;
}

// A part of a circle from the top, clockwise; what is nearly the whole is drawn whole, as its ends are rounded to one
// point.
export function sweep(x, y, radius, share) {
  if (share <= 0) return "";
  const half = `A${radius} ${radius} 0 0 1 ${x}`;
  if (share >= 0.99) return `M${x} ${y - radius}${half} ${y + radius}${half} ${y - radius}Z`;
  const angle = share * 2 * Math.PI, toX = round(x + radius * Math.sin(angle));
  const toY = round(y - radius * Math.cos(angle));
  return `M${x} ${y - radius}A${radius} ${radius} 0 ${share > 0.5 ? 1 : 0} 1 ${toX} ${toY}`;
}
