// TubeMQ: every client with the partitions it works out for itself, its node id, and the time left on its own clock. A
// chip in a cell is the former owner's colour; a cell of a client that has crashed, or that another one still holds, is
// hatched; one nobody has registered is void. All cells have one size: a larger one would look like more; only those of
// the last row, which many consumers without a row of their own share, are thinner.

import { isTextured, paint, textOn, waitingPaint } from "../../drawing/paint.js";
import { draw, round } from "../../drawing/shapes.js";
import { rowsOf } from "../fold.js";
import { light } from "./lit.js";
import { LETTERS, TALL, WIDTH, nameEvery } from "./size.js";

const TOP = 42, LEFT = 74, WIDE_IDS = 12, RIGHT = 230, MORE = 16, GAP = 4, LINE = 16, LETTER = 7.2;
// what a cell needs beside its name to have a chip; between two cells
const CHIP = 7, BESIDE_CHIP = CHIP + 5, BETWEEN = 5;
const OUT_OF_SERVICE = new Set(["crashed", "gone", "refused"]);

export function layout(lane, { say, at, named, height: pictureHeight = TALL }) {
  const { picture } = lane, keys = Object.keys(picture.partitions), shapes = [];
  const { names, hidden } = rowsOf(lane, named, pictureHeight - 2 - TOP - MORE + LETTERS), ofOthers = [];
  // a node id of three digits reaches further
  const left = lane.order.length > 100 ? LEFT + WIDE_IDS : LEFT;
  const held = new Map(names.map((name) => [name, []]));
  let isOpen = false;
  for (const key of keys) {
    const part = picture.partitions[key];
    if (part.owner === null) isOpen = true;
    (held.get(rowOf(part)) ?? ofOthers).push(key);
  }
  const height = Math.min(
    names.length > 1 ? 60 : pictureHeight,
    (pictureHeight - 2 - TOP - (hidden ? MORE : 0)) / Math.max(1, names.length),
  );
  const longest = Math.max(3, ...keys.map((key) => labelOf(picture.partitions[key]).length));
  const size = cellSize(Math.max(3, ...[...held.values()].map((own) => own.length)), height, longest * LETTER, left);
  shapes.push(
    {
      id: "count", tag: "text", "data-term": "source_count", x: 0, y: 14, class: "m n",
      text: picture.source_count === null ? "" : say("picture.source_count", { count: picture.source_count }),
    },
    { id: "node", tag: "text", "data-term": "node_id", x: 0, y: 34, class: "m n", text: say("picture.node") },
    {
      id: "units", tag: "text", "data-term": "partitions", x: LEFT, y: 34, class: "m n",
      text: say("picture.partitions"),
    },
    { id: "tick", tag: "text", "data-term": "tick", x: WIDTH, y: 34, class: "m end", text: say("picture.tick") },
  );
  if (isOpen) {
    shapes.push(
      { id: "void-sw", tag: "rect", x: WIDTH - 12.5, y: 3.5, width: 12, height: 12, fill: "url(#void)", class: "void" },
      { id: "void-word", tag: "text", x: WIDTH - 19, y: 14, class: "m end", text: say("picture.unregistered") },
    );
  }
  const context = { lane, say, at, shapes, height, size, current: lane.route?.unit };
  names.forEach((name, row) =>
    client(context, name, TOP + row * height, held.get(name), row % nameEvery(height) === 0),
  );
  if (hidden) {
    shapes.push({ id: "more", tag: "text", x: 14, y: pictureHeight - 4, class: "n m", text: `+${hidden}` });
    const columns = Math.max(1, ofOthers.length), width = (RIGHT - left) / columns;
    const thin = { left, columns, width, inner: round(Math.min(size.inner, width * 0.75)), box: Math.min(8, size.box) };
    cells({ ...context, height: MORE, size: thin }, pictureHeight - 1 - MORE, ofOthers);
  }
  return shapes;
}

const labelOf = ({ broker, id }) => `${broker}:${id}`;

// One size for the cells of all rows: as few lines as leave room for a cell's name and its chip, where the rows are
// high enough for that.
function cellSize(most, height, name, left) {
  const linesMax = Math.max(1, Math.floor((height - 2) / LINE));
  const wide = Math.max(1, Math.floor((RIGHT - left) / (name + BESIDE_CHIP + BETWEEN)));
  const lines = Math.min(linesMax, Math.ceil(most / Math.min(4, wide))), columns = Math.ceil(most / lines);
  const width = (RIGHT - left) / columns;
  return {
    left, columns, width, inner: round(Math.max(width * 0.6, width - BETWEEN)),
    box: Math.max(4, Math.min(32, (height - 2) / lines - GAP)),
  };
}

// Whose row a partition is in.
const rowOf = ({ assigned, owner, before }) => assigned ?? owner ?? before;

function client({ lane, say, at, shapes, height, size, current }, name, top, keys, isNamed) {
  const consumer = lane.consumers[name], info = lane.picture.clients[name], middle = round(top + height / 2);
  const text = middle + 4.5;
  shapes.push({
    id: `sw-${name}`, tag: "rect", x: 0.5, y: middle - 5, width: 10, height: 10, rx: 2, fill: paint(consumer.color),
    class: "o",
  });
  if (isNamed) {
    shapes.push({
      id: `name-${name}`, tag: "text", x: 14, y: text, class: "n",
      text: name.length > 4 ? `${name.slice(0, 3)}…` : name,
    });
    if (info && info.node_id !== null) {
      shapes.push({ id: `node-${name}`, tag: "text", x: 48, y: text, class: "n m", text: `#${info.node_id}` });
    }
  }
  cells({ lane, shapes, height, size, current }, top, keys);
  const state = info?.state ?? consumer.state;
  if (OUT_OF_SERVICE.has(state)) {
    if (isNamed) {
      shapes.push({
        id: `state-${name}`, tag: "text", x: WIDTH, y: text, class: "m end", text: say(`client.${state}`),
      });
    }
  } else if (info) clockFace(shapes, name, info, at, middle, text, height, isNamed);
}

function cells({ lane, shapes, height, size, current }, top, keys) {
  const { columns, width, inner, box } = size, lines = Math.ceil(keys.length / columns) || 1;
  const gap = (height - lines * (box + GAP)) / 2;
  keys.forEach((key, index) => {
    const part = lane.picture.partitions[key], x = round(size.left + (index % columns) * width);
    const y = round(top + gap + Math.floor(index / columns) * (box + GAP) + GAP / 2);
    const owner = part.owner === null ? null : lane.consumers[part.owner];
    const hasMoved = part.before !== null && part.before !== part.owner;
    const isHatched = owner !== null && (part.stopped || part.owner !== rowOf(part));
    shapes.push({
      id: `cell-${key}`, tag: "rect", x, y, width: inner, height: round(box), rx: 3,
      fill: !owner ? "url(#void)" : isHatched ? waitingPaint(owner.color) : paint(owner.color),
      class: !owner ? "cell void" : hasMoved ? "cell oo" : "cell o",
    });
    const label = labelOf(part), room = label.length * LETTER, isNamed = box >= 13 && inner >= room + 2;
    const chip = hasMoved && owner && inner >= (isNamed ? room : CHIP) + BESIDE_CHIP && lane.consumers[part.before];
    if (isNamed) {
      const x0 = round(x + (chip ? inner - CHIP - 3 : inner) / 2);
      if (!owner || isHatched || isTextured(owner.color)) {
        shapes.push({
          id: `plate-${key}`, tag: "rect", x: round(x0 - room / 2 - 1), y: round(y + Math.max(1, box / 2 - 8)),
          width: round(room + 2), height: round(Math.min(16, box - 2)), rx: 2, class: "plate-box",
        });
      }
      shapes.push({
        id: `label-${key}`, tag: "text", x: x0, y: round(y + box / 2 + 4.5), class: "n mid",
        fill: owner && !isHatched && !isTextured(owner.color) ? textOn(owner.color) : "var(--ink)", text: label,
      });
    }
    const tall = Math.max(2, box - 8);                   // of the chip: in the middle of its cell, however low that is
    if (chip) {
      shapes.push({
        id: `chip-${key}`, tag: "rect", x: round(x + inner - CHIP - 2), y: round(y + (box - tall) / 2), width: CHIP,
        height: round(tall), fill: paint(chip.color), class: "o",
      });
    }
    if (key === current) {
      shapes.push({
        id: "current", tag: "rect", x: x - 3, y: round(y - 3), width: inner + 6, height: round(box + 6), rx: 5,
        class: "frame",
      });
    }
  });
}

// The arc is the time left to the client's next tick.
function clockFace(shapes, name, info, at, middle, text, height, isNamed) {
  if (info.next_tick_us === null || info.next_tick_us === undefined) return;
  const left = Math.max(0, info.next_tick_us - at), r = Math.min(8, height / 2 - 1.5);
  if (r < 3) return;
  const share = Math.min(1, left / info.tick_period_us);
  shapes.push(
    { id: `face-${name}`, tag: "circle", cx: WIDTH - 10, cy: middle, r, class: "face" },
    {
      id: `arc-${name}`, tag: "circle", cx: WIDTH - 10, cy: middle, r, class: "arc", pathLength: 100,
      "stroke-dasharray": `${(share * 100).toFixed(0)} 200`, transform: `rotate(-90 ${WIDTH - 10} ${middle})`,
    },
  );
  if (isNamed) {
    shapes.push({
      id: `left-${name}`, tag: "text", x: WIDTH - 22, y: text, class: "n m end", text: (left / 1e6).toFixed(1),
    });
  }
}

export function render(root, lane, context) {
  draw(root, light(root, layout(lane, context), context.lit));
}
