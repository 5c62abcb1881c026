// Lag over the last minute, a value a virtual second, as the lab has kept it; its line with an arrow: up, down, or level.

import { round } from "../draw.js";
import { NONE } from "../say.js";

const KEPT = 60, LEVEL = 0.08;
export const LOOKS_BACK = 12;

// health: of the view. -> partition -> its lags, the oldest first; a partition that came later has fewer.
export function lagsOf({ history = {}, partitions }) {
  const rows = Object.values(history);
  return Object.fromEntries(Object.keys(partitions).map((name) => [name, rows.map((row) => row[name]).filter((lag) => lag !== undefined)]));
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
