// Shared: the consumers in the order of their turns, each with the permits it has left and the messages it holds. The
// topmost is next.

import { number } from "../base/say.js";
import { paint } from "../drawing/paint.js";

const ROW = 30, HEAD = 26, NAME = 84, WORDS = 150, LEVEL = 76;

export const tall = (picture) => HEAD + Math.max(1, picture.ring.length) * ROW + 4;

// picture: of a Shared lane. consumers: of the panel. permitsMost: a full receiver queue.
export function layout(picture, consumers, { width, colorOf, permitsMost, chosen, say }) {
  const shapes = [], hasLevels = picture.ring.some((name) => consumers[name]?.priority);
  const bar = Math.max(60, width - NAME - WORDS - (hasLevels ? LEVEL : 0)), most = Math.max(permitsMost, 1);
  shapes.push(
    {
      id: "head", tag: "text", x: NAME, y: 16, class: "m", "data-term": "permits",
      text: say("subscription.round_permits"),
    },
    {
      id: "head-held", tag: "text", x: width, y: 16, class: "m end", "data-term": "in_flight",
      text: say("subscription.column.unacked"),
    },
  );
  if (!picture.ring.length) {
    shapes.push({ id: "none", tag: "text", x: 0, y: HEAD + 20, class: "m", text: say("subscription.nobody") });
  }
  picture.ring.forEach((name, place) => {
    const y = HEAD + place * ROW, permits = Math.max(0, consumers[name]?.permits ?? 0);
    const wide = Math.min(1, permits / most) * bar;
    if (place === 0) shapes.push({ id: "turn", tag: "path", class: "ink", d: `M0 ${y + 8}l9 6l-9 6z` });
    shapes.push({
      id: `name-${name}`, tag: "text", x: 16, y: y + 19, class: `n b${name === chosen ? " chosen" : ""}`, text: name,
    });
    shapes.push({ id: `box-${name}`, tag: "rect", x: NAME, y: y + 3, width: bar, height: ROW - 8, class: "standby" });
    if (wide > 0) {
      shapes.push({
        id: `permits-${name}`, tag: "rect", x: NAME, y: y + 3, width: Math.max(1, Math.round(wide)), height: ROW - 8,
        fill: paint(colorOf(name)), class: "o",
      });
    }
    shapes.push({
      id: `count-${name}`, tag: "text", x: NAME + bar + 10, y: y + 19, class: "n m", text: number(permits),
    });
    if (hasLevels) {
      shapes.push({
        id: `level-${name}`, tag: "text", x: width - 64, y: y + 19, class: "m end",
        text: say("subscription.level", { priority: consumers[name]?.priority ?? 0 }),
      });
    }
    shapes.push({
      id: `held-${name}`, tag: "text", x: width, y: y + 19, class: "n end", text: number(consumers[name]?.unacked ?? 0),
    });
  });
  return shapes;
}
