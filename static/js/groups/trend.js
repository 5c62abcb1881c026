// Lag over the last minute, a value a virtual second, kept here as frames come, begun with the last commits; its line with an arrow: up, down, or level.

import { round } from "../draw.js";
import { NONE } from "../say.js";

const KEPT = 60, LEVEL = 0.08;
export const LOOKS_BACK = 12;

export function createTrend() {
  let lags = {}, at = -1;
  return {
    // A time that went back begins anew.
    note(health, atUs) {
      const second = Math.floor(atUs / 1e6);
      if (second === at) return;
      if (second < at) lags = {};
      at = second;
      for (const [name, { lag, commits }] of Object.entries(health.partitions)) lags[name] = [...(lags[name] ?? atCommits(commits, second)), lag].slice(-KEPT);
    },
    get lags() { return lags; },
  };
}

// What the commits before this second tell of a partition that was not looked at then: at each second the lag of the last one.
function atCommits(commits, second) {
  const values = [];
  let place = 0;
  for (let at = commits.length ? Math.ceil(commits[0][0] / 1e6) : second; at < second; at++) {
    while (place + 1 < commits.length && commits[place + 1][0] <= at * 1e6) place++;
    values.push(commits[place][2]);
  }
  return values;
}

// -> "up" | "down" | "level" | null: whether it grows, from the mean of some seconds ago to that of the last ones.
export function direction(values) {
  const recent = values.slice(-LOOKS_BACK);
  if (recent.length < 4) return null;
  const half = Math.floor(recent.length / 2), mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const before = mean(recent.slice(0, half)), now = mean(recent.slice(half)), change = now - before;
  if (Math.abs(change) <= Math.max(1, before * LEVEL)) return "level";
  return change > 0 ? "up" : "down";
}

const ARROW = { up: "↑", down: "↓", level: "→" };

export function spark(id, values, { x, y, width, height, say }) {
  const way = direction(values), shapes = [];
  if (values.length < 2) return [{ id: `${id}-none`, tag: "text", x, y: y + 13, class: "m", text: NONE }];
  const most = Math.max(1, ...values), step = width / (KEPT - 1), from = x + (KEPT - values.length) * step;
  const points = values.map((value, place) => `${round(from + place * step)} ${round(y + height - (value / most) * (height - 2))}`);
  shapes.push({ id, tag: "path", d: `M${points.join("L")}`, class: `spark ${way === "level" ? "" : way ?? ""}` });
  if (way) shapes.push({ id: `${id}-way`, tag: "text", x: x + width + 8, y: y + 13, class: `b ${{ up: "warn", down: "good", level: "m" }[way]}`, text: ARROW[way], title: say(`groups.trend.${way}`) });
  return shapes;
}
