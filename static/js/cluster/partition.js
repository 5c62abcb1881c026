// The partition that is looked at: its copies in the columns of their brokers, on one scale of offsets, with the leader's high watermark as
// a level across all of them.

import { round } from "../draw.js";
import { number } from "../say.js";
import { STAGES } from "./network.js";
import { layout as strip } from "./strip.js";
import { rise, ticks, windowOf } from "./window.js";

const FOOT = 58, TOP = 40;

export const stripWidth = (pitch) => Math.max(26, Math.min(84, pitch - 74));

// -> {window, base, top, height of all}; before: the geometry of the last frame.
export function geometry(partition, grid, height, before = null) {
  const base = height - FOOT, top = grid.below + TOP, window = windowOf(partition.copies, base - top, before?.window);
  return { window, base, top, height };
}

// brokers: of the cluster's view.
export function layout(name, partition, grid, place, { brokers, say }) {
  const { window, base } = place, width = stripWidth(grid.pitch), shapes = [], y = (offset) => round(base - rise(window, offset));
  const level = partition.high_watermark === null ? null : y(partition.high_watermark);
  for (const offset of ticks(window)) {
    if (level === null || Math.abs(y(offset) - level) > 12) shapes.push({ id: `tick-${offset}`, tag: "text", x: grid.axis - 10, y: y(offset) + 4, class: "n m end", text: number(offset) });
    shapes.push({ id: `line-${offset}`, tag: "path", d: `M${grid.axis - 6} ${y(offset)}H${grid.width}`, class: "scale" });
  }
  if (level !== null) {
    shapes.push({ id: "level", tag: "path", d: `M${grid.axis - 6} ${level}H${grid.width}`, class: "level" });
    shapes.push({ id: "level-name", tag: "text", x: 0, y: level + 4, class: "b halo", "data-term": "high_watermark", text: `HW ${number(partition.high_watermark)}` });
  }
  for (const [broker, copy] of Object.entries(partition.copies)) {
    const x = round(grid.columns[broker] - width / 2 - 12);
    shapes.push(...strip(`copy-${broker}`, copy, { x, width, base, window, say }));
    foot(copy, brokers[broker], say).forEach(({ text, kind }, line) => {
      shapes.push({ id: `foot-${broker}-${line}`, tag: "text", x: grid.columns[broker] - 12, y: base + 18 + line * 17, class: `mid ${kind}`, text });
    });
  }
  return shapes;
}

// Up to three lines below a strip: role, membership, what it does now.
export function foot(copy, broker, say) {
  const lines = [{ text: roleWords(copy, broker, say), kind: copy.role === "leads" ? "b" : "" }];
  lines.push({ text: say(copy.is_in_isr ? "cluster.in_isr" : "cluster.outside_isr"), kind: copy.is_in_isr ? "m" : "warn" });
  const now = doing(copy, say);
  if (now) lines.push({ text: now, kind: copy.fetch?.step === "failed" ? "bad" : "m" });
  return lines;
}

// broker: whose copy it is. One that does nothing says why in the words of its box.
export const roleWords = (copy, broker, say) =>
  (copy.role === "not_running" && STAGES.includes(broker.stage) ? say(`cluster.stage.${broker.stage}`) : say(`cluster.role.${copy.role}`, { leader: copy.follows, epoch: copy.leader_epoch }));

// What a copy's process does now, in few words; "" for nothing worth it.
export function doing(copy, say) {
  if (copy.role === "leads") return copy.pending_isr ? say("cluster.pending_isr", { isr: copy.pending_isr.join(" ") }) : "";
  if (copy.fetch === null) return "";
  if (copy.fetch.step !== "fetching") return say(`cluster.fetch.${copy.fetch.step}`);
  return copy.lag === null || copy.lag === 0 ? "" : copy.lag < 0 ? say("cluster.ahead", { count: -copy.lag }) : say("cluster.lag", { count: copy.lag });
}
