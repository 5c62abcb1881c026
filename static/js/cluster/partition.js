// The partition that is looked at: its copies in the columns of their brokers, on one scale of offsets, with the
// leader's high watermark as a level across all of them.

import { number } from "../base/say.js";
import { wrapped } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";
import { STAGES } from "./network.js";
import { FLAG_ROOM, layout as strip } from "./strip.js";
import { BREAK, breaksOf, rise, ticks, windowOf } from "./window.js";

const FOOT = 58, FOOT_NARROW = 92, NARROW = 140, TOP = 26, LINE = 17, DIGIT = 8, SHIFT = 12, EDGE = 3, LEVEL_APART = 12;

// How wide the strips are, and how far left of their column's middle they stand: the number of the flag has to fit
// beside them.
function stripOf(partition, { pitch }) {
  const width = Math.max(26, Math.min(84, pitch - 74)), rest = (pitch - width) / 2;
  const most = Math.max(0, ...Object.values(partition.copies).map((copy) => number(copy.high_watermark).length));
  const need = FLAG_ROOM + most * DIGIT + EDGE;
  return { width, shift: round(Math.max(Math.min(SHIFT, rest), Math.min(rest - EDGE, need - rest))) };
}

export const stripX = (grid, { strip: { width, shift } }, broker) => round(grid.columns[broker] - width / 2 - shift);

// -> {window, base, top, height of all, strip}; before: the geometry of the last frame.
export function geometry(partition, grid, height, before = null) {
  const base = height - (grid.pitch < NARROW ? FOOT_NARROW : FOOT), top = grid.below + TOP;
  const window = windowOf(partition.copies, base - top, before?.window);
  return { window, base, top, height, strip: stripOf(partition, grid) };
}

// brokers: of the cluster's view.
export function layout(name, partition, grid, place, { brokers, say }) {
  const { window, base, strip: { width, shift } } = place, shapes = [];
  const y = (offset) => round(base - rise(window, offset));
  const level = partition.high_watermark === null ? null : y(partition.high_watermark);
  const middles = breaksOf(window).map(({ high }) => round(base - high + BREAK / 2));
  const marks = level === null ? middles : [...middles, level];
  for (const offset of ticks(window)) {
    if (marks.every((mark) => Math.abs(y(offset) - mark) > LEVEL_APART)) {
      shapes.push({
        id: `tick-${offset}`, tag: "text", x: grid.axis - 10, y: y(offset) + 4, class: "n m end", text: number(offset),
      });
    }
    shapes.push({
      id: `line-${offset}`, tag: "path", d: `M${grid.axis - 6} ${y(offset)}H${grid.width}`, class: "scale",
    });
  }
  middles.forEach((middle, at) =>
    shapes.push({
      id: `break-${at}`, tag: "text", x: grid.axis - 10, y: middle + 4, class: "n m end", text: "≈",
      title: say("cluster.break_key"),
    }),
  );
  if (level !== null) {
    shapes.push({ id: "level", tag: "path", d: `M${grid.axis - 6} ${level}H${grid.width}`, class: "level" });
    shapes.push({
      id: "level-name", tag: "text", x: grid.axis - 10, y: level + 4, class: "b end halo",
      "data-term": "high_watermark", text: `HW ${number(partition.high_watermark)}`,
    });
  }
  for (const [broker, copy] of Object.entries(partition.copies)) {
    const x = stripX(grid, place, broker), room = grid.pitch / 2 - width / 2 - shift - 1;
    shapes.push(...strip(`copy-${broker}`, copy, { x, width, base, window, room, leaderEnd: partition.end, say }));
    let line = 0;
    for (const { text, kind } of foot(copy, brokers[broker], say)) {
      for (const words of wrapped(text, grid.pitch - 2 * EDGE)) {
        shapes.push({
          id: `foot-${broker}-${line}`, tag: "text", x: round(x + width / 2), y: base + 18 + line * LINE,
          class: `mid ${kind}`, text: words,
        });
        line += 1;
      }
    }
  }
  return shapes;
}

// Up to three lines below a strip: role, membership, what it does now.
function foot(copy, broker, say) {
  const lines = [{ text: roleWords(copy, broker, say), kind: copy.role === "leads" ? "b" : "" }];
  lines.push({
    text: say(copy.is_in_isr ? "cluster.in_isr" : "cluster.outside_isr"), kind: copy.is_in_isr ? "m" : "warn",
  });
  const now = doing(copy, say);
  if (now) lines.push({ text: now, kind: copy.fetch?.step === "failed" ? "bad" : "m" });
  return lines;
}

// broker: whose copy it is. One that does nothing says why in the words of its box.
export const roleWords = (copy, broker, say) =>
  copy.role === "not_running" && STAGES.includes(broker.stage)
    ? say(`cluster.stage.${broker.stage}`)
    : say(`cluster.role.${copy.role}`, { leader: copy.follows, epoch: copy.leader_epoch });

// What a copy's process does now, in few words; "" for nothing worth it.
export function doing(copy, say) {
  if (copy.role === "leads") {
    return copy.pending_isr ? say("cluster.pending_isr", { isr: copy.pending_isr.join(" ") }) : "";
  }
  if (copy.fetch === null) return "";
  if (copy.fetch.step !== "fetching") return say(`cluster.fetch.${copy.fetch.step}`);
  return copy.lag === null || copy.lag === 0
    ? ""
    : copy.lag < 0
      ? say("cluster.ahead", { count: -copy.lag })
      : say("cluster.lag", { count: copy.lag });
}
