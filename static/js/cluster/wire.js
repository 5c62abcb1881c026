// What is on the wire. In slow motion, or while the lab stands, each message is a dot where it is; else a dot flies for
// what has just been fetched and answered, as the copies' ends tell.

import { round } from "../drawing/shapes.js";
import { along } from "./links.js";
import { keyOf, nodeName, numberOf, topicOf } from "./names.js";

export const SLOW = 0.5;              // up to this speed messages are shown where they are
export const FLIES_MS = 520;          // a dot's way; the next ones leave when these have come
const SVG = "http://www.w3.org/2000/svg", SLOWER = "cubic-bezier(0.215, 0.61, 0.355, 1)";
const ON_A_WAY = 6, FLY_AT_ONCE = 12, OF_NONE = ["registration", "registered"];
const ANSWERS = ["fetched", "produced", "altered", "epoch_ends", "registered"];

export const isAnswer = (kind) => ANSWERS.includes(kind);

// Messages about one partition, and a broker's registration, by their way; a request or answer that names no partition
// has nothing to say of it.
// -> [{key: of the link, from, to, messages: [{id, message, part}]}]
export function waysOf(cluster, name) {
  const topic = topicOf(name), index = numberOf(name), ways = new Map();
  for (const [id, message] of Object.entries(cluster.wire)) {
    const part = message.parts.find((one) => one[0] === topic && one[1] === index), { from, to } = message;
    const key = keyOf(cluster.links, from, to);
    if (key === undefined || (!part && !OF_NONE.includes(message.kind))) continue;
    if (!ways.has(`${from}>${to}`)) ways.set(`${from}>${to}`, { key, from, to, messages: [] });
    ways.get(`${from}>${to}`).messages.push({ id, message, part });
  }
  return [...ways.values()];
}

// Each on the line of its own link.
export function dots(lines, ways, { atUs, say }) {
  return ways.flatMap(({ key, from, messages }) => {
    const line = lines.find((one) => one.key === key);
    if (!line) return [];                              // one of its ends has no room in the picture
    return messages.slice(0, ON_A_WAY).map(({ id, message, part }) => {
      const share =
        message.due_us === null
          ? 0.42
          : Math.min(0.94, Math.max(0.06, 1 - (message.due_us - atUs) / Math.max(1, message.delay_us)));
      const [x, y] = along(line, line.one === from ? share : 1 - share);
      return {
        id: `wire-${id}`, tag: "circle", cx: round(x), cy: round(y), r: 5.5, "data-message": message.kind,
        class: `dot ${isAnswer(message.kind) ? "answer" : "request"}${message.due_us === null ? " stuck" : ""}`,
        title: messageWords(message.kind, part, say),
      };
    });
  });
}

export function messageWords(kind, part, say) {
  if (!part) return say(`cluster.wire.${kind}`);
  const [, , a, b, c, d, e] = part;
  switch (kind) {
    case "produce": return say(b < 0 ? "cluster.wire.produce" : "cluster.wire.produce_seq", { count: a, sequence: b });
    case "produced": return b ? say("cluster.wire.refused", { code: b }) : say("cluster.wire.produced", { offset: a });
    case "fetch": return say("cluster.wire.fetch", { offset: a, epoch: b });
    case "fetched":
      if (d) return say("cluster.wire.refused", { code: d });
      if (e >= 0) return say("cluster.wire.diverging", { epoch: e, end: part[7] });
      return say(b ? "cluster.wire.fetched" : "cluster.wire.fetched_none", { count: b, hw: c });
    case "epochs": return say("cluster.wire.epochs", { epoch: a });
    case "epoch_ends": return say("cluster.wire.epoch_ends", { epoch: a, end: b });
    case "alter_partition": return say("cluster.wire.alter_partition", { isr: a.join(" ") });
    default: return say(`cluster.wire.${kind}`, { isr: Array.isArray(a) ? a.join(" ") : "" });
  }
}

// What happened between two views of a partition, as dots to fly: {from, to: brokers by id, kind}.
export function flown(before, now) {
  const found = [];
  if (!before || now.leader < 0) return found;
  const leader = String(now.leader), known = now.copies[leader]?.followers ?? {};
  const was = before.copies[leader]?.followers ?? {};
  for (const [broker, copy] of Object.entries(now.copies)) {
    if (broker === leader || !before.copies[broker]) continue;
    const asked = known[broker]?.end ?? -1;
    if (asked >= 0 && asked !== was[broker]?.end) found.push({ kind: "request", from: broker, to: leader });
    if (copy.end > before.copies[broker].end) found.push({ kind: "answer", from: leader, to: broker });
  }
  return found;
}

// Lets dots fly over an SVG layer, each along its own link, as animations of the browser's own: a script that moved
// them
// would lay the page out sixty times a second. isStill(): nothing moves; then nothing flies.
export function createFlights(layer, isStill) {
  const at = ([x, y]) => `translate(${x}px, ${y}px)`;
  return {
    // dots: [{points, kind}]
    add(all) {
      if (isStill()) return;
      for (const { points, kind } of all.slice(0, FLY_AT_ONCE)) {
        const dot = layer.appendChild(document.createElementNS(SVG, "circle")), remove = () => dot.remove();
        dot.setAttribute("r", "5.5");
        dot.setAttribute("class", `dot ${kind}`);
        dot
          .animate(points.map((point) => ({ transform: at(point) })), {
            duration: FLIES_MS, easing: SLOWER, fill: "both",
          })
          .finished.then(remove, remove);
      }
    },
    clear: () => layer.querySelectorAll(".dot").forEach((dot) => dot.remove()),
  };
}

// Where a dot between two brokers flies; null: their link is not drawn.
export function flightOf({ from, to, kind }, lines) {
  const ends = [nodeName(from), nodeName(to)];
  const line = lines.find(({ one, other }) => ends.includes(one) && ends.includes(other));
  return line ? { kind, points: line.one === ends[0] ? line.points : [...line.points].reverse() } : null;
}
