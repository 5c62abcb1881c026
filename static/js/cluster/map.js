// All partitions as tiles: a bar for each copy, as high as its share of the leader's log, solid where it leads and
// dashed
// outside the ISR; the state by the outline and a sign. One press makes a partition the one that is looked at.

import { round } from "../drawing/shapes.js";
import { topicOf } from "./names.js";

const FEW = 16, SOME = 42, LARGE = { tile: 61, tall: 34, gap: 6, hasBars: true };
const SMALL = { tile: 32, tall: 26, gap: 4, hasBars: false }, TINY = { tile: 21, tall: 19, gap: 1, hasBars: false };
const LABEL = 18, BAR = 24, NUMBER = 20;
const SIGN = { healthy: "", under_replicated: "−", below_min_isr: "!", offline: "×" };

// Many partitions: small tiles, each a number and its state, so that all of them are in sight.
const sizeOf = (count) => (count > SOME ? TINY : count > FEW ? SMALL : LARGE);

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
        id: `tile-name-${name}`, tag: "text", x: x + tile / 2 - 1, y: y + tall / 2 + 4, class: "n s mid on-tile",
        text: tile > TINY.tile ? number + sign : number,
      });
      continue;
    }
    shapes.push({
      id: `tile-name-${name}`, tag: "text", x: x + NUMBER, y: y + 15, class: "n s end on-tile", text: number,
    });
    if (sign) {
      shapes.push({
        id: `tile-sign-${name}`, tag: "text", x: x + NUMBER, y: y + 28, class: "b end on-tile", text: sign,
      });
    }
    shapes.push(...bars(name, partition, x + NUMBER + 3, y + tall - 5, tile - NUMBER - 8));
  }
  return shapes;
}

// In the order of the brokers, so that a broker's bar stands at the same place in every tile of its partitions.
function bars(name, partition, x, base, room) {
  const copies = Object.entries(partition.copies).sort(([a], [b]) => a - b);
  const longest = Math.max(1, ...copies.map(([, { end }]) => end)), pitch = Math.min(11, room / Math.max(1,
    copies.length));
  return copies.map(([broker, copy], place) => {
    const tall = round(Math.max(2, (BAR * copy.end) / longest));
    return {
      id: `tile-bar-${name}-${broker}`, tag: "rect", x: round(x + place * pitch), y: round(base - tall),
      width: round(pitch - 2), height: tall, class: `tile-bar ${copy.role}${copy.is_in_isr ? " in" : " out"}`,
    };
  });
}

const tileWords = (name, partition, say) =>
  say("cluster.tile", {
    partition: name, state: say(`cluster.state.${partition.state}`),
    leader: partition.leader < 0 ? say("cluster.nobody") : partition.leader, isr: partition.isr.length,
    replicas: partition.replicas.length,
  });
