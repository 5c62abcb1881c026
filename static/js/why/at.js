// What of a lane a point of its Stage picture, a row or a figure shows: "partition:3", "consumer:c1", null for nothing
// of its own. lane: as in the view.

import { shapeOf } from "../drawing/shapes.js";

const TERMS = {
  keys_moved: "moved", pause: "paused", redelivered: "redelivered", out_of_order: "out_of_order", skew: "skew",
};
const TOTALS = { keys_moved: "moved", dark: "paused", redelivered: "redelivered", out_of_order: "out_of_order" };
const HOLE = 54;
const BANDS = /^(now|was|tick|edge|raised|rim|flow|given|taken)-/;

// Of an element outside of pictures.
export const figureAt = (element) =>
  termAt(element, ".since dd, .figures dd", "figure", TERMS) ?? termAt(element, ".tally dd", "total", TOTALS);

function termAt(element, place, kind, terms) {
  const term = element.closest(place)?.parentElement.querySelector("[data-term]")?.dataset.term;
  return term in terms ? `${kind}:${terms[term]}` : null;
}

export function rowAt(element) {
  const name = element.closest("[data-consumer]")?.dataset.consumer;
  return name ? `consumer:${name}` : null;
}

// Where in a picture a press was, in the picture's own units; its corner for the focus, which is nowhere in it.
export function placeIn(picture, event) {
  const box = picture.viewBox.baseVal, { clientWidth, clientHeight } = picture;
  const [width, height] = box?.width ? [box.width, box.height] : [clientWidth, clientHeight];
  if (!event) return { x: 0, y: 0, width, height };
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
  return { x, y, width, height };
}

// Of a part of the hash space, wherever it is drawn.
export const slotIn = (id, picture, at) =>
  "space" in picture && BANDS.test(id) ? `slot:${slotAt(picture, at)}` : null;

// Of a shape in a picture. at: where in the picture, in its own units: { x, y, width, height }.
export function shapeAt(element, lane, at) {
  const shape = shapeOf(element), { picture } = lane;
  if ("space" in picture && (shape ? BANDS.test(shape.id) : isOnRing(picture, at))) {
    return `slot:${slotAt(picture, at)}`;
  }
  if (!shape) return null;
  if (picture.kind === "queues") return shape["data-thing"] ?? null;
  if (picture.kind === "queue") return queueAt(shape.id, lane);
  const cut = shape.id.indexOf("-"), name = shape.id.slice(cut + 1);
  if (cut > 0 && name in (picture.partitions ?? {})) return `partition:${name}`;
  if (cut > 0 && lane.order.includes(name)) return `consumer:${name}`;
  return null;
}

// A ring begins at the top and goes with the clock; a line from left to right.
function slotAt({ kind, space }, { x, y, width, height }) {
  let part = x / width;
  if (kind === "ring") {
    const turn = Math.atan2(x - width / 2, height / 2 - y) / (2 * Math.PI);
    part = turn < 0 ? turn + 1 : turn;
  }
  return Math.min(space - 1, Math.max(0, Math.floor(part * space)));
}

// Between the hole and the rim: there is nothing between two raised pieces, and they are thin.
function isOnRing({ kind }, { x, y, width, height }) {
  const radius = Math.hypot(x - width / 2, y - height / 2);
  return kind === "ring" && radius > HOLE && radius < height / 2;
}

function queueAt(id, { picture, model, order }) {
  const ready = /^(?:ready|bent)-(\d+)$/.exec(id), held = /^(?:hand|edge|again)-(.+)-(\d+)$/.exec(id);
  if (ready) return recordOf(picture.head[ready[1]]);
  if (held) return recordOf(picture.in_flight[held[1]]?.[held[2]]);
  if (["queue", "ready", "walls", "hint"].includes(id)) return model === "rabbitmq" ? `queue:${picture.name}` : null;
  const name = order.find((each) => id.endsWith(`-${each}`) || id.includes(`-${each}-`));
  return name ? `consumer:${name}` : null;
}

const recordOf = (item) => (item && item.record >= 0 ? `record:${item.record}` : null);
