// A truncation: what a copy has lost falls off its strip, with how much it was, and fades. Nothing is cut without being
// seen.

import { round } from "../drawing/shapes.js";
import { stripX } from "./partition.js";
import { rise } from "./window.js";

const SVG = "http://www.w3.org/2000/svg", FALLS_MS = 2400, END_ROOM = 28, FOOT_ROOM = 12;

// -> [{broker, from, to}]: copies that end earlier than a moment before; `isAll`: the log began again elsewhere.
export function cutsBetween(before, now) {
  if (!before) return [];
  return Object.entries(now.copies).flatMap(([broker, copy]) => {
    const was = before.copies[broker];
    return was && copy.end < was.end
      ? [{ broker, from: Math.max(copy.end, was.start), to: was.end, count: was.end - Math.max(copy.end, was.start) }]
      : [];
  });
}

// The height of its words: above what falls, clear of the number at the log's new end and of the words below the strip.
export const wordsAt = (top, bottom, base) => round(Math.min(top - 6, bottom - END_ROOM, base - FOOT_ROOM));

export function createCuts(layer, isStill) {
  return function show(cuts, { grid, place, say }) {
    for (const { broker, from, to, count } of cuts) {
      const { width } = place.strip, x = stripX(grid, place, broker), top = place.base - rise(place.window, to);
      const bottom = place.base - rise(place.window, from);
      const group = layer.appendChild(document.createElementNS(SVG, "g"));
      const box = group.appendChild(document.createElementNS(SVG, "rect"));
      const words = group.appendChild(document.createElementNS(SVG, "text"));
      for (const [name, value] of Object.entries({
        x, y: round(top), width, height: round(Math.max(4, bottom - top)), class: "fallen",
      })) {
        box.setAttribute(name, value);
      }
      for (const [name, value] of Object.entries({
        x: x + width / 2, y: wordsAt(top, bottom, place.base), class: "n b mid halo bad",
      })) {
        words.setAttribute(name, value);
      }
      words.textContent = say("cluster.cut_off", { count });
      if (isStill()) setTimeout(() => group.remove(), FALLS_MS);
      else {
        const stays = { transform: "none", opacity: 1 };
        const timing = { duration: FALLS_MS, easing: "ease-in", fill: "forwards" };
        words.animate([stays, { ...stays, offset: 0.7 }, { ...stays, opacity: 0 }], timing);
        box
          .animate(
            [stays, { ...stays, offset: 0.35 }, { transform: "translate(26px, 46px) rotate(7deg)", opacity: 0 }],
            timing,
          )
          .finished.then(
            () => group.remove(),
            () => group.remove(),
          );
      }
    }
  };
}
