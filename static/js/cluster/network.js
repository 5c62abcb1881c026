// Where brokers and the controller stand, and the links between them: the columns of the whole picture.

import { inTurn, number } from "../base/say.js";
import { widthOf } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";
import { roomOf } from "./links.js";

const BOX_HEIGHT = 46;
const DIGIT = 8, BESIDE_DIGITS = 46;          // px of a digit of the axis; of its mark and the letters HW
const WIDE_LEAST = 80, NARROW_LEAST = 46, NARROW_SHARE = 0.5;
const CONTROLLER_Y = 6, CONTROLLER_HEIGHT = 30, CONTROLLER_WIDTH = 120, PRODUCER_WIDTH = 92, BROKER_Y = 78;
const CLIENT_GAP = 6, CLIENT_PAD = 20, CLIENT_LETTER = 8, MORE_WIDTH = 34, PAD = 8, SANS = 0.87;
const SIGNS = { running: "✓", paused: "‖", crashed: "×", down: "×", disk_lost: "×", fenced: "!" };
// In which a broker's process is not simply running.
export const STAGES = ["starting", "recovering", "shutting_down", "down", "paused", "crashed"];

// -> {columns: broker id -> middle of its column, width, head, foot: y of the lower edges of clients and of brokers,
// below: y at which the strips may begin, ...}
// held: brokers that have a copy of the large partition: theirs are the wide columns. highest: offset that the axis has
// to name. reader: the consumer that reads the large partition.
export function columnsOf(cluster, available, held, highest = 0, reader = null) {
  const axis = BESIDE_DIGITS + DIGIT * Math.max(2, number(highest).length);
  const ids = Object.keys(cluster.brokers), isWide = (id) => held.includes(id) || !held.length;
  const wides = ids.filter(isWide).length, narrows = ids.length - wides;
  const wide = Math.max(WIDE_LEAST, (available - axis) / (wides + narrows * NARROW_SHARE));
  const narrow = Math.max(NARROW_LEAST, wide * NARROW_SHARE);
  const pitch = narrows ? Math.max(WIDE_LEAST, (available - axis - narrows * narrow) / wides) : wide, columns = {};
  const boxes = {};
  let x = axis;
  for (const id of ids) {
    const own = isWide(id) ? pitch : narrow;
    columns[id] = round(x + own / 2);
    boxes[id] = Math.min(132, own - 10);
    x += own;
  }
  const width = Math.max(available, Math.round(x)), middle = round(axis + (width - axis) / 2);
  const foot = BROKER_Y + BOX_HEIGHT;
  return {
    columns, boxes, axis, width, pitch, brokerY: BROKER_Y, foot, head: CONTROLLER_Y + CONTROLLER_HEIGHT,
    below: foot + roomOf(ids.length), middle, ...clientsOf(cluster, width, middle, reader),
  };
}

// Producers at the left of the controller, consumers at its right, each in the order of their numbers, the first ones
// where not all have room; the reader of the large partition always has. -> {clients: name -> {x, width}, more:
// {producer, consumer}: how many have no room}
function clientsOf(cluster, width, middle, reader) {
  const clients = {}, more = {}, half = CONTROLLER_WIDTH / 2 + 14;
  for (const [kind, room] of [["producer", middle - half], ["consumer", width - middle - half]]) {
    const all = inTurn(Object.keys(cluster.clients ?? {}).filter((name) => cluster.clients[name].kind === kind));
    const shown = withRoom(all, room, reader);
    const used = shown.reduce((sum, name) => sum + pillWidth(name) + CLIENT_GAP, 0);
    let x = kind === "producer" ? 1 : width - 1 - used + CLIENT_GAP;
    for (const name of shown) {
      clients[name] = { x, width: pillWidth(name) };
      x += pillWidth(name) + CLIENT_GAP;
    }
    more[kind] = { count: all.length - shown.length, x: kind === "producer" ? 1 + used : width - 1 - used };
  }
  return { clients, more };
}

const pillWidth = (name) => (name === "producer" ? PRODUCER_WIDTH : name.length * CLIENT_LETTER + CLIENT_PAD);

// The first of them that fit, one in any case, and the one that matters.
function withRoom(all, room, matters) {
  const first = all.includes(matters) ? [matters, ...all.filter((name) => name !== matters)] : all, shown = [];
  let used = 0;
  for (const name of first) {
    used += pillWidth(name) + CLIENT_GAP;
    if (shown.length && used + (shown.length + 1 < all.length ? MORE_WIDTH : 0) > room + CLIENT_GAP) break;
    shown.push(name);
  }
  return inTurn(shown);
}

// What nodes cover, as rectangles [left, top, right, bottom].
export function boxesOf(cluster, { columns, boxes, brokerY, clients, middle, head: low }) {
  const half = CONTROLLER_WIDTH / 2;
  return [
    [middle - half, CONTROLLER_Y, middle + half, low],
    ...Object.values(clients).map(({ x, width }) => [x, CONTROLLER_Y, x + width, low]),
    ...Object.keys(cluster.brokers).map((id) => [
      columns[id] - boxes[id] / 2, brokerY, columns[id] + boxes[id] / 2, brokerY + BOX_HEIGHT,
    ]),
  ];
}

const nodeName = (id) => `broker-${id}`;
const idOf = (name) => name.slice(name.indexOf("-") + 1);

// lines: of linkLines.
export function layout(cluster, grid, lines, { say, chosen = null, reader = null }) {
  const shapes = [];
  for (const line of lines) {
    const { cut, slow } = cluster.links[line.key], isSlow = Object.keys(slow).length > 0;
    shapes.push({
      id: `link-${line.key}`, tag: "path", d: line.d,
      class: [
        "cable", line.isClient && "client", cut.length && "cut", isSlow && "slow", chosen === line.key && "chosen",
      ].filter(Boolean).join(" "),
    });
    if (cut.length) shapes.push(...cutMark(line, cut));
    shapes.push({
      id: `hit-${line.key}`, tag: "path", d: line.d, class: "cable-hit", role: "button", "data-part": line.key,
      "data-link": line.key, "aria-pressed": String(chosen === line.key), tabindex: -1,
      "aria-label": linkWords(line.key, cluster, say),
    });
  }
  shapes.push(...clientShapes(cluster, grid, say, chosen, reader));
  const left = round(grid.middle - CONTROLLER_WIDTH / 2), { condition } = cluster.controller;
  shapes.push({
    id: "controller", tag: "rect", x: left, y: CONTROLLER_Y, width: CONTROLLER_WIDTH, height: CONTROLLER_HEIGHT, rx: 4,
    class: `node ${condition}`,
  });
  shapes.push({
    id: "controller-name", tag: "text", x: grid.middle, y: CONTROLLER_Y + 20, class: "mid b",
    text: say("cluster.controller"),
  });
  for (const [id, broker] of Object.entries(cluster.brokers)) {
    shapes.push(...brokerShapes(id, broker, grid, say, chosen));
  }
  return shapes;
}

function clientShapes(cluster, grid, say, chosen, reader) {
  const shapes = [];
  for (const [name, { x, width }] of Object.entries(grid.clients)) {
    const { condition } = cluster.clients[name];
    shapes.push({
      id: `client-${name}`, tag: "rect", x: round(x), y: CONTROLLER_Y, width, height: CONTROLLER_HEIGHT, rx: 15,
      class: `node client ${condition}${chosen === name ? " chosen" : ""}`, role: "button", "data-part": name,
      "data-client": name, tabindex: -1, "aria-pressed": String(chosen === name),
      "aria-label": clientWords(name, cluster, say),
    });
    shapes.push({
      id: `client-name-${name}`, tag: "text", x: round(x + width / 2), y: CONTROLLER_Y + 20,
      class: `mid on-node ${name === reader || cluster.clients[name].kind === "producer" ? "b" : ""}`,
      text: nodeWords(name, say),
    });
  }
  for (const [kind, { count, x }] of Object.entries(grid.more)) {
    if (count) {
      shapes.push({
        id: `more-${kind}`, tag: "text", x: round(x), y: CONTROLLER_Y + 20,
        class: `n m${kind === "consumer" ? " end" : ""}`, text: `+${count}`,
      });
    }
  }
  return shapes;
}

// What is said of a client: whether its process runs.
export function clientWords(name, cluster, say) {
  const { kind, condition } = cluster.clients[name];
  const words = kind === "producer" ? nodeWords(name, say) : say("cluster.consumer", { consumer: name });
  return say("list.named", { name: words, what: say(`cluster.stage.${condition}`) });
}

function brokerShapes(id, broker, { columns, boxes, brokerY }, say, chosen) {
  const boxWidth = boxes[id], x = round(columns[id] - boxWidth / 2), stage = stageOf(broker), isWide = boxWidth >= 96;
  const shapes = [
    {
      id: `broker-${id}`, tag: "rect", x, y: brokerY, width: boxWidth, height: BOX_HEIGHT, rx: 4,
      class: `node ${stage}${chosen === nodeName(id) ? " chosen" : ""}`, role: "button", "data-part": nodeName(id),
      "data-broker": id, tabindex: -1, "aria-pressed": String(chosen === nodeName(id)),
      "aria-label": brokerWords(id, broker, say),
    },
  ];
  shapes.push({
    id: `broker-name-${id}`, tag: "text", x: x + 8, y: brokerY + 19, class: "b on-node",
    text: isWide ? say("cluster.broker", { broker: Number(id) }) : id,
  });
  if (broker.rack !== null && boxWidth >= 120) {
    shapes.push({
      id: `broker-rack-${id}`, tag: "text", x: x + boxWidth - 8, y: brokerY + 19, class: "m end on-node",
      text: broker.rack,
    });
  }
  const words = say(`cluster.stage.${stage}`), room = boxWidth - 2 * PAD, fits = widthOf(words) * SANS <= room;
  const leads = `★${broker.leads}`;
  shapes.push({
    id: `broker-stage-${id}`, tag: "text", x: x + PAD, y: brokerY + 37,
    class: `${stage === "running" ? "m" : "warn"} on-node`, text: fits ? words : (SIGNS[stage] ?? "…"), title: words,
  });
  if (broker.leads && isWide && widthOf(fits ? words : "…") * SANS + widthOf(leads) + PAD <= room) {
    shapes.push({
      id: `broker-leads-${id}`, tag: "text", x: x + boxWidth - 8, y: brokerY + 37, class: "n m end on-node",
      text: leads, title: say("cluster.leads", { count: broker.leads }),
    });
  }
  return shapes;
}

// What is said of a broker in one word: its process, else what the controller thinks of it.
export const stageOf = (broker) =>
  STAGES.includes(broker.stage)
    ? broker.stage
    : broker.disk !== "ok"
      ? `disk_${broker.disk}`
      : broker.is_fenced
        ? "fenced"
        : "running";

const brokerWords = (id, broker, say) =>
  say("cluster.broker_label", {
    broker: Number(id), stage: say(`cluster.stage.${stageOf(broker)}`), count: broker.leads,
  });

export function linkWords(key, cluster, say) {
  const [one, other] = key.split(">").map((name) => nodeWords(name, say)), { cut } = cluster.links[key];
  const state = cut.length === 2 ? "cut" : cut.length ? "cut_one_way" : "whole";
  return say(`cluster.link.${state}`, { one, other, sender: cut.length ? nodeWords(cut[0], say) : "" });
}

export const nodeWords = (name, say) =>
  ["controller", "producer"].includes(name)
    ? say(`cluster.${name}`)
    : name.startsWith("broker-")
      ? say("cluster.broker", { broker: Number(idOf(name)) })
      : name;

// A link in short: two brokers go by their numbers. ends: its nodes' names.
export function linkName(ends, say) {
  const isNumbered = ends.every((name) => name.startsWith("broker-"));
  const short = (name) => (isNumbered ? idOf(name) : nodeWords(name, say));
  return say("cluster.link_name", { one: short(ends[0]), other: short(ends[1]) });
}

// Two strokes across the line; where only one way is cut, an arrow shows the way that is.
function cutMark({ key, one, x, y, points }, cut) {
  const shapes = [
    {
      id: `cut-${key}`, tag: "path", d: `M${x - 7} ${y + 8}L${x + 1} ${y - 8}M${x - 1} ${y + 8}L${x + 7} ${y - 8}`,
      class: "severed",
    },
  ];
  if (cut.length === 1) {
    const end = cut[0] === one ? points.at(-1) : points[0], sign = Math.sign(end[0] - x) || 1;
    shapes.push({
      id: `way-${key}`, tag: "path", d: `M${round(x + sign * 12)} ${y - 5}l${sign * 8} 5l${sign * -8} 5z`,
      class: "severed-way",
    });
  }
  return shapes;
}
