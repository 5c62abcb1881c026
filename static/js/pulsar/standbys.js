// Exclusive and Failover: partitions down, consumers across in the order in which the broker has them. The active one
// is filled, the next when it leaves is framed, the others stand by. During the second of a switch the active one is
// hatched: it does not read yet.

import { NONE, number } from "../base/say.js";
import { isTextured, paint, textOn, waitingPaint } from "../drawing/paint.js";

const ROW = 30, HEAD = 46, LEFT = 104, COLUMN_LEAST = 50, COLUMN_MOST = 128, BACKLOG = 84, PHONE = 560, LEFT_PHONE = 68;
const BACKLOG_PHONE = 64;

// "Partition 3", the name of one of several topics, or "the topic".
const placeWords = (partition, say) =>
  partition === "-1"
    ? say("subscription.no_partition")
    : /^\d+$/.test(partition)
      ? `${say("subscription.partition")} ${partition}`
      : partition;

export const tall = (failover) => HEAD + Object.keys(failover.partitions).length * ROW + 6;
const before = (width) => (width < PHONE ? LEFT_PHONE + BACKLOG_PHONE : LEFT + BACKLOG);
export const wide = (failover, width) => before(width) + Math.max(1, failover.order.length) * pitch(failover, width);
const pitch = (failover, width) =>
  Math.max(COLUMN_LEAST, Math.min(COLUMN_MOST, (width - before(width)) / Math.max(1, failover.order.length)));

// width: what the page has for it; the table is as wide as `wide` says.
export function layout({ failover, cursors, topics }, { width, colorOf, chosen, say }) {
  const shapes = [], left = before(width), step = pitch(failover, width), x = (place) => left + place * step;
  shapes.push(
    {
      id: "head-partition", tag: "text", x: 0, y: 16, class: "m",
      text: say(topics ? "subscription.topic" : "subscription.partition"),
    },
    { id: "head-backlog", tag: "text", x: left - 16, y: 16, class: "m end", text: say("subscription.column.backlog") },
  );
  failover.order.forEach(([name, priority], place) => {
    const middle = x(place) + step / 2;
    shapes.push({
      id: `name-${name}`, tag: "text", x: middle, y: 16, class: `n mid b${name === chosen ? " chosen" : ""}`,
      text: name,
    });
    if (failover.order.some(([, other]) => other !== priority)) {
      shapes.push({
        id: `level-${name}`, tag: "text", x: middle, y: 34, class: "m mid", "data-term": "priority_level",
        text: say("subscription.level", { priority }),
      });
    }
  });
  Object.entries(failover.partitions).forEach(([partition, { active, next, switching }], row) => {
    const y = HEAD + row * ROW, cursor = cursors[partition];
    shapes.push({
      id: `row-${partition}`, tag: "text", x: 0, y: y + 19, class: "n",
      text: partition === "-1" ? say("subscription.no_partition") : partition,
    });
    shapes.push({
      id: `backlog-${partition}`, tag: "text", x: left - 16, y: y + 19, class: "n m end",
      text: cursor ? number(cursor.backlog) : NONE,
    });
    if (!failover.order.length) {
      shapes.push({
        id: `empty-${partition}`, tag: "text", x: x(0), y: y + 19, class: "m", text: say("subscription.nobody_active"),
      });
    }
    failover.order.forEach(([name], place) => {
      const color = colorOf(name), where = placeWords(partition, say), isActive = name === active;
      const isNext = name === next, at = { x: x(place) + 2, y: y + 2, width: step - 4, height: ROW - 4, rx: 3 };
      shapes.push({
        id: `cell-${partition}-${name}`, tag: "rect", ...at,
        fill: !isActive ? "none" : switching ? waitingPaint(color) : paint(color),
        class: isActive ? "o" : isNext ? "next" : "standby",
        title: say(
          `subscription.cell.${isActive ? (switching ? "switching" : "active") : isNext ? "next" : "standby"}`,
          { consumer: name, where },
        ),
      });
      const plain = isActive && !switching && !isTextured(color);
      const text = isActive
        ? say(switching ? "subscription.waits" : "subscription.active")
        : isNext
          ? say("subscription.next")
          : step > 80
            ? say("subscription.standby")
            : "";
      if (text) {
        shapes.push({
          id: `word-${partition}-${name}`, tag: "text", x: at.x + at.width / 2, y: y + 19,
          class: `mid on-cell${isActive ? " b" : " m"}${isActive && !plain ? " halo" : ""}`,
          ...(plain ? { fill: textOn(color) } : {}), text,
        });
      }
    });
  });
  return shapes;
}

export function table({ failover }, say) {
  return {
    head: ["partition", "active", "next", "standbys"].map((code) => say(`subscription.column.${code}`)),
    terms: [null, "active_consumer", null, "standby"],
    rows: Object.entries(failover.partitions).map(([partition, { active, next, switching }]) => [
      partition === "-1" ? say("subscription.no_partition") : partition,
      active === null ? NONE : switching ? say("subscription.is_switching", { consumer: active }) : active,
      next ?? NONE,
      failover.order
        .map(([name]) => name)
        .filter((name) => name !== active)
        .join(say("list.comma")) || NONE,
    ]),
  };
}
