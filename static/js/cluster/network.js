// Where brokers and the controller stand, and the links between them: the columns of the whole picture.

import { round } from "../draw.js";
import { number } from "../say.js";

export const BOX_HEIGHT = 46;
const DIGIT = 8, BESIDE_DIGITS = 36;          // px of a digit of the axis; of its mark and the letters HW
const WIDE_LEAST = 92, NARROW_LEAST = 46, NARROW_SHARE = 0.5, ALL_LINKS = 4;
const CONTROLLER_Y = 6, CONTROLLER_HEIGHT = 30, CONTROLLER_WIDTH = 120, PRODUCER_WIDTH = 92, BROKER_Y = 78;
const CLIENT_GAP = 6, CLIENT_PAD = 20, CLIENT_LETTER = 8, MORE_WIDTH = 34, ASIDE = 22;
const SIGNS = { running: "✓", paused: "‖", crashed: "×", down: "×", disk_lost: "×", fenced: "!" };
// In which a broker's process is not simply running.
export const STAGES = ["starting", "recovering", "shutting_down", "down", "paused", "crashed"];

// -> {columns: broker id -> middle of its column, width, below: y at which the strips may begin, ...}
// held: brokers that have a copy of the large partition: theirs are the wide columns. highest: offset that the axis has to name. reader: the
// consumer that reads the large partition.
export function columnsOf(cluster, available, held, highest = 0, reader = null) {
  const axis = BESIDE_DIGITS + DIGIT * Math.max(2, number(highest).length);
  const ids = Object.keys(cluster.brokers), isWide = (id) => held.includes(id) || !held.length, wides = ids.filter(isWide).length, narrows = ids.length - wides;
  const wide = Math.max(WIDE_LEAST, (available - axis) / (wides + narrows * NARROW_SHARE)), narrow = Math.max(NARROW_LEAST, wide * NARROW_SHARE);
  const pitch = narrows ? Math.max(WIDE_LEAST, (available - axis - narrows * narrow) / wides) : wide, columns = {}, boxes = {};
  let x = axis;
  for (const id of ids) {
    const own = isWide(id) ? pitch : narrow;
    columns[id] = round(x + own / 2);
    boxes[id] = Math.min(132, own - 10);
    x += own;
  }
  const width = Math.max(available, Math.round(x)), sag = ids.length < 3 ? 0 : Math.min(54, 10 + 6 * ids.length);
  const middle = round(axis + (width - axis) / 2);
  return { columns, boxes, axis, width, pitch, brokerY: BROKER_Y, below: BROKER_Y + BOX_HEIGHT + sag + 14, sag, middle, ...clientsOf(cluster, width, middle, reader) };
}

// Producers at the left of the controller, consumers at its right, as many as there is room for, the reader of the large partition first.
// -> {clients: name -> {x, width}, more: {producer, consumer}: how many have no room}
function clientsOf(cluster, width, middle, reader) {
  const names = (kind) => Object.keys(cluster.clients ?? {}).filter((name) => cluster.clients[name].kind === kind), clients = {}, more = {};
  const half = CONTROLLER_WIDTH / 2 + 14, consumers = names("consumer"), first = consumers.includes(reader) ? [reader, ...consumers.filter((name) => name !== reader)] : consumers;
  for (const [kind, all, room] of [["producer", names("producer"), middle - half], ["consumer", first, width - middle - half]]) {
    const widthOf = (name) => (kind === "producer" && name === "producer" ? PRODUCER_WIDTH : name.length * CLIENT_LETTER + CLIENT_PAD);
    let used = 0, shown = 0;
    for (const name of all) {
      const rest = shown + 1 < all.length ? MORE_WIDTH : 0;
      if (used + widthOf(name) + rest > room && shown) break;
      clients[name] = { x: kind === "producer" ? 1 + used : width - 1 - used - widthOf(name), width: widthOf(name) };
      used += widthOf(name) + CLIENT_GAP;
      shown += 1;
    }
    more[kind] = { count: all.length - shown, x: kind === "producer" ? 1 + used : width - 1 - used };
  }
  return { clients, more };
}

// Where a client's cables leave it: the middle of its lower edge; of one that is not shown, the corner of its kind.
export function clientPlace(name, cluster, { clients, width }) {
  const box = clients[name], y = CONTROLLER_Y + CONTROLLER_HEIGHT;
  return box ? [round(box.x + box.width / 2), y] : [cluster.clients?.[name]?.kind === "consumer" ? width - 20 : 20, y];
}

// What nodes cover, as rectangles [left, top, right, bottom].
export function boxesOf(cluster, { columns, boxes, brokerY, clients, middle }) {
  const half = CONTROLLER_WIDTH / 2, low = CONTROLLER_Y + CONTROLLER_HEIGHT;
  return [
    [middle - half, CONTROLLER_Y, middle + half, low],
    ...Object.values(clients).map(({ x, width }) => [x, CONTROLLER_Y, x + width, low]),
    ...Object.keys(cluster.brokers).map((id) => [columns[id] - boxes[id] / 2, brokerY, columns[id] + boxes[id] / 2, brokerY + BOX_HEIGHT]),
  ];
}

export const nodeName = (id) => `broker-${id}`;
const idOf = (name) => name.slice(name.indexOf("-") + 1);

// The links that a person can cut, as lines: [{key, one, other, d, x, y}], x and y the middle. Between brokers below the boxes, to the controller above.
// Among many brokers only those of the large partition's copies, of what is chosen, and those that are not in order; of clients always so, with
// the producer and the partition's reader at its leader. leader: a broker's id.
export function linkLines(cluster, grid, { held = [], chosen = null, leader = null, reader = null } = {}) {
  const lines = [], ids = Object.keys(cluster.brokers), at = (name) => (name === "controller" ? null : grid.columns[idOf(name)]);
  const matters = (key, one, other, { cut, slow }) => cut.length || Object.keys(slow).length || [key, one, other].includes(chosen);
  const isHeld = (one, other) => ids.length <= ALL_LINKS || [one, other].every((name) => name === "controller" || held.includes(idOf(name)));
  for (const [key, link] of Object.entries(cluster.links)) {
    const [one, other] = key.split(">"), client = [one, other].find((name) => name in (cluster.clients ?? {}));
    if (client !== undefined) {
      const broker = client === one ? other : one, x = grid.columns[idOf(broker)];
      if (!(client in grid.clients) || x === undefined) continue;
      const isOfPartition = idOf(broker) === String(leader) && (client === reader || cluster.clients[client].kind === "producer");
      if (isOfPartition || matters(key, one, other, link)) lines.push(clientLine(key, one, other, client, broker, cluster, grid));
      continue;
    }
    if (!matters(key, one, other, link) && !isHeld(one, other)) continue;
    const a = at(one), b = at(other);
    if (one !== "controller" && other !== "controller" && (a === undefined || b === undefined)) continue;
    if (a === null || b === null) {
      const x = a ?? b, top = CONTROLLER_Y + CONTROLLER_HEIGHT, from = round(grid.middle + (x - grid.middle) * Math.min(1, (CONTROLLER_WIDTH / 2 - 10) / (grid.width / 2)));
      lines.push({ key, one, other, d: `M${from} ${top}L${x} ${grid.brokerY}`, from: [from, top], to: [x, grid.brokerY], x: round((from + x) / 2), y: round((top + grid.brokerY) / 2) });
    } else {
      const steps = Math.abs(ids.indexOf(idOf(one)) - ids.indexOf(idOf(other))), y = grid.brokerY + BOX_HEIGHT / 2, base = grid.brokerY + BOX_HEIGHT;
      if (steps === 1) {
        const [left, right] = a < b ? [a, b] : [b, a], from = left + grid.boxes[idOf(one)] / 2, to = right - grid.boxes[idOf(other)] / 2;
        lines.push({ key, one, other, d: `M${from} ${y}H${to}`, from: [from, y], to: [to, y], x: round((left + right) / 2), y });
      } else {
        const deep = base + (grid.sag * steps) / (ids.length - 1) * 1.3;
        lines.push({ key, one, other, d: `M${a} ${base}Q${round((a + b) / 2)} ${round(deep * 2 - base)} ${b} ${base}`, from: [a, base], to: [b, base], bend: [round((a + b) / 2), round(deep * 2 - base)], x: round((a + b) / 2), y: round(deep) });
      }
    }
  }
  return lines;
}

function clientLine(key, one, other, client, broker, cluster, grid) {
  const from = clientPlace(client, cluster, grid), aside = Math.min(ASIDE, grid.boxes[idOf(broker)] / 2 - 8), x = grid.columns[idOf(broker)];
  const to = [round(x + (cluster.clients[client].kind === "producer" ? -aside : aside)), grid.brokerY], isTurned = client !== one;
  const [start, end] = isTurned ? [to, from] : [from, to];
  return { key, one, other, isClient: true, d: `M${from.join(" ")}L${to.join(" ")}`, from: start, to: end, x: round((from[0] + to[0]) / 2), y: round((from[1] + to[1]) / 2) };
}

export function layout(cluster, grid, { say, held, chosen = null, leader = null, reader = null }) {
  const shapes = [], lines = linkLines(cluster, grid, { held, chosen, leader, reader });
  for (const line of lines) {
    const { cut, slow } = cluster.links[line.key], isSlow = Object.keys(slow).length > 0;
    shapes.push({ id: `link-${line.key}`, tag: "path", d: line.d, class: `cable${line.isClient ? " client" : ""}${cut.length ? " cut" : ""}${isSlow ? " slow" : ""}${chosen === line.key ? " chosen" : ""}` });
    if (cut.length) shapes.push(...cutMark(line, cut));
    shapes.push({
      id: `hit-${line.key}`, tag: "path", d: line.d, class: "cable-hit", role: "button", "data-part": line.key, "data-link": line.key, "aria-pressed": String(chosen === line.key), tabindex: -1,
      "aria-label": linkWords(line.key, cluster, say),
    });
  }
  shapes.push(...clientShapes(cluster, grid, say, chosen, reader));
  const left = round(grid.middle - CONTROLLER_WIDTH / 2), { condition } = cluster.controller;
  shapes.push({ id: "controller", tag: "rect", x: left, y: CONTROLLER_Y, width: CONTROLLER_WIDTH, height: CONTROLLER_HEIGHT, rx: 4, class: `node ${condition}` });
  shapes.push({ id: "controller-name", tag: "text", x: grid.middle, y: CONTROLLER_Y + 20, class: "mid b", text: say("cluster.controller") });
  for (const [id, broker] of Object.entries(cluster.brokers)) shapes.push(...brokerShapes(id, broker, grid, say, chosen));
  return shapes;
}

function clientShapes(cluster, grid, say, chosen, reader) {
  const shapes = [];
  for (const [name, { x, width }] of Object.entries(grid.clients)) {
    const { condition } = cluster.clients[name];
    shapes.push({
      id: `client-${name}`, tag: "rect", x: round(x), y: CONTROLLER_Y, width, height: CONTROLLER_HEIGHT, rx: 15, class: `node client ${condition}${chosen === name ? " chosen" : ""}`,
      role: "button", "data-part": name, "data-client": name, tabindex: -1, "aria-pressed": String(chosen === name), "aria-label": clientWords(name, cluster, say),
    });
    shapes.push({ id: `client-name-${name}`, tag: "text", x: round(x + width / 2), y: CONTROLLER_Y + 20, class: `mid on-node ${name === reader || cluster.clients[name].kind === "producer" ? "b" : ""}`, text: nodeWords(name, say) });
  }
  for (const [kind, { count, x }] of Object.entries(grid.more)) {
    if (count) shapes.push({ id: `more-${kind}`, tag: "text", x: round(x), y: CONTROLLER_Y + 20, class: `n m${kind === "consumer" ? " end" : ""}`, text: `+${count}` });
  }
  return shapes;
}

// What is said of a client: whether its process runs.
export function clientWords(name, cluster, say) {
  const { kind, condition } = cluster.clients[name], words = kind === "producer" ? nodeWords(name, say) : say("cluster.consumer", { consumer: name });
  return say("list.named", { name: words, what: say(`cluster.stage.${condition}`) });
}

function brokerShapes(id, broker, { columns, boxes, brokerY }, say, chosen) {
  const boxWidth = boxes[id], x = round(columns[id] - boxWidth / 2), stage = stageOf(broker), isWide = boxWidth >= 96;
  const shapes = [{
    id: `broker-${id}`, tag: "rect", x, y: brokerY, width: boxWidth, height: BOX_HEIGHT, rx: 4, class: `node ${stage}${chosen === nodeName(id) ? " chosen" : ""}`,
    role: "button", "data-part": nodeName(id), "data-broker": id, tabindex: -1, "aria-pressed": String(chosen === nodeName(id)), "aria-label": brokerWords(id, broker, say),
  }];
  shapes.push({ id: `broker-name-${id}`, tag: "text", x: x + 8, y: brokerY + 19, class: "b on-node", text: isWide ? say("cluster.broker", { broker: Number(id) }) : id });
  if (broker.rack !== null && boxWidth >= 120) shapes.push({ id: `broker-rack-${id}`, tag: "text", x: x + boxWidth - 8, y: brokerY + 19, class: "m end on-node", text: broker.rack });
  shapes.push({ id: `broker-stage-${id}`, tag: "text", x: x + 8, y: brokerY + 37, class: `${stage === "running" ? "m" : "warn"} on-node`, text: boxWidth >= 72 ? say(`cluster.stage.${stage}`) : SIGNS[stage] ?? "…" });
  if (broker.leads && isWide) shapes.push({ id: `broker-leads-${id}`, tag: "text", x: x + boxWidth - 8, y: brokerY + 37, class: "n m end on-node", text: `★${broker.leads}`, title: say("cluster.leads", { count: broker.leads }) });
  return shapes;
}

// What is said of a broker in one word: its process, else what the controller thinks of it.
export const stageOf = (broker) => (STAGES.includes(broker.stage) ? broker.stage : broker.disk !== "ok" ? `disk_${broker.disk}` : broker.is_fenced ? "fenced" : "running");

export const brokerWords = (id, broker, say) =>
  say("cluster.broker_label", { broker: Number(id), stage: say(`cluster.stage.${stageOf(broker)}`), count: broker.leads });

export function linkWords(key, cluster, say) {
  const [one, other] = key.split(">").map((name) => nodeWords(name, say)), { cut } = cluster.links[key];
  const state = cut.length === 2 ? "cut" : cut.length ? "cut_one_way" : "whole";
  return say(`cluster.link.${state}`, { one, other, sender: cut.length ? nodeWords(cut[0], say) : "" });
}

export const nodeWords = (name, say) => (["controller", "producer"].includes(name) ? say(`cluster.${name}`) : name.startsWith("broker-") ? say("cluster.broker", { broker: Number(idOf(name)) }) : name);

// Two strokes across the line; where only one way is cut, an arrow shows the way that is.
function cutMark({ key, one, other, x, y, from, to }, cut) {
  const shapes = [{ id: `cut-${key}`, tag: "path", d: `M${x - 7} ${y + 8}L${x + 1} ${y - 8}M${x - 1} ${y + 8}L${x + 7} ${y - 8}`, class: "severed" }];
  if (cut.length === 1) {
    const isForward = cut[0] === one, [end] = [isForward ? to : from], sign = Math.sign(end[0] - x) || 1;
    shapes.push({ id: `way-${key}`, tag: "path", d: `M${round(x + sign * 12)} ${y - 5}l${sign * 8} 5l${sign * -8} 5z`, class: "severed-way" });
  }
  return shapes;
}

// Which links a stroke of the pointer crosses: between two points, both in the picture's own units.
export function crossed(lines, [ax, ay], [bx, by]) {
  return lines.filter(({ from, to, bend }) => segments(from, to, bend).some(([p, q]) => meets([ax, ay], [bx, by], p, q))).map(({ key }) => key);
}

function segments(from, to, bend) {
  if (!bend) return [[from, to]];
  const at = (t) => [0, 1].map((axis) => (1 - t) ** 2 * from[axis] + 2 * t * (1 - t) * bend[axis] + t ** 2 * to[axis]);
  return Array.from({ length: 8 }, (_, place) => [at(place / 8), at((place + 1) / 8)]);
}

function meets(a, b, p, q) {
  const side = ([x1, y1], [x2, y2], [x, y]) => Math.sign((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1));
  return side(a, b, p) !== side(a, b, q) && side(p, q, a) !== side(p, q, b);
}
