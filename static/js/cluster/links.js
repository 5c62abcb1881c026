// The links that a person can cut, as lines: to controller and clients above the brokers, straight; between brokers
// below them, each on a level of its own, so that no two share a way and each has room for the words of its messages.

import { round } from "../drawing/shapes.js";

const ALL_LINKS = 4, FIRST = 24, LEVEL = 42, LAST = 22, LEVELS = 2, APART = 14, INNERMOST = 6, ASIDE = 22, CORNER = 8;
const CONTROLLER_HALF = 50;

const idOf = (name) => name.slice(name.indexOf("-") + 1);
const isBroker = (name) => name.startsWith("broker-");

// px that links between so many brokers take below them.
export const roomOf = (brokers) => (brokers < 2 ? 0 : FIRST + (brokers > LEVELS ? LEVEL : 0) + LAST);

// -> [{key, one, other, d, points, x, y: the middle, run?: {left, right, y, reach: px for words}: the level part of a
// link between brokers, level?: px to the next one}] Among many brokers only those of the large partition's copies, of
// what is chosen, that are busy with its messages, and that are cut or slow; of clients always so, with the producer
// and the partition's reader at its leader. leader: a broker's id. busy: keys.
export function linkLines(cluster, grid, { held = [], chosen = null, leader = null, reader = null, busy = [] } = {}) {
  const lines = [], below = [], ids = Object.keys(cluster.brokers), isAll = ids.length <= ALL_LINKS;
  for (const [key, { cut, slow }] of Object.entries(cluster.links)) {
    const ends = key.split(">"), [one, other] = ends, client = ends.find((name) => name in (cluster.clients ?? {}));
    const matters = cut.length || Object.keys(slow).length || [key, one, other].includes(chosen) || busy.includes(key);
    const brokers = ends.filter(isBroker).map(idOf);
    if (!brokers.every((id) => id in grid.columns)) continue;
    if (client !== undefined) {
      const isOfPartition =
        brokers[0] === String(leader) && (client === reader || cluster.clients[client].kind === "producer");
      if (client in grid.clients && (matters || isOfPartition)) {
        lines.push(straight(key, clientPoints(client, brokers[0], cluster, grid)));
      }
    } else if (matters || isAll || brokers.every((id) => held.includes(id))) {
      if (brokers.length === 1) lines.push(straight(key, controllerPoints(brokers[0], grid)));
      else below.push({ key, ends: brokers.sort((a, b) => grid.columns[a] - grid.columns[b]) });
    }
  }
  return [...lines, ...onLevels(below, ids, grid)];
}

export const keyOf = (links, from, to) => [`${from}>${to}`, `${to}>${from}`].find((key) => key in links);

function controllerPoints(id, { columns, middle, width, head, brokerY }) {
  const x = columns[id];
  return {
    controller: [round(middle + (x - middle) * Math.min(1, CONTROLLER_HALF / (width / 2))), head],
    [`broker-${id}`]: [x, brokerY],
  };
}

function clientPoints(client, id, cluster, { clients, columns, boxes, head, brokerY }) {
  const { x, width } = clients[client], aside = Math.min(ASIDE, boxes[id] / 2 - CORNER);
  const side = cluster.clients[client].kind === "producer" ? -1 : 1;
  return { [client]: [round(x + width / 2), head], [`broker-${id}`]: [round(columns[id] + side * aside), brokerY] };
}

function straight(key, at) {
  const [one, other] = key.split(">"), [from, to] = [at[one], at[other]];
  return {
    key, one, other, isClient: !("controller" in at), d: `M${from.join(" ")}L${to.join(" ")}`, points: [from, to],
    x: round((from[0] + to[0]) / 2), y: round((from[1] + to[1]) / 2),
  };
}

// The shorter a link the higher its level. Where several leave one side of a box the longest is innermost, so that they
// do not cross there.
function onLevels(links, ids, grid) {
  const steps = ({ ends: [a, b] }) => Math.abs(ids.indexOf(a) - ids.indexOf(b));
  const shortest = [...links].sort((a, b) => steps(a) - steps(b)), levels = [];
  // 0: those that leave to the right
  const side = (id, place) => shortest.filter(({ ends }) => ends[place] === id).reverse();
  const foot = (link, place) => {
    const id = link.ends[place], all = side(id, place);
    const apart = Math.min(APART, (grid.boxes[id] / 2 - CORNER - INNERMOST) / Math.max(1, all.length - 1));
    return round(grid.columns[id] + (place ? -1 : 1) * (INNERMOST + all.indexOf(link) * apart));
  };
  const placed = shortest.map((link) => {
    const left = foot(link, 0), right = foot(link, 1);
    let level = levels.findIndex((taken) => taken.every(([from, to]) => right <= from || left >= to));
    if (level < 0) level = levels.push([]) - 1;
    levels[level].push([left, right]);
    return { ...link, left, right, level };
  });
  const apart = levels.length <= LEVELS ? LEVEL : LEVEL / (levels.length - 1);
  return placed.map(({ key, ends, left, right, level }) => {
    const [one, other] = key.split(">"), y = round(grid.foot + FIRST + level * apart);
    const points = [[left, grid.foot], [left, y], [right, y], [right, grid.foot]];
    if (idOf(one) !== ends[0]) points.reverse();
    return {
      key, one, other, d: `M${points.map((point) => point.join(" ")).join("L")}`, points,
      run: { left, right, y, reach: grid.columns[ends[1]] - grid.columns[ends[0]] }, level: apart,
      x: round((left + right) / 2), y,
    };
  });
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
