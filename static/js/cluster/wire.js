// What is on the wire. In slow motion, or while the lab stands, each message is where it is, with its numbers; else a dot flies for what has
// just been fetched and answered, as the copies' ends tell.

import { round } from "../draw.js";
import { createLabels } from "./labels.js";
import { BOX_HEIGHT, boxesOf, clientPlace, nodeName } from "./network.js";

export const SLOW = 0.5;              // up to this speed messages are shown where they are
export const FLIES_MS = 520;          // a dot's way; the next ones leave when these have come
const SVG = "http://www.w3.org/2000/svg", SLOWER = "cubic-bezier(0.215, 0.61, 0.355, 1)";
const ASIDE = 5, ON_A_WAY = 6, FLY_AT_ONCE = 12, QUIET = ["heartbeat", "heartbeat_answer", "metadata"], ANSWERS = ["fetched", "produced", "altered", "epoch_ends", "registered"];

const isBroker = (name) => name.startsWith("broker-");

// Where a message leaves or enters a node: brokers at the lower edge of their boxes, at the upper one for the controller and clients, which do
// below theirs. peer: who it comes from or goes to.
export function whereOf(name, cluster, grid, peer = name) {
  if (name === "controller") return [grid.middle, 36];
  const id = name.slice(name.indexOf("-") + 1);
  return name === nodeName(id) && id in grid.columns ? [grid.columns[id], grid.brokerY + (isBroker(peer) ? BOX_HEIGHT : 0)] : clientPlace(name, cluster, grid);
}

// Messages about one partition, and those about none, between their nodes; of several on one way the words of the foremost are shown, and how
// many follow. No two have their words in one place, nor in a node's box.
export function held(cluster, grid, { name, atUs, say }) {
  const shapes = [], topic = name.slice(0, name.lastIndexOf("-")), index = Number(name.slice(name.lastIndexOf("-") + 1)), ways = new Map();
  for (const [id, message] of Object.entries(cluster.wire)) {
    const part = message.parts.find((one) => one[0] === topic && one[1] === index);
    if (message.parts.length ? !part : QUIET.includes(message.kind)) continue;
    if (![message.from, message.to].every((end) => end === "controller" || isBroker(end) || end in grid.clients)) continue;
    const way = `${message.from}>${message.to}`;
    ways.set(way, [...(ways.get(way) ?? []), { id, message, part }]);
  }
  const placed = [], letters = createLabels(boxesOf(cluster, grid), [0, 0, grid.width, Infinity]);
  let rows = 0;                                         // messages between brokers, a row each
  for (const [way, all] of ways) {
    const [{ message }] = all, [ax, ay] = whereOf(message.from, cluster, grid, message.to), [bx, by] = whereOf(message.to, cluster, grid, message.from);
    const isBetweenBrokers = isBroker(message.from) && isBroker(message.to), sag = isBetweenBrokers ? 14 + 18 * rows++ : 0;
    const aside = isBetweenBrokers ? 0 : ay < by ? ASIDE : -ASIDE;      // requests and answers on one cable, side by side
    all.slice(0, ON_A_WAY).forEach(({ id, message: one, part }, place) => {
      const share = one.due_us === null ? 0.42 : Math.min(0.94, Math.max(0.06, 1 - (one.due_us - atUs) / Math.max(1, one.delay_us)));
      const x = round(ax + (bx - ax) * share + aside), y = round(ay + (by - ay) * share + sag);
      shapes.push({ id: `wire-${id}`, tag: "circle", cx: x, cy: y, r: 5, class: `dot ${ANSWERS.includes(one.kind) ? "answer" : "request"}${one.due_us === null ? " stuck" : ""}` });
      if (place) return;
      placed.push({ way, x, y, text: messageWords(one.kind, part, say) + (all.length > 1 ? ` +${all.length - 1}` : "") });
    });
  }
  for (const { way, x, y, text } of placed) {
    const at = letters(x, y, text);
    if (at) shapes.push({ id: `wire-words-${way}`, tag: "text", x: at.x, y: at.y, class: `n halo${at.isEnd ? " end" : ""}`, text });
  }
  return shapes;
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

// What happened between two views of a partition, as dots to fly: {from, to, text, kind, rank}, brokers by id.
export function flown(before, now, say) {
  const found = [];
  if (!before || now.leader < 0) return found;
  const leader = String(now.leader), known = now.copies[leader]?.followers ?? {}, was = before.copies[leader]?.followers ?? {};
  for (const [broker, copy] of Object.entries(now.copies)) {
    if (broker === leader || !before.copies[broker]) continue;
    const asked = known[broker]?.end ?? -1, came = copy.end - before.copies[broker].end;
    if (asked >= 0 && asked !== was[broker]?.end) found.push({ kind: "request", from: broker, to: leader, text: say("cluster.flown_fetch", { offset: asked }), offset: asked });
    if (came > 0) found.push({ kind: "answer", from: leader, to: broker, text: say("cluster.flown_records", { count: came, hw: copy.high_watermark }), offset: copy.end });
  }
  return found;
}

// Each dot with its row, so that no two that fly the same way have their words in one place: requests and answers in turn.
export function rowsOf(dots, isRightward) {
  const used = new Map();
  return dots.map((dot) => {
    const way = `${dot.kind}/${isRightward(dot)}`, place = used.get(way) ?? 0;
    used.set(way, place + 1);
    return { ...dot, row: place * 2 + (dot.kind === "answer" ? 1 : 0) };
  });
}

// Lets dots fly over an SVG layer, as animations of the browser's own: a script that moved them would lay the page out sixty times a second.
// isStill(): nothing moves; then nothing flies.
export function createFlights(layer, isStill) {
  const at = ([x, y]) => `translate(${x}px, ${y}px)`;
  return {
    add(dots) {
      if (isStill()) return;
      for (const { from, to, text, kind } of dots.slice(0, FLY_AT_ONCE)) {
        const element = document.createElementNS(SVG, "g"), dot = element.appendChild(document.createElementNS(SVG, "circle"));
        dot.setAttribute("r", "5");
        dot.setAttribute("class", `dot ${kind}`);
        const words = element.appendChild(document.createElementNS(SVG, "text"));
        const isLeftward = to[0] < from[0];               // words follow the dot: those of the other way never meet them
        words.setAttribute("class", `n s halo${isLeftward ? " end" : ""}`);
        words.setAttribute("x", isLeftward ? "-8" : "8");
        words.setAttribute("y", "4");
        words.textContent = text;
        layer.append(element);
        const remove = () => element.remove();
        element.animate([{ transform: at(from) }, { transform: at(to) }], { duration: FLIES_MS, easing: SLOWER, fill: "both" }).finished.then(remove, remove);
      }
    },
    clear: () => layer.querySelectorAll(".dot").forEach((dot) => dot.parentElement.remove()),
  };
}
