// RabbitMQ of real clients: each queue with its head at the right, and below it whoever consumes it, by the name of the
// connection, with what they have in hand. A ring is a message in flight, a dashed circle a free prefetch slot, a bent
// arrow a message that comes a second time. Where there is no room, a queue says how many consume it.

import { widthOf } from "../../drawing/labels.js";
import { paint } from "../../drawing/paint.js";
import { draw, round } from "../../drawing/shapes.js";
import { light } from "./lit.js";
import { TALL, WIDTH } from "./size.js";

const TITLE = 18, STRIP = 16, HAND = 19, GAP = 7, SLOTS_MAX = 5, HAND_LEFT = 172, NAME_LEFT = 16, HEAD_MAX = 12;
const TITLE_ROOM = 170, NAME_ROOM = HAND_LEFT - NAME_LEFT - 8, MORE = 16;

export function layout(lane, { say, height = TALL }) {
  const { picture } = lane, queues = Object.entries(picture.queues), shapes = [];
  if (!queues.length) {
    return [{ id: "hint", tag: "text", x: 0, y: 14, class: "m", text: say("picture.no_queues") }];
  }
  const room = height - (picture.more || picture.publishers.length ? MORE : 0);
  const handsOf = ([, { consumers }]) => Object.keys(consumers).length;
  const bare = TITLE + STRIP + GAP, hands = queues.reduce((sum, each) => sum + handsOf(each), 0);
  const withHands = queues.length * bare + hands * HAND <= room;
  const shown = withHands ? queues : queues.slice(0, Math.max(1, Math.floor(room / bare)));
  let top = 0;
  for (const [name, queue] of shown) {
    const thing = `queue:${name}`, count = Object.keys(queue.consumers).length;
    const words = [say("picture.ready", { ready: queue.ready })];
    if (!count) words.push(say("picture.no_consumer"));
    else if (!withHands) words.push(say("picture.consumers", { count }));
    shapes.push(
      {
        id: `queue-${name}`, tag: "text", x: 0, y: top + 14, class: "n", text: fit(name, TITLE_ROOM), title: name,
        "data-thing": thing,
      },
      {
        id: `told-${name}`, tag: "text", x: WIDTH, y: top + 14, class: "end", text: words.join(say("list.comma")),
        "data-thing": thing,
      },
      {
        id: `walls-${name}`, tag: "path", class: "wall", "data-thing": thing,
        d: `M0 ${top + TITLE + 0.5}H${WIDTH}M0 ${top + TITLE + STRIP - 0.5}H${WIDTH}`,
      },
    );
    strip(shapes, lane, name, queue.head, top + TITLE);
    top += TITLE + STRIP;
    if (withHands) {
      for (const [client, hand] of Object.entries(queue.consumers)) {
        hold(shapes, lane, name, client, hand, top + HAND / 2 + 1);
        top += HAND;
      }
    }
    top += GAP;
  }
  const more = picture.more + queues.length - shown.length;
  if (more) {
    const text = say("picture.more", { count: more });
    shapes.push({ id: "more", tag: "text", x: 0, y: height - 3, class: "m", text });
  }
  if (picture.publishers.length) {
    const names = picture.publishers.join(say("list.comma")), text = say("picture.publishers", { names });
    const left = more ? widthOf(say("picture.more", { count: more })) + GAP : 0;
    const shown = fit(text, WIDTH - left);
    shapes.push({ id: "publishers", tag: "text", x: WIDTH, y: height - 3, class: "m end", text: shown, title: names });
  }
  return shapes;
}

function strip(shapes, lane, name, head, top) {
  head.slice(0, HEAD_MAX).forEach(({ record, redelivered }, index) => {
    const x = WIDTH - 10 - index * 14, thing = thingOf(record);
    shapes.push({
      id: `ready-${name}-${index}`, tag: "rect", x, y: top + 3, width: 10, height: 10,
      class: redelivered ? "ready again" : "ready", "data-thing": thing,
    });
    if (redelivered) {
      shapes.push({ id: `bent-${name}-${index}`, tag: "path", d: bent(x + 5, top + 8), class: "bent on-ink" });
    }
  });
}

function hold(shapes, lane, name, client, { unacked, prefetch, in_flight: records }, y) {
  const color = paint(lane.consumers[client]?.color ?? null), id = `${name}-${client}`, thing = `consumer:${client}`;
  shapes.push(
    {
      id: `sw-${id}`, of: client, tag: "rect", x: 0.5, y: y - 5, width: 10, height: 10, rx: 2, fill: color, class: "o",
    },
    {
      id: `name-${id}`, of: client, tag: "text", x: NAME_LEFT, y: y + 4.5, class: "n", text: fit(client, NAME_ROOM),
      title: client, "data-thing": thing,
    },
    {
      id: `count-${id}`, of: client, tag: "text", "data-term": "prefetch", x: WIDTH, y: y + 4.5, class: "n m end",
      text: prefetch ? `${unacked}/${prefetch}` : String(unacked), "data-thing": thing,
    },
  );
  const slots = Math.min(SLOTS_MAX, prefetch || records.length);
  for (let slot = 0; slot < slots; slot += 1) {
    const cx = round(HAND_LEFT + slot * 15), item = records[slot];
    if (!item) {
      shapes.push({ id: `free-${id}-${slot}`, of: client, tag: "circle", cx, cy: y, r: 4.5, class: "free" });
      continue;
    }
    const about = { of: client, "data-thing": thingOf(item.record) };
    shapes.push(
      { id: `edge-${id}-${slot}`, ...about, tag: "circle", cx, cy: y, r: 4.5, class: "edge", "stroke-width": 5 },
      {
        id: `hand-${id}-${slot}`, ...about, tag: "circle", cx, cy: y, r: 4.5, fill: "none", stroke: color,
        "stroke-width": 2.5,
      },
    );
    if (item.redelivered) {
      shapes.push({ id: `again-${id}-${slot}`, of: client, tag: "path", d: bent(cx, y), class: "bent" });
    }
  }
}

const thingOf = (record) => (record >= 0 ? `record:${record}` : null);

// A name that is wider than its room ends in an ellipsis, and is whole in the tooltip and in the rows below.
function fit(name, room) {
  if (widthOf(name) <= room) return name;
  let cut = [...name];
  while (cut.length && widthOf(`${cut.join("")}…`) > room) cut = cut.slice(0, -1);
  return `${cut.join("")}…`;
}

const bent = (x, y) =>
  `M${x + 3} ${y + 2.5}V${y - 1.5}H${x - 3}M${x - 1} ${y - 3.5}L${x - 3} ${y - 1.5}L${x - 1} ${y + 0.5}`;

export function render(root, lane, context) {
  draw(root, light(root, layout(lane, context), context.lit));
}
