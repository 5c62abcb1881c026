// The links as lines: from box to box where these are neighbours, else below the boxes on a level of its own; from a
// client into the leader's box with a bend; to the controller straight. Each knows where its words stand: the request
// above its line, the answer below.

import { round } from "../drawing/shapes.js";
import { idOf, isBroker } from "./names.js";

const ALL_LINKS = 3, INTO = 53, INTO_NARROW = 26, RUN_LEAST = 150, LEVEL_FIRST = 20, LEVEL_CLOSE = 5, ASIDE = 10;
const APART = 14;
const BESIDE = 6, CLIENT_LINE = 38, BEND_HIGH = 9, BEND_LOW = 17, LINE_AT = 0.56, WORDS_LEAST = 24;

// places: of placesOf. held, leader, reader: of the partition that is looked at. chosen: a node's name, a link's key,
// or
// null. busy: keys of links with a message about the partition on its way.
// -> [{key, one, other, points, d, isClient, words?: {x, align, room: px, above, below: y of the first line's
// baseline},
// isIdle: a link of two followers}]
export function linkLines(cluster, places, { held = [], chosen = null, leader = null, reader = null, busy = [] } = {}) {
  const lines = [], below = [], ids = Object.keys(cluster.brokers), isAll = ids.length <= ALL_LINKS && places.isWide;
  const boxOf = (id) => places.boxes[id] ?? places.folded[id];
  for (const [key, { cut, slow }] of Object.entries(cluster.links)) {
    const ends = key.split(">"), brokers = ends.filter(isBroker).map(idOf);
    const isImpaired = cut.length > 0 || Object.keys(slow).length > 0;
    if (!brokers.every(boxOf)) continue;
    const client = ends.find((name) => name in (cluster.clients ?? {}));
    if (client !== undefined) {
      const isProducer = cluster.clients[client].kind === "producer",
        box = isProducer ? places.producer : places.consumers;
      const isOfPartition = brokers[0] === String(leader) && (client === reader || client === producerOf(cluster,
        held));
      const isAsked = isImpaired || [key, client].includes(chosen) || busy.includes(key);
      if (!box || !(isAsked || isOfPartition)) continue;
      lines.push(fromClient(key, client, brokers[0], { places, isProducer, leader, isOfPartition }));
    } else if (brokers.length === 1) {
      if (isImpaired || [key, "controller"].includes(chosen) || busy.includes(key)) {
        lines.push(fromController(key, brokers[0], places, boxOf(brokers[0])));
      }
    } else {
      const isOfLeader = brokers.includes(String(leader)) && brokers.every((id) => held.includes(id));
      const isChosen = key === chosen || ends.some((name) => name === chosen);
      if (!(isOfLeader || isAll || isImpaired || isChosen || busy.includes(key))) continue;
      const isIdle = !isOfLeader;
      const [left, right] = brokers.sort((a, b) => boxOf(a).x - boxOf(b).x);
      const [from, to] = [places.boxes[left], places.boxes[right]];
      if (!from || !to || from.row !== to.row) lines.push(across(key, left, right, places, boxOf));
      else if (places.isWide && to.place - from.place === 1) lines.push(beside(key, left, right, from, to, isIdle));
      else if (places.rows > 1) lines.push(across(key, left, right, places, boxOf));
      else below.push({ key, left, right, isIdle });
    }
  }
  return [...lines, ...onLevels(below, places)];
}

// The producer whose records the chosen partition gets: the lane's own, unless its topic is another one's.
export const producerOf = (cluster, held) =>
  held.length ? Object.keys(cluster.producers)[0] ?? null : null;

const path = (points) => `M${points.map((point) => point.join(" ")).join("L")}`;

function lineOf(key, points, more = {}) {
  const [one, other] = key.split(">");
  return { key, one, other, points, d: path(points), isClient: false, isIdle: false, ...more };
}

// Its points go from its first node to its second.
const directed = (key, left, points) => (idOf(key.split(">")[0]) === left ? points : [...points].reverse());

function beside(key, left, right, from, to, isIdle) {
  const y = round(from.y + from.height * LINE_AT), x = [from.x + from.width, to.x], room = x[1] - x[0] - 2 * BESIDE;
  return lineOf(key, directed(key, left, [[round(x[0]), y], [round(x[1]), y]]), {
    isIdle,
    words:
      room < WORDS_LEAST ? undefined : {
        x: round((x[0] + x[1]) / 2), align: "mid", room, above: y - APART, below: y + APART + 8, lines: 2,
      },
  });
}

// The shorter a link the higher its level; of several that leave one side of a box the longest is innermost.
function onLevels(links, { boxes, foot, below, levels, isWide }) {
  const length = ({ left, right }) => boxes[right].place - boxes[left].place;
  const sorted = [...links].sort((a, b) => length(a) - length(b)), taken = [];
  const side = (id, end) => sorted.filter((link) => link[end] === id).reverse();
  const at = (link, end) => {
    const box = boxes[link[end]], all = side(link[end], end), sign = end === "left" ? 1 : -1;
    const apart = Math.min(ASIDE, (box.width / 2 - ASIDE) / Math.max(1, all.length));
    return round(box.middle + sign * ((isWide ? 0 : ASIDE) + all.indexOf(link) * apart));
  };
  return sorted.map((link) => {
    const left = at(link, "left"), right = at(link, "right");
    let level = taken.findIndex((others) => others.every(([from, to]) => right <= from || left >= to));
    if (level < 0) level = taken.push([]) - 1;
    taken[level].push([left, right]);
    const hasRoom = level < Math.round(below / Math.max(levels, 1));
    const y = round(hasRoom ? foot + LEVEL_FIRST + level * levels : foot + LEVEL_CLOSE);
    const points = [[left, foot], [left, y], [right, y], [right, foot]];
    return lineOf(link.key, directed(link.key, link.left, points), {
      isIdle: link.isIdle,
      words: hasRoom ? {
        x: round((left + right) / 2), align: "mid", room: right - left - 2 * BESIDE, above: y - 5, below: y + 15,
        lines: 1, isInline: link.isIdle, middle: y,
      } : undefined,
    });
  });
}

// Between two rows, or to a broker without a part: straight, without words.
function across(key, left, right, places, boxOf) {
  const [from, to] = [boxOf(left), boxOf(right)];
  const edge = (box, other) => {
    if (box.y + box.height <= other.y) return [box.middle, box.y + box.height];
    if (other.y + other.height <= box.y) return [box.middle, box.y];
    return [box.x < other.x ? round(box.x + box.width) : box.x, round(box.y + box.height / 2)];
  };
  return lineOf(key, directed(key, left, [edge(from, to), edge(to, from)]));
}

function fromController(key, id, { controller }, box) {
  const points = [
    [round(controller.x + controller.width / 2), controller.y + controller.height], [box.middle, box.y],
  ];
  return lineOf(key, key.startsWith("controller") ? points : [...points].reverse());
}

// Out of the client's side, then down into the leader's box; to any other broker straight from below.
function fromClient(key, client, id, { places, isProducer, leader, isOfPartition }) {
  const own = isProducer ? places.producer : places.consumers, box = places.boxes[id] ?? places.folded[id];
  const sign = isProducer ? 1 : -1, isLeader = id === String(leader) && isOfPartition;
  const into = round(box.middle - sign * Math.min(places.isWide ? INTO : INTO_NARROW, box.width / 2 - 10));
  const low = own.y + own.height, more = { isClient: true };
  let points = [[round(own.x + own.width / 2 + sign * 20), low], [into, box.y]];
  if (isLeader && places.isWide) {
    const y = own.y + CLIENT_LINE, from = isProducer ? own.x + own.width : own.x, middle = places.width / 2;
    const is = { left: box.middle < middle - 1, right: box.middle > middle + 1 };
    // Where both lines bend again on their way to a leader at one side, the nearer client's runs below the other's.
    const isNear = isProducer ? is.left : is.right;
    const least = from + sign * RUN_LEAST, reaches = isProducer ? into >= least : into <= least;
    const turn = reaches && !(isProducer ? is.right : is.left) ? into : round(least);
    const level = low + (isNear ? BEND_HIGH : BEND_LOW);
    points =
      turn === into
        ? [[from, y], [into, y], [into, box.y]]
        : [[from, y], [turn, y], [turn, level], [into, level], [into, box.y]];
    if (isProducer) more.arrow = `M${into - 5} ${box.y - 9}l5 7 5-7`;
    more.words = {
      x: round(from + sign * 10), align: isProducer ? "start" : "end", room: Math.abs(turn - from) - 16,
      above: y - 9, below: y + 21, lines: 2,
    };
  } else if (isLeader) {
    const start = Math.max(own.x + 12, Math.min(own.x + own.width - 12, into)), level = low + 17;
    points = start === into ? [[into, low], [into, box.y]] : [[start, low], [start, level], [into, level], [into,
    box.y]];
  }
  return lineOf(key, isBroker(key.split(">")[0]) ? [...points].reverse() : points, { ...more, client });
}

// A point of a line, and the way there. share: 0 at its first node, 1 at its second.
export function along({ points }, share) {
  const lengths = points.slice(1).map(([x, y], place) => Math.hypot(x - points[place][0], y - points[place][1]));
  let rest = share * lengths.reduce((sum, length) => sum + length, 0);
  for (const [place, length] of lengths.entries()) {
    if (rest <= length || place === lengths.length - 1) {
      const [ax, ay] = points[place], [bx, by] = points[place + 1], part = length ? Math.min(1, rest / length) : 0;
      return [ax + (bx - ax) * part, ay + (by - ay) * part];
    }
    rest -= length;
  }
  return points[0];
}

// Which links a stroke of the pointer crosses: between two points, both in the picture's own units.
export const crossed = (lines, a, b) =>
  lines
    .filter(({ points }) => points.slice(1).some((point, place) => meets(a, b, points[place], point)))
    .map(({ key }) => key);

function meets(a, b, p, q) {
  const side = ([x1, y1], [x2, y2], [x, y]) => Math.sign((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1));
  return side(a, b, p) !== side(a, b, q) && side(p, q, a) !== side(p, q, b);
}
