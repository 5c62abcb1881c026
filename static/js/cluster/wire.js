// What is on the wire. In slow motion, or while the lab stands, each message is where it is, with its numbers; else a
// dot flies for what has just been fetched and answered, as the copies' ends tell.

import { createLabels, widthOf } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";
import { along, keyOf } from "./links.js";
import { boxesOf } from "./network.js";

export const SLOW = 0.5;              // up to this speed messages are shown where they are
export const FLIES_MS = 520;          // a dot's way; the next ones leave when these have come
const SVG = "http://www.w3.org/2000/svg", SLOWER = "cubic-bezier(0.215, 0.61, 0.355, 1)";
const ASIDE = 5, ON_A_WAY = 6, FLY_AT_ONCE = 12, OF_NONE = ["registration", "registered"];
const ANSWERS = ["fetched", "produced", "altered", "epoch_ends", "registered"];
// px from a level link to its words: requests above, answers below
const ABOVE = -9, BELOW = 19, ASCENT = 12, DESCENT = 4, LEVEL_LEAST = 36;

// Messages about one partition, and a broker's registration, by their way; a request or answer that names no partition
// has nothing to say of it.
// -> [{key: of the link, from, to, messages: [{id, message, part}]}]
export function waysOf(cluster, name) {
  const topic = name.slice(0, name.lastIndexOf("-")), index = Number(name.slice(name.lastIndexOf("-") + 1));
  const ways = new Map();
  for (const [id, message] of Object.entries(cluster.wire)) {
    const part = message.parts.find((one) => one[0] === topic && one[1] === index), { from, to } = message;
    const key = keyOf(cluster.links, from, to);
    if (key === undefined || (!part && !OF_NONE.includes(message.kind))) continue;
    if (!ways.has(`${from}>${to}`)) ways.set(`${from}>${to}`, { key, from, to, messages: [] });
    ways.get(`${from}>${to}`).messages.push({ id, message, part });
  }
  return [...ways.values()];
}

// Each on the line of its own link; of several on one way the words of the foremost are shown, and how many follow. No
// two have their words in one place, nor in a node's box.
export function held(cluster, grid, lines, ways, { atUs, say }) {
  const shapes = [], letters = createLabels(boxesOf(cluster, grid), [0, 0, grid.width, Infinity]), loose = [];
  for (const { key, from, to, messages } of ways) {
    const line = lines.find((one) => one.key === key);
    if (!line) continue;                               // one of its ends has no room in the picture
    const isForward = line.one === from, isAnswer = ANSWERS.includes(messages[0].message.kind);
    const spots = messages.slice(0, ON_A_WAY).map(({ id, message }) => {
      const share =
        message.due_us === null
          ? 0.42
          : Math.min(0.94, Math.max(0.06, 1 - (message.due_us - atUs) / Math.max(1, message.delay_us)));
      const [x, y] = along(line, isForward ? share : 1 - share), aside = line.run ? 0 : isAnswer ? ASIDE : -ASIDE;
      shapes.push({
        id: `wire-${id}`, tag: "circle", cx: round(x + aside), cy: round(y), r: 5,
        class: `dot ${ANSWERS.includes(message.kind) ? "answer" : "request"}${message.due_us === null ? " stuck" : ""}`,
      });
      return [round(x + aside), round(y)];
    });
    const [{ message, part }] = messages;
    const text = messageWords(message.kind, part, say) + (messages.length > 1 ? ` +${messages.length - 1}` : "");
    const own = line.run && levelWords(line, text, isAnswer);
    if (own && letters.claim(own.box)) {
      shapes.push({
        id: `wire-words-${from}>${to}`, tag: "text", x: own.x, y: own.y, class: "n mid halo", text: own.text,
      });
    } else if (!line.run) loose.push({ id: `wire-words-${from}>${to}`, spot: spots[0], text });
  }
  for (const { id, spot: [x, y], text } of loose) {
    const at = letters(x, y, text);
    if (at) shapes.push({ id, tag: "text", x: at.x, y: at.y, class: `n halo${at.isEnd ? " end" : ""}`, text });
  }
  return shapes;
}

// Words of a link between brokers stand at its middle, a request's above it and an answer's below; shorter where it is
// short. null: no room.
function levelWords({ run: { reach, y: line }, level, x }, text, isAnswer) {
  const fitting = [text, text.split(/[,，]/)[0]].find((words) => widthOf(words) <= reach - 4);
  const y = line + (isAnswer ? BELOW : ABOVE);
  if (fitting === undefined || level < LEVEL_LEAST) return null;
  const half = widthOf(fitting) / 2;
  return { x, y, text: fitting, box: [x - half, y - ASCENT, x + half, y + DESCENT] };
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
  const leader = String(now.leader), known = now.copies[leader]?.followers ?? {};
  const was = before.copies[leader]?.followers ?? {};
  for (const [broker, copy] of Object.entries(now.copies)) {
    if (broker === leader || !before.copies[broker]) continue;
    const asked = known[broker]?.end ?? -1, came = copy.end - before.copies[broker].end;
    if (asked >= 0 && asked !== was[broker]?.end) {
      found.push({
        kind: "request", from: broker, to: leader, text: say("cluster.flown_fetch", { offset: asked }), offset: asked,
      });
    }
    if (came > 0) {
      found.push({
        kind: "answer", from: leader, to: broker,
        text: say("cluster.flown_records", { count: came, hw: copy.high_watermark }), offset: copy.end,
      });
    }
  }
  return found;
}

// Lets dots fly over an SVG layer, each along the level part of its own link, as animations of the browser's own: a
// script that moved them would lay the page out sixty times a second. isStill(): nothing moves; then nothing flies.
export function createFlights(layer, isStill) {
  const at = ([x, y]) => `translate(${x}px, ${y}px)`;
  return {
    // dots: [{from, to: points, words: of levelWords, or null, kind}]
    add(dots) {
      if (isStill()) return;
      for (const { from, to, words, kind } of dots.slice(0, FLY_AT_ONCE)) {
        const element = layer.appendChild(document.createElementNS(SVG, "g"));
        const dot = element.appendChild(document.createElementNS(SVG, "circle"));
        dot.setAttribute("r", "5");
        dot.setAttribute("class", `dot ${kind}`);
        if (words) {
          const text = element.appendChild(document.createElementNS(SVG, "text"));
          for (const [name, value] of Object.entries({ class: "n mid halo", x: words.x, y: words.y })) {
            text.setAttribute(name, value);
          }
          text.textContent = words.text;
        }
        const remove = () => element.remove();
        dot
          .animate([{ transform: at(from) }, { transform: at(to) }], {
            duration: FLIES_MS, easing: SLOWER, fill: "both",
          })
          .finished.then(remove, remove);
      }
    },
    clear: () => layer.querySelectorAll(".dot").forEach((dot) => dot.parentElement.remove()),
  };
}

// Where a dot between two brokers flies, and its words; null: their link is not drawn.
export function flightOf({ from, to, text, kind }, lines) {
  const line = lines.find(
    ({ one, other, run }) => run && [one, other].includes(`broker-${from}`) && [one, other].includes(`broker-${to}`),
  );
  if (!line) return null;
  const [start, end] =
    line.one === `broker-${from}` ? [line.points[1], line.points[2]] : [line.points[2], line.points[1]];
  return { kind, from: start, to: end, words: levelWords(line, text, kind === "answer") };
}
