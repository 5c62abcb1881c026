// Where everything of the canvas stands: clients on top, below them the brokers in rows of boxes of one size, each with
// a log inside; below the boxes the links that have no room beside them.

import { number } from "../base/say.js";
import { round } from "../drawing/shapes.js";

const PAD = 12, PAD_ALONE = 3, BOX = 214, BOX_LEAST = 112, GAP = 120, GAP_MOST = 260, GAP_LEAST = 44, GAP_NARROW = 8;
const CLIENT = 84, CLIENT_WIDTH = 240, CLIENTS_BELOW = 26, CONTROLLER_BELOW = 34, ALONE = 8;
const FOLDED = 44, FOLDED_GAP = 10;
const LEVEL = 40, LEVELS_MOST = 2, ROWS_APART = 26, FEW = 4, TOP = 5, BOTTOM = 5;
const HEAD = 80, HEAD_OF_MANY = 40, FOOT = 32, FOOT_NARROW = 48;
const LETTER = 8, FLAG = 22, EPOCHS = 66, EPOCHS_NARROW = 26, STRIP = 66, STRIP_LEAST = 18;
export const WIDE = 700, ROOMY = 180;

// cluster: of the view. held: brokers that have a copy of the partition that is looked at. leader: of it, or null.
// hasClients: false on a phone. hasController: whether a link of the controller is drawn.
// -> {width, height, isWide, producer, consumers, controller: {x, y, width, height} or null, boxes: id -> {x, y, width,
// height, middle}, folded: the same of brokers without a part, rows, levels: px for each link below, foot: y below the
// boxes, log: {top, base: px from a box's top, x, width: of the strip, room: px at its left}}
export function placesOf(cluster, { width, height, held, highest = 0, ...more }) {
  const { leader = null, hasClients = true, hasController = true } = more;
  const isWide = width >= WIDE, pad = hasClients ? PAD : PAD_ALONE, inner = width - 2 * pad,
    ids = Object.keys(cluster.brokers);
  const isFew = ids.length <= FEW;
  const full = ids.filter((id) => isFew || held.includes(id));
  const others = ids.filter((id) => !full.includes(id));
  const gapLeast = isWide ? GAP_LEAST : GAP_NARROW;
  const most = Math.max(1, Math.floor((inner + gapLeast) / (BOX_LEAST + gapLeast)));
  const rows = Math.max(1, Math.ceil(full.length / most)), across = Math.max(1, Math.ceil(full.length / rows));
  const wanted = isWide ? GAP : GAP_NARROW;
  const boxWidth = Math.floor(Math.min(BOX, Math.max(BOX_LEAST, (inner - (across - 1) * wanted) / across)));
  const gap = across > 1 ? Math.min(GAP_MOST, (inner - across * boxWidth) / (across - 1)) : 0;
  const left = round((width - across * boxWidth - (across - 1) * gap) / 2);

  const clients = clientsOf(width, pad, isWide && hasClients, hasClients);
  const above = hasController ? CONTROLLER_BELOW : ALONE;
  const top = hasClients ? TOP + CLIENT + (isWide ? CLIENTS_BELOW : CONTROLLER_BELOW) : above;
  const perFold = Math.max(1, Math.floor((inner + FOLDED_GAP) / (BOX_LEAST + FOLDED_GAP)));
  const foldedRows = Math.ceil(others.length / perFold);
  const at = full.indexOf(String(leader)), farthest = at < 0 ? across - 1 : Math.max(at, across - 1 - at);
  const levelCount = rows > 1 ? 0 : isWide ? Math.max(0, across - 2) : farthest;
  const below = Math.min(LEVELS_MOST, levelCount) * LEVEL;
  const tall = height - top - below - foldedRows * (FOLDED + FOLDED_GAP) - BOTTOM;
  const boxHeight = Math.floor((tall - (rows - 1) * ROWS_APART) / rows);

  const boxes = Object.fromEntries(full.map((id, place) => {
    const row = Math.floor(place / across), x = round(left + (place % across) * (boxWidth + gap));
    return [
      id, {
        x, y: top + row * (boxHeight + ROWS_APART), width: boxWidth, height: boxHeight,
        middle: round(x + boxWidth / 2), row, place: place % across,
      },
    ];
  }));
  const foldedTop = top + tall + below + FOLDED_GAP;
  const foldedWidth = round((inner - (Math.min(perFold, others.length) - 1) * FOLDED_GAP) / Math.min(perFold,
    others.length));
  const folded = Object.fromEntries(others.map((id, place) => {
    const x = round(pad + (place % perFold) * (foldedWidth + FOLDED_GAP));
    const y = foldedTop + Math.floor(place / perFold) * (FOLDED + FOLDED_GAP);
    return [id, { x, y, width: foldedWidth, height: FOLDED, middle: round(x + foldedWidth / 2) }];
  }));
  return {
    width, height, isWide, rows, across, gap, boxes, folded, top, foot: top + tall,
    levels: below / Math.max(1, Math.min(levelCount, LEVELS_MOST)), below, ...clients,
    log: logOf(boxWidth, boxHeight, rows, highest),
  };
}

function clientsOf(width, pad, isWide, hasClients) {
  const middle = round(width / 2);
  if (!hasClients) {
    return { producer: null, consumers: null, controller: { x: middle - 52, y: 3, width: 104, height: 24 } };
  }
  const own = isWide ? CLIENT_WIDTH : Math.floor((width - 3 * pad) / 2), box = { y: TOP, width: own, height: CLIENT };
  return {
    producer: { x: pad, ...box }, consumers: { x: width - pad - own, ...box },
    controller: isWide
      ? { x: middle - 52, y: TOP, width: 104, height: 26 }
      : { x: middle - 52, y: TOP + CLIENT + 5, width: 104, height: 22 },
  };
}

// Where a log stands in its box: room at the left for the epochs, at the right for the flag and its number.
function logOf(width, height, rows, highest) {
  const isRoomy = width >= ROOMY, room = isRoomy ? EPOCHS : EPOCHS_NARROW;
  const need = FLAG + Math.max(isRoomy ? 3 : 2, number(highest).length) * LETTER;
  const strip = Math.max(STRIP_LEAST, Math.min(STRIP, width - room - need - 8));
  const x = Math.max(room, Math.min(room + (width - room - need - strip) / 2, (width - strip) / 2));
  return {
    top: isRoomy || rows === 1 ? HEAD : HEAD_OF_MANY + 16, base: height - (isRoomy ? FOOT : FOOT_NARROW),
    x: round(x), width: round(strip), room: round(x) - 4, isRoomy,
  };
}
