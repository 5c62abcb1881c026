// RabbitMQ: one queue, its head at the right; each consumer with what it has in hand. A ring is a record in flight, a
// dashed circle a free prefetch slot, a bent arrow a record that comes a second time; what a dead program holds is
// hatched. Many consumers become one small gauge each. What the former connection of one who has come back holds has a
// row, or a gauge, of its own, before the others. Pulsar's Shared is drawn the same way, with whose turn is next.

import { paint, waitingPaint } from "../../drawing/paint.js";
import { draw, round } from "../../drawing/shapes.js";
import { light } from "./lit.js";
import { TALL, WIDTH, nameEvery } from "./size.js";

const TOP = 46, LEFT = 58, RIGHT = 238, ROWS_MAX = 12, SLOTS_MAX = 10;

export function layout(lane, { say, at, height = TALL }) {
  const { picture } = lane, former = Object.entries(picture.former ?? {}), isTurns = "turn" in picture, shapes = [];
  const room = height - 4 - TOP;
  const isHere = ({ is_real: isReal, state }) => !isReal && state !== "gone";      // a real one may read another queue
  const names = lane.order.filter((name) => name in picture.in_flight || isHere(lane.consumers[name]));
  shapes.push(
    {
      id: "queue", tag: "text", x: 0, y: 14, class: "m",
      text: isTurns ? say("picture.turn", { name: picture.turn ?? "—" }) : say("picture.queue", { name: picture.name }),
    },
    {
      id: "ready", tag: "text", "data-term": isTurns ? null : "ready", x: WIDTH, y: 14, class: "end",
      text: say(isTurns ? "picture.unsent" : "picture.ready", { ready: picture.ready }),
    },
    { id: "walls", tag: "path", d: `M0 22.5H${WIDTH}M0 42.5H${WIDTH}`, class: "wall" },
  );
  if (!picture.head.length) {
    shapes.push({
      id: "hint", tag: "text", x: 0, y: 37, class: "m",
      text: picture.unacked ? say("picture.none_ready", { unacked: picture.unacked }) : say("picture.empty"),
    });
  } else if (picture.head.length < 9) {
    const waits = !names.length ? "picture.no_consumer" : isTurns ? "picture.permits" : "picture.head";
    shapes.push({ id: "hint", tag: "text", x: 0, y: 37, class: "m", text: say(waits) });
  }
  picture.head.forEach(({ record, redelivered }, index) => {
    const x = WIDTH - 10 - index * 14;
    shapes.push({
      id: `ready-${index}`, tag: "rect", x, y: 27, width: 10, height: 11, class: redelivered ? "ready again" : "ready",
    });
    if (redelivered) shapes.push({ id: `bent-${index}`, tag: "path", d: bent(x + 5, 32.5), class: "bent on-ink" });
    if (record === lane.route?.record) {
      shapes.push({ id: "current", tag: "rect", x: x - 3, y: 24.5, width: 16, height: 16, rx: 3, class: "frame" });
    }
  });
  const count = former.length + names.length, rowHeight = Math.min(36, room / count);
  if (count > ROWS_MAX) gauges(shapes, lane, former, names, say, height);
  else {
    former.forEach(([name, held], row) => atFormer(shapes, lane, name, held, row, rowHeight, say, at));
    names.forEach((name, row) => hands(shapes, lane, name, former.length + row, rowHeight));
  }
  return shapes;
}

// one who has left again has no colour any more
const hatched = (color) => (color ? waitingPaint(color) : "none");

function atFormer(shapes, lane, name, { unacked, until_us: until }, row, height, say, at) {
  const y = round(TOP + row * height + height / 2), left = Math.max(0, Math.ceil((until - at) / 1e6)) * 1e6;
  shapes.push({
    id: `former-${name}`, of: name, tag: "rect", x: 0.5, y: y - 5, width: 10, height: 10, rx: 2,
    fill: hatched(lane.consumers[name]?.color), class: "o",
  });
  if (row % nameEvery(height) !== 0) return;
  shapes.push(
    { id: `former-name-${name}`, of: name, tag: "text", x: 15, y: y + 4.5, class: "n", text: short(name) },
    {
      id: `former-word-${name}`, of: name, tag: "text", x: LEFT, y: y + 4.5, class: "m",
      text: say("picture.former", { left_us: left }),
    },
    {
      id: `former-count-${name}`, of: name, tag: "text", x: WIDTH, y: y + 4.5, class: "n m end", text: String(unacked),
    },
  );
}

const short = (name) => (name.length > 4 ? `${name.slice(0, 3)}…` : name);

function hands(shapes, lane, name, row, height) {
  const { picture } = lane, consumer = lane.consumers[name], records = picture.in_flight[name] ?? [];
  const isDark = consumer.state === "crashed", fill = (isDark ? waitingPaint : paint)(consumer.color);
  const y = round(TOP + row * height + height / 2), count = consumer.unacked ?? records.length;
  shapes.push({
    id: `sw-${name}`, tag: "rect", x: 0.5, y: y - 5, width: 10, height: 10, rx: 2, fill: paint(consumer.color),
    class: "o",
  });
  if (row % nameEvery(height) === 0) {
    shapes.push(
      { id: `name-${name}`, tag: "text", x: 15, y: y + 4.5, class: "n", text: short(name) },
      {
        id: `count-${name}`, tag: "text", "data-term": "prefetch", x: WIDTH, y: y + 4.5, class: "n m end",
        text: picture.prefetch ? `${count}/${picture.prefetch}` : String(count),
      },
    );
  }
  const slots = Math.min(SLOTS_MAX * 2, picture.prefetch || Math.max(SLOTS_MAX, records.length));
  const pitch = Math.min(36, (RIGHT - LEFT) / slots), r = Math.max(2.5, Math.min(10, pitch * 0.32, height * 0.34));
  const width = round(r * 0.55);
  for (let slot = 0; slot < slots; slot += 1) {
    const x = round(LEFT + 8 + slot * pitch + (pitch < 20 ? 0 : 2)), item = records[slot];
    if (!item) {
      if (picture.prefetch && consumer.state !== "gone") {
        shapes.push({ id: `free-${name}-${slot}`, tag: "circle", cx: x, cy: y, r: round(r), class: "free" });
      }
      continue;
    }
    shapes.push(
      {
        id: `edge-${name}-${slot}`, tag: "circle", cx: x, cy: y, r: round(r), class: "edge",
        "stroke-width": width + 2.5,
      },
      {
        id: `hand-${name}-${slot}`, tag: "circle", cx: x, cy: y, r: round(r), fill: isDark ? fill : "none",
        stroke: fill, "stroke-width": width,
      },
    );
    if (item.redelivered && r >= 5) {
      shapes.push({ id: `again-${name}-${slot}`, tag: "path", d: bent(x, y), class: "bent" });
    }
    if (item.record === lane.route?.record) {
      shapes.push({ id: "current", tag: "circle", cx: x, cy: y, r: round(r + 5.5), class: "frame" });
    }
  }
}

// One cell a consumer, filled from below by how much of its prefetch is in hand.
function gauges(shapes, lane, former, names, say, height) {
  shapes.push({ id: "cells", tag: "text", x: WIDTH, y: height - 3, class: "m end", text: say("picture.gauges") });
  const { picture } = lane, side = Math.min(26, sideOf(former.length + names.length, height - TOP - 26));
  const columns = Math.floor(WIDTH / side);
  const cells = [
    ...former.map(([name, { unacked }]) => ({
      id: `former-${name}`, of: name, unacked, fill: hatched(lane.consumers[name]?.color),
    })),
    ...names.map((name) => {
      const { color, unacked, state } = lane.consumers[name];
      return { id: name, of: name, unacked: unacked ?? 0, fill: (state === "crashed" ? waitingPaint : paint)(color) };
    }),
  ];
  const most = picture.prefetch || cells.reduce((max, { unacked }) => Math.max(max, unacked), 1);
  cells.forEach(({ id, of, unacked, fill }, index) => {
    const x = (index % columns) * side + 0.5, y = TOP + 4 + Math.floor(index / columns) * side + 0.5, size = side - 3;
    const full = round(Math.min(1, unacked / most) * size);
    shapes.push(
      { id: `slot-${id}`, of, tag: "rect", x, y, width: size, height: size, class: "free" },
      {
        id: `full-${id}`, of, tag: "rect", x, y: round(y + size - full), width: size, height: full, fill, class: "full",
      },
    );
  });
}

// The largest whole side with which `count` squares fit into a box of this height.
function sideOf(count, height) {
  let side = Math.floor(Math.sqrt((WIDTH * height) / count));
  while (side > 4 && Math.ceil(count / Math.floor(WIDTH / side)) * side > height) side -= 1;
  return side;
}

const bent = (x, y) =>
  `M${x + 3} ${y + 2.5}V${y - 1.5}H${x - 3}M${x - 1} ${y - 3.5}L${x - 3} ${y - 1.5}L${x - 1} ${y + 0.5}`;

export function render(root, lane, context) {
  draw(root, light(root, layout(lane, context), context.lit));
}
