// All partitions as small pictures: a bar per copy up to its end, the level of the high watermark, and the state by
// colour and sign. One press makes a partition the large one.

import { round } from "../drawing/shapes.js";

const FEW = 24, LARGE = { tile: 58, tall: 48, gap: 6, hasBars: true };
const SMALL = { tile: 32, tall: 26, gap: 4, hasBars: false }, LABEL = 18;
const SIGN = { healthy: "", under_replicated: "−", below_min_isr: "!", offline: "×" };

// Many partitions: small tiles, each a number and its state, so that all of them are in sight.
const sizeOf = (count) => (count > FEW ? SMALL : LARGE);

// Where each tile stands: topics one below the other, each under its name where there are several. -> {height, labels,
// tiles: [{name, x, y}]}
export function placesOf(names, width) {
  const { tile, tall, gap } = sizeOf(names.length), columns = Math.max(1, Math.floor((width + gap) / (tile + gap)));
  const topics = [...new Set(names.map(topicOf))], labels = [], tiles = [];
  let top = 1;
  for (const topic of topics) {
    const own = names.filter((name) => topicOf(name) === topic);
    if (topics.length > 1) {
      labels.push({ topic, y: top + 12 });
      top += LABEL;
    }
    own.forEach((name, place) =>
      tiles.push({
        name, x: (place % columns) * (tile + gap) + 1, y: top + Math.floor(place / columns) * (tall + gap),
      }),
    );
    top += Math.ceil(own.length / columns) * (tall + gap) + (topics.length > 1 ? gap : 0);
  }
  return { height: top, labels, tiles };
}

export const height = (names, width) => placesOf(names, width).height;

export function layout(cluster, { width, chosen, say }) {
  const names = Object.keys(cluster.partitions), { labels, tiles } = placesOf(names, width);
  const { tile, tall, hasBars } = sizeOf(names.length);
  const shapes = labels.map(({ topic, y }) => ({
    id: `topic-${topic}`, tag: "text", x: 1, y, class: "s m", text: topic,
  }));
  for (const { name, x, y } of tiles) {
    const partition = cluster.partitions[name], number = name.slice(name.lastIndexOf("-") + 1);
    const sign = SIGN[partition.state];
    shapes.push({
      id: `tile-${name}`, tag: "rect", x, y, width: tile - 2, height: tall - 2, rx: 4,
      class: `tile ${partition.state}${name === chosen ? " chosen" : ""}`, role: "button", "data-part": name,
      "data-partition": name, tabindex: -1, "aria-pressed": String(name === chosen),
      "aria-label": tileWords(name, partition, say),
    });
    if (!hasBars) {
      shapes.push({
        id: `tile-name-${name}`, tag: "text", x: x + tile / 2 - 1, y: y + 17, class: "n s mid on-tile",
        text: number + sign,
      });
      continue;
    }
    shapes.push({ id: `tile-name-${name}`, tag: "text", x: x + 5, y: y + 15, class: "n on-tile", text: number });
    if (sign) {
      shapes.push({
        id: `tile-sign-${name}`, tag: "text", x: x + tile - 8, y: y + 15, class: "b end on-tile", text: sign,
      });
    }
    shapes.push(...bars(name, partition, x + 5, y + tall - 8, tile));
  }
  return shapes;
}

// The copies' ends relative to the longest: a lag of a few records shows, one of thousands too.
function bars(name, partition, x, base, tile) {
  const copies = Object.entries(partition.copies), longest = Math.max(1, ...copies.map(([, { end }]) => end));
  const pitch = Math.min(14, (tile - 12) / Math.max(1, copies.length));
  const tall = (end) => round(18 * (end === longest ? 1 : Math.max(0.08, 1 - Math.log2(1 + longest - end) / 12)));
  return copies.map(([broker, copy], place) => ({
    id: `tile-bar-${name}-${broker}`, tag: "rect", x: round(x + place * pitch), y: round(base - tall(copy.end)),
    width: round(pitch - 3), height: tall(copy.end), class: `tile-bar ${copy.role}${copy.is_in_isr ? " in" : " out"}`,
  }));
}

export const topicOf = (name) => name.slice(0, name.lastIndexOf("-"));

const tileWords = (name, partition, say) =>
  say("cluster.tile", {
    partition: name, state: say(`cluster.state.${partition.state}`),
    leader: partition.leader < 0 ? say("cluster.nobody") : partition.leader, isr: partition.isr.length,
    replicas: partition.replicas.length,
  });
