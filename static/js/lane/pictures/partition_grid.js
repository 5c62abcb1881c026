// Kafka: partitions across, consumers down, the lag of each partition beneath to scale. A partition that changed hands
// has a heavy outline and leaves a dashed cell behind; a paused one is hatched; one without owner is empty. On a
// cluster a bar ends at the log end offset (LEO), a mark stands at the high watermark (HW), and what is above the mark,
// which consumers cannot see yet, is hatched. Of many consumers some have a row (lane/fold.js), and the last row is
// that of all others: no partition is without its cell.

import { number } from "../../base/say.js";
import { paint, waitingPaint } from "../../drawing/paint.js";
import { draw, round } from "../../drawing/shapes.js";
import { rowsOf } from "../fold.js";
import { light } from "./lit.js";
import { LETTERS, TALL, WIDTH, nameEvery } from "./size.js";

// FIGURE: the line of the largest lag's number, above its bar
const LEFT = 55, RIGHT = WIDTH, TOP = 22, FIGURE = 18;

// Above the lags, down to `base`, there is room for the rows.
function bandsOf(height) {
  const base = height - 6, lagHeight = Math.round(height * 0.19);
  return { base, lagHeight, rowsHeight: base - lagHeight - FIGURE - TOP };
}

export function layout(lane, { say, current, named, height: pictureHeight = TALL }) {
  const { picture } = lane, keys = Object.keys(picture.partitions), shapes = [];
  const pitch = (RIGHT - LEFT) / Math.max(1, keys.length);
  const cell = Math.max(2, Math.min(19.5, pitch - (pitch > 8 ? 3 : 1)));
  const { base, rowsHeight } = bandsOf(pictureHeight);
  const { names, hidden } = rowsOf(lane, named, rowsHeight), others = names.length;
  const lines = Math.max(1, others + (hidden ? 1 : 0)), height = Math.min(27, rowsHeight / lines);
  const box = Math.max(4, Math.min(19, height - 2));
  const rowOf = new Map(names.map((name, index) => [name, index]));
  const x = (column) => round(LEFT + column * pitch + (pitch - cell) / 2);
  const y = (row) => round(TOP + row * height + (height - box) / 2);
  const place = current?.unit ?? null;
  const every = Math.ceil(18 / pitch), isActives = Boolean(picture.type);

  const dots = (id, row) => {
    const points = keys.map((_, column) => `M${x(column) + cell / 2 - 1} ${round(y(row) + box / 2)}h2`).join("");
    shapes.push({ id, tag: "path", d: points, class: "dots" });
  };
  names.forEach((name, row) => {
    const { color } = lane.consumers[name];
    shapes.push({
      id: `sw-${name}`, tag: "rect", x: 0.5, y: round(TOP + row * height + height / 2 - 5), width: 10, height: 10,
      rx: 2, fill: paint(color), class: "o",
    });
    if (row % nameEvery(height) === 0) {
      shapes.push({
        id: `name-${name}`, tag: "text", x: 14, y: round(TOP + row * height + height / 2 + 4.5), class: "n",
        text: clip(name),
      });
    }
    if (!isActives || cell < 14) dots(`dots-${name}`, row);
  });
  if (hidden) {
    dots("dots-", others);
    shapes.push({
      id: "more", tag: "text", x: 14, y: round(TOP + others * height + height / 2 + 4.5), class: "n m",
      text: `+${hidden}`,
    });
  }
  keys.forEach((key, column) => {
    const part = picture.partitions[key];
    if (column % every === 0) {
      shapes.push({
        id: `no-${key}`, tag: "text", x: round(LEFT + (column + 0.5) * pitch), y: 15, class: "n m mid", text: key,
      });
    }
    if (isActives && cell >= 14) {
      standbys(shapes, key, part, rowOf, round(LEFT + (column + 0.5) * pitch), (row) =>
        round(TOP + row * height + height / 2 + 4.5),
      );
    }
    const hasMoved = part.before !== null && part.before !== part.owner;
    if (hasMoved && lane.consumers[part.before]) {
      shapes.push({
        id: `was-${key}`, tag: "rect", x: x(column), y: y(rowOf.get(part.before) ?? others), width: cell, height: box,
        rx: 2, class: "gap",
      });
    }
    const owner = part.owner ?? part.before, row = rowOf.get(owner) ?? others;
    if (!lane.consumers[owner]) return;
    const { color } = lane.consumers[owner];
    shapes.push({
      id: `cell-${key}`, tag: "rect", x: x(column), y: y(row), width: cell, height: box, rx: 2,
      fill: part.owner === null ? "url(#void)" : part.stopped ? waitingPaint(color) : paint(color),
      class: part.owner === null ? "cell void" : hasMoved ? "cell oo" : "cell o",
    });
  });
  const largest = lags(shapes, keys, picture, lane, x, cell, pictureHeight);
  if (place !== null && keys.includes(place)) {
    shapes.push({
      id: "current", tag: "rect", x: x(keys.indexOf(place)) - 2, y: 2, width: cell + 4, height: pictureHeight - 4,
      rx: 3, class: "frame",
    });
  }
  if (largest) shapes.push(largest);   // after the frame: its halo keeps the line off the figure
  shapes.push({
    id: "lag-word", tag: "text", "data-term": "lag", x: 0, y: base - 4, class: "m", text: say("picture.lag"),
  });
  if (onCluster(picture)) {
    shapes.push({
      id: "hw-word", tag: "text", "data-term": "high_watermark", x: 0, y: base - 4 - LETTERS, class: "m",
      text: say("picture.hw"),
    });
    shapes.push({ id: "hw-key", tag: "path", d: `M26 ${base - 8 - LETTERS}h12`, class: "mark" });
    keys.forEach((key, column) =>
      shapes.push({
        id: `about-${key}`, tag: "rect", x: round(LEFT + column * pitch), y: 2, width: round(pitch), height: base - 2,
        class: "about", "data-tip": offsets(key, picture.partitions[key], say),
      }),
    );
  }
  return shapes;
}

// Partitions with replicas know how far they are replicated; a lane without replicas, and Pulsar's, do not.
const onCluster = ({ partitions }) => Object.values(partitions).some((part) => "high_watermark" in part);

function offsets(key, { leader_broker: broker, high_watermark: hw, end, position, lag }, say) {
  const params = { partition: key, hw: number(hw), leo: number(end), position: number(position), lag: number(lag) };
  return broker === null ? say("picture.offsets_offline", params) : say("picture.offsets", { ...params, broker });
}

// Pulsar's Failover: who comes after the active one, by number.
function standbys(shapes, key, part, rowOf, x, yOf) {
  part.standbys.forEach((name, place) => {
    if (rowOf.has(name)) {
      shapes.push({
        id: `next-${key}-${name}`, tag: "text", x, y: yOf(rowOf.get(name)), class: "n m mid", text: String(place + 2),
      });
    }
  });
}

// The bars, and for the caller the number of the largest.
function lags(shapes, keys, picture, lane, x, cell, pictureHeight) {
  const { base, lagHeight } = bandsOf(pictureHeight);
  let most = 0;
  for (const key of keys) most = Math.max(most, picture.partitions[key].lag);
  const scale = lagHeight / Math.max(24, most);
  let largest = null;
  keys.forEach((key, column) => {
    const part = picture.partitions[key], height = round(Math.max(0, part.lag) * scale);
    const color = lane.consumers[part.owner]?.color;
    shapes.push({
      id: `lag-${key}`, tag: "rect", x: x(column) + 2, y: round(base - height), width: Math.max(1, cell - 4), height,
      fill: color ? paint(color) : "url(#void)", class: "lag o",
    });
    if (part.high_watermark !== undefined) {
      watermark(shapes, key, part, x(column), cell, round(base - height), scale, base);
    }
    if (!largest && most > 0 && part.lag === most) {
      const half = 4 * String(most).length, middle = Math.min(x(column) + cell / 2, RIGHT - half);
      largest = {
        id: "most", tag: "text", x: round(middle), y: round(base - height - 4), class: "n mid halo", text: number(most),
      };
    }
  });
  shapes.push({ id: "base", tag: "path", d: `M${LEFT} ${base + 0.5}H${RIGHT}`, class: "rule" });
  return largest;
}

// The mark at the high watermark, and over the part of the bar above it the hatch.
function watermark(shapes, key, { end, high_watermark: hw }, x, cell, top, scale, base) {
  const y = round(Math.min(base, top + (end - hw) * scale));
  if (y > top) {
    shapes.push({
      id: `unseen-${key}`, tag: "rect", x: x + 2, y: top, width: Math.max(1, cell - 4), height: round(y - top),
      fill: "url(#above-hw)", class: "thin",
    });
  }
  shapes.push({ id: `hw-${key}`, tag: "path", d: `M${x} ${y}h${cell}`, class: "mark" });
}

const clip = (name) => (name.length > 4 ? `${name.slice(0, 3)}…` : name);

export function render(root, lane, context) {
  draw(root, light(root, layout(lane, { ...context, current: lane.route }), context.lit));
}
