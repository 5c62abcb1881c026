// All partitions as small pictures: a bar per copy up to its end, the level of the high watermark, and the state by colour and sign. One press
// makes a partition the large one.

import { round } from "../draw.js";

export const TILE = 58, TILE_HEIGHT = 48, GAP = 6;
const SIGN = { healthy: "", under_replicated: "−", below_min_isr: "!", offline: "×" };

export const perRow = (width) => Math.max(1, Math.floor((width + GAP) / (TILE + GAP)));

export function height(count, width) {
  return Math.ceil(count / perRow(width)) * (TILE_HEIGHT + GAP);
}

export function layout(cluster, { width, chosen, say }) {
  const columns = perRow(width), shapes = [], isOneTopic = new Set(Object.keys(cluster.partitions).map(topicOf)).size === 1;
  Object.entries(cluster.partitions).forEach(([name, partition], place) => {
    const x = (place % columns) * (TILE + GAP) + 1, y = Math.floor(place / columns) * (TILE_HEIGHT + GAP) + 1;
    shapes.push({
      id: `tile-${name}`, tag: "rect", x, y, width: TILE - 2, height: TILE_HEIGHT - 2, rx: 4, class: `tile ${partition.state}${name === chosen ? " chosen" : ""}`,
      role: "button", "data-part": name, "data-partition": name, tabindex: -1, "aria-pressed": String(name === chosen), "aria-label": tileWords(name, partition, say),
    });
    shapes.push({ id: `tile-name-${name}`, tag: "text", x: x + 5, y: y + 15, class: "n on-tile", text: isOneTopic ? name.slice(name.lastIndexOf("-") + 1) : clip(name) });
    if (SIGN[partition.state]) shapes.push({ id: `tile-sign-${name}`, tag: "text", x: x + TILE - 8, y: y + 15, class: "b end on-tile", text: SIGN[partition.state] });
    shapes.push(...bars(name, partition, x + 5, y + TILE_HEIGHT - 8));
  });
  return shapes;
}

// The copies' ends relative to the longest: a lag of a few records shows, one of thousands too.
function bars(name, partition, x, base) {
  const copies = Object.entries(partition.copies), longest = Math.max(1, ...copies.map(([, { end }]) => end)), pitch = Math.min(14, (TILE - 12) / Math.max(1, copies.length));
  const tall = (end) => round(18 * (end === longest ? 1 : Math.max(0.08, 1 - Math.log2(1 + longest - end) / 12)));
  return copies.map(([broker, copy], place) => ({
    id: `tile-bar-${name}-${broker}`, tag: "rect", x: round(x + place * pitch), y: round(base - tall(copy.end)), width: round(pitch - 3), height: tall(copy.end),
    class: `tile-bar ${copy.role}${copy.is_in_isr ? " in" : " out"}`,
  }));
}

export const topicOf = (name) => name.slice(0, name.lastIndexOf("-"));
const clip = (name) => (name.length > 6 ? `…${name.slice(-5)}` : name);

export const tileWords = (name, partition, say) =>
  say("cluster.tile", { partition: name, state: say(`cluster.state.${partition.state}`), leader: partition.leader < 0 ? say("cluster.nobody") : partition.leader, isr: partition.isr.length, replicas: partition.replicas.length });
