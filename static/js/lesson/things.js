// What a lesson may point at, page by page: a kind and an id name a thing, as "broker:2", and the lane's id may follow,
// as "consumer:c3@kafka". A page's pictures say what their shapes are by data attributes and by the shapes' ids.

import { shapeOf } from "../drawing/shapes.js";

const all = (root, selector) => [...root.querySelectorAll(selector)];
const data = (name, id) => `[data-${name}="${CSS.escape(id)}"]`;
// Shapes of the pictures below root whose ids are these, or begin so.
const shapes = (root, isIt) => all(root, "svg *").filter((element) => isIt(shapeOf(element)?.id ?? ""));
const withIds = (root, ...ids) => shapes(root, (id) => ids.includes(id));
const beginning = (root, ...starts) => shapes(root, (id) => starts.some((start) => id.startsWith(start)));
// Elements that have a name in a part of their own; of a row in its first cell.
const says = (element, name) => [element, ...all(element, "*")].some((part) => part.textContent.trim() === name);
const rows = (root, selector, name) => all(root, selector).filter((row) => says(row.cells?.[0] ?? row, name));
const byId = (root, ids) => ids.map((id) => root.querySelector(`#${id}`)).filter(Boolean);
// A kind whose ids are names of the page's own parts.
const parts = (table) => (root, id) => byId(root, table[id] ?? []);

const STAGE = {
  lane: (root) => all(root, "h2"),
  picture: (root) => all(root, "[data-picture]"),
  say: (root) => all(root, ".say"),
  consumer: (root, id) => all(root, data("consumer", id)),
  partition: (root, id) => withIds(root, `cell-${id}`),
  lag: (root, id) => withIds(root, `lag-${id}`, `cell-${id}`),
  hands: (root, id) => beginning(root, `hand-${id}-`, `edge-${id}-`, `free-${id}-`),
  figure: (root, id) => all(root, `.since ${data("term", id)}`).map((term) => term.closest("div")),
  queue: (root) => withIds(root, "walls"),
  ready: (root) => withIds(root, "ready"),
  timer: (root, id) => withIds(root, `face-${id}`, `left-${id}`),
};
const CLUSTER = {
  broker: (root, id) => all(root, `svg ${data("broker", id)}`),
  client: (root, id) => all(root, `svg ${data("client", id)}`),
  link: (root, id) => all(root, `svg ${data("link", id)}`),
  // its shape is drawn while one of its links is
  controller: (root) => [...withIds(root, "controller"), ...byId(root, ["controller-choice"])].slice(0, 1),
  hw: (root, id) => marks(root, id, "hw", [`copy-${id}-flag`, `copy-${id}-hw`]),
  leo: (root, id) => marks(root, id, "leo", [`copy-${id}-leo`]),
  copy: (root, id) => marks(root, id, "log", [`copy-${id}-body`, `copy-${id}-records`, `copy-${id}-wall`]),
  partition: (root, id) => all(root, data("partition", id)),
  panel: parts({ cards: ["cards-panel"], producer: ["producer-panel"], partitions: ["map"], words: ["large-words"] }),
};
const marks = (root, broker, mark, ids) => {
  const found = all(root, `svg ${data("mark", mark)}`).filter((element) => replicaOf(element) === broker);
  return found.length ? found : withIds(root, ...ids);
};
const replicaOf = (element) => element.closest("[data-replica]")?.dataset.replica ?? element.dataset.of;
const GROUPS = {
  member: (root, id) => rows(root, "[data-member]", id),
  consumer: (root, id) => withIds(root, `life-name-${id}`, `life-dot-${id}`),
  timer: (root, id) => withIds(root, `face-${id}`, `ring-${id}`, `left-${id}`),
  partition: (root, id) => shapes(root, (shape) => shape === `part-${id}` || shape.startsWith(`cell-${id}-`)),
  committed: (root, id) => withIds(root, `committed-${id}`),
  lag: (root, id) => withIds(root, `lag-${id}`),
  status: (root, id) => withIds(root, `status-${id}`),
  state: (root, id) => withIds(root, `state-${id}`),
  panel: parts({
    sequence: ["sequence"], partitions: ["grid"], stuck: ["findings"], members: ["members"], machine: ["machine"],
    others: ["others-panel"], epochs: ["epoch-words"],
  }),
};
const PULSAR = {
  consumer: (root, id) => rows(root, "#consumers tr", id),
  entry: (root, id) => withIds(root, `entry-${id}`),
  mark: (root) => withIds(root, "mark", "mark-word"),
  read: (root) => withIds(root, "read-at", "read-word"),
  panel: parts({
    space: ["space"], lens: ["lens"], ladder: ["ladder-panel"], cursor: ["strip"], consumers: ["consumers"],
    others: ["others-panel"], receipts: ["receipts-panel"], draining: ["draining-panel"], batches: ["batches-panel"],
    handed: ["handed"], rule: ["rule-about"], round: ["round"], standbys: ["standbys"],
  }),
};
const TUBEMQ = {
  consumer: (root, id) => withIds(root, `${id}/name`, `${id}/swatch`, `${id}/node`),
  timer: (root, id) => withIds(root, `${id}/ring`, `${id}/left`),
  takes: (root, id) => beginning(root, `${id}/takes/`),
  has: (root, id) => beginning(root, `${id}/has/`),
  releases: (root, id) => beginning(root, `${id}/releases/`),
  registers: (root, id) => beginning(root, `${id}/registers/`),
  broker: (root, id) => withIds(root, `${id}/box`),
  partition: (root, id) => withIds(root, `${id.split(":")[0]}/${id}/box`),
  panel: parts({
    difference: ["difference"], brokers: ["brokers"], why: ["unread-box"], first: ["first"], calls: ["calls"],
    rules: ["rules"], formula: ["formula"], legend: ["legend"],
  }),
};
const PLATE = "plate-binding:", keyOf = (plate) => JSON.parse(shapeOf(plate).id.slice(PLATE.length)).at(-1);
const named = (root, start, id) => {
  const texts = shapes(root, (shape) => shape.startsWith(`name-${start}:`))
    .filter((text) => text.textContent.split(/[\s:·]/)[0] === id);
  const ids = texts.map((text) => shapeOf(text).id.slice("name-".length));
  return withIds(root, ...ids);
};
const RABBITMQ = {
  queue: (root, id) => withIds(root, `queue:${id}`),
  exchange: (root, id) => withIds(root, `exchange:${id}`),
  consumer: (root, id) => named(root, "consumer", id),
  publisher: (root, id) => named(root, "publisher", id),
  ready: (root, id) => withIds(root, `ready-queue:${id}`),
  key: (root, id) => beginning(root, PLATE).filter((plate) => keyOf(plate) === id),
  way: (root, id) => shapes(root, (shape) => shape.startsWith(`way-${id}`)),
  panel: parts({
    graph: ["graph"], queues: ["queues"], consumers: ["consumers"], try: ["try"], allowed: ["allowed"],
    trace: ["traced"],
  }),
};

export const PAGES = {
  stage: STAGE, cluster: CLUSTER, groups: GROUPS, pulsar: PULSAR, tubemq: TUBEMQ, rabbitmq: RABBITMQ,
};

// "consumer:c3@kafka" -> { kind, id, lane }; lane: null where it names none.
export function thingOf(point) {
  const cut = point.indexOf(":"), at = point.lastIndexOf("@"), end = at > cut ? at : point.length;
  return { kind: point.slice(0, cut), id: point.slice(cut + 1, end), lane: at > cut ? point.slice(at + 1) : null };
}

const OF_LANES = ["lane", "picture", "say", "queue", "ready"];

// The lane of the Stage that shows it; null where each does.
export function laneOf(point) {
  const { kind, id, lane } = thingOf(point);
  return lane ?? (OF_LANES.includes(kind) ? id : null);
}

// The elements below root that show a thing; item: of PAGES, the page's own. A lane of the Stage is named by lane and
// picture themselves.
export function elementsOf(root, item, point) {
  const { kind, id, lane } = thingOf(point), find = PAGES[item]?.[kind];
  if (item === "stage") {
    const own = laneOf(point), section = all(root, own === null ? "[data-lane]" : data("lane", own));
    return find ? section.flatMap((each) => find(each, id)) : [];
  }
  if (!find) return [];
  // Of lanes side by side the one that is named, else the page's own; what stands beside the canvases is no lane's.
  const canvas = root.querySelector(lane ? data("canvas", lane) : "[data-canvas][data-current]");
  return [canvas, root].filter(Boolean).map((each) => find(each, id)).find(({ length }) => length) ?? [];
}
