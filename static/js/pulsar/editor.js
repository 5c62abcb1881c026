// Sticky ranges as they are typed: the server says what they would cover, what overlaps, and whether client and broker
// would take them.

import { number, percent } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";

const Y = 6, H = 18;

// answer: of /pulsar/ranges/. consumers: of the panel. -> shapes: others' ranges, the typed ones in bold outline, gaps
// hatched, overlaps marked.
export function layout(answer, consumers, { who, width, colorOf }) {
  const { space } = answer, at = (slot) => round((slot / space) * width), shapes = [];
  const bar = (id, first, last, more) =>
    shapes.push({
      id, tag: "rect", x: at(first), y: Y, width: Math.max(1, round(at(last + 1) - at(first))), height: H, ...more,
    });
  answer.gaps.forEach(([first, last], place) =>
    bar(`gap-${place}`, first, last, { fill: "url(#void)", class: "thin" }),
  );
  for (const [name, { ranges, connected }] of Object.entries(consumers)) {
    if (name === who || !connected) continue;
    ranges.forEach(([first, last], place) =>
      bar(`other-${name}-${place}`, first, last, { fill: paint(colorOf(name)), class: "o" }),
    );
  }
  answer.ranges.forEach(([first, last], place) => {
    if (last >= first && first < space && last >= 0) {
      bar(`mine-${place}`, Math.max(0, first), Math.min(space - 1, last), { fill: paint(colorOf(who)), class: "oo" });
    }
  });
  answer.overlaps.forEach(([first, last], place) =>
    shapes.push({
      id: `overlap-${place}`, tag: "rect", x: at(first), y: Y + H + 3,
      width: Math.max(3, round(at(last + 1) - at(first))), height: 6, class: "overlap",
    }),
  );
  shapes.push(
    { id: "zero", tag: "text", x: 0, y: 44, class: "m n", text: "0" },
    { id: "end", tag: "text", x: width, y: 44, class: "m n end", text: number(space - 1) },
  );
  return shapes;
}

// -> [[text, whether it is bad]]
export function findings(answer, say) {
  const found = [
    [say("subscription.covers", { part: percent(answer.covered / answer.space, 1), count: answer.gaps.length }), false],
  ];
  for (const [first, last, name] of answer.overlaps.slice(0, 4)) {
    found.push([
      say(name ? "subscription.overlap" : "subscription.overlap_own", {
        first: number(first), last: number(last), consumer: name,
      }),
      true,
    ]);
  }
  const { refused } = answer;
  if (refused) {
    found.push([
      say(refused.conflict ? "subscription.would_refuse_for" : "subscription.would_refuse", {
        reason: refused.message, consumer: refused.conflict,
      }),
      true,
    ]);
  } else found.push([say("subscription.would_take"), false]);
  return found;
}

export const written = (ranges) => ranges.map(([first, last]) => `${first}-${last}`).join(", ");
