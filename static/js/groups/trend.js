// Lag over the last minute, a value a virtual second, as the lab has kept it; its line with an arrow: up, down, or
// level.

import { NONE } from "../base/say.js";
import { round } from "../drawing/shapes.js";

const KEPT = 60, LEAST = 2, SCATTERS = 2;
export const LOOKS_BACK = 30;

// health: of the view. -> partition -> its lags, the oldest first; a partition that came later has fewer.
export function lagsOf({ history = {}, partitions }) {
  const rows = Object.values(history);
  return Object.fromEntries(
    Object.keys(partitions).map((name) => [name, rows.map((row) => row[name]).filter((lag) => lag !== undefined)]),
  );
}

// -> "up" | "down" | "level" | null: whether it grows, by the straight line that fits its last seconds best. How large
// the lag is plays no part: what the line climbs counts against how far the values scatter about it, which is what
// commits do that come every few seconds.
export function direction(values) {
  const recent = values.slice(-LOOKS_BACK), count = recent.length;
  const sum = (list) => list.reduce((total, value) => total + value, 0);
  if (count < 4) return null;
  const middle = (count - 1) / 2, mean = sum(recent) / count;
  const slope =
    sum(recent.map((lag, place) => (place - middle) * (lag - mean))) /
    sum(recent.map((_, place) => (place - middle) ** 2));
  const scatter = Math.sqrt(
    sum(recent.map((lag, place) => (lag - mean - slope * (place - middle)) ** 2)) / (count - 2),
  );
  const change = slope * (count - 1);
  if (Math.abs(change) < Math.max(LEAST, SCATTERS * scatter)) return "level";
  return change > 0 ? "up" : "down";
}

const ARROW = { up: "↑", down: "↓", level: "→" };

// How far back its direction looks, in seconds: less in the first half minute.
export const secondsOf = (values) => Math.min(LOOKS_BACK, values.length);

export function spark(id, values, { x, y, width, height, say }) {
  const way = direction(values), shapes = [];
  if (values.length < 2) return [{ id: `${id}-none`, tag: "text", x, y: y + 13, class: "m", text: NONE }];
  const most = Math.max(1, ...values), step = width / (KEPT - 1), from = x + (KEPT - values.length) * step;
  const points = values.map(
    (value, place) => `${round(from + place * step)} ${round(y + height - (value / most) * (height - 2))}`,
  );
  shapes.push({ id, tag: "path", d: `M${points.join("L")}`, class: `spark ${way === "level" ? "" : way ?? ""}` });
  if (way) {
    shapes.push({
      id: `${id}-way`, tag: "text", x: x + width + 8, y: y + 13,
      class: `b ${{ up: "warn", down: "good", level: "m" }[way]}`, text: ARROW[way], title: say(`groups.trend.${way}`),
    });
  }
  return shapes;
}
