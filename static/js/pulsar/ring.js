// The ring at true scale: who owned each part before the last change inside, who owns it now outside, and what changed
// hands between them, the giver's colour within the taker's. A tick for each point. Drawn as one dashed circle per
// owner and band: a ring of thousands of points costs a few elements.

import { ROUND, byOwner, dash } from "../drawing/arcs.js";
import { paint, waitingPaint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { segments } from "../drawing/slices.js";
import { handovers } from "./space.js";

export const TICKS_MAX = 1700;                          // more would lie upon one another
const TICK = 12, MARGIN = 22;
const PARTS = { was: [0.5, 0.57], given: [0.585, 0.655], taken: [0.655, 0.725], now: [0.74, 0.93], ticks: [0.94, 1] };

export const geometry = (size) => ({ size, centre: size / 2, rim: size / 2 - MARGIN });

// -> shapes of the bands, which change only with the owners.
export function bands(picture, colorOf, size) {
  const shapes = [], { centre, rim } = geometry(size);
  const circle = (id, [from, to], stroke, pieces, more = {}) =>
    shapes.push({
      id, tag: "circle", cx: centre, cy: centre, r: round((rim * (from + to)) / 2), fill: "none", stroke,
      "stroke-width": round(rim * (to - from)), pathLength: ROUND,
      "stroke-dasharray": dash(pieces, picture.space, more.least ?? 0), transform: `rotate(-90 ${centre} ${centre})`,
      class: more.class ?? null,
    });
  const band = (cut, name, part) => {
    for (const [owner, isDark, pieces] of byOwner(segments(cut, picture.space, true))) {
      circle(
        `${name}-${picture.names[owner] ?? "nobody"}${isDark ? "-dark" : ""}`,
        part,
        fillOf(colorOf(picture.names[owner]), isDark),
        pieces,
      );
    }
  };
  if (picture.before) band(picture.before, "was", PARTS.was);
  band(picture.now, "now", PARTS.now);
  if (picture.points && picture.points <= TICKS_MAX) {
    const points = new Map();
    picture.now.bounds.forEach((bound, index) =>
      points.set(picture.now.owners[index], [...(points.get(picture.now.owners[index]) ?? []), [bound, bound]]),
    );
    for (const [owner, pieces] of points) {
      circle(
        `tick-${picture.names[owner] ?? "nobody"}`,
        PARTS.ticks,
        fillOf(colorOf(picture.names[owner]), false),
        pieces,
        { least: TICK },
      );
    }
  }
  if (picture.before) {
    for (const [name, place] of [["given", 2], ["taken", 3]]) {
      const owners = new Map();
      for (const piece of handovers(picture, true)) {
        owners.set(piece[place], [...(owners.get(piece[place]) ?? []), [piece[0], piece[1]]]);
      }
      for (const [owner, pieces] of owners) {
        circle(
          `${name}-${picture.names[owner] ?? "nobody"}`,
          PARTS[name],
          fillOf(colorOf(picture.names[owner]), false),
          pieces,
          { class: `hand ${name}` },
        );
      }
    }
  }
  for (const part of ["was", "now"]) for (const edge of [0, 1]) if (part === "now" || picture.before) {
    shapes.push({
      id: `rim-${part}-${edge}`, tag: "circle", cx: centre, cy: centre, r: round(rim * PARTS[part][edge]), fill: "none",
      class: "o",
    });
  }
  return shapes;
}

const fillOf = (color, isDark) => (!color ? "url(#void)" : isDark ? waitingPaint(color) : paint(color));

// What moves: the lens's window, the slot that was asked for, slots that drain, and the words in the middle.
// lens: {from, to}; slot: of the typed key or null; draining: slots.
export function marks(picture, size, { lens, slot, draining, lines }) {
  const { centre, rim } = geometry(size), shapes = [];
  const turn = (at) => (at / picture.space) * 2 * Math.PI;
  const at = (where, r) =>
    `${(centre + r * Math.sin(turn(where))).toFixed(1)} ${(centre - r * Math.cos(turn(where))).toFixed(1)}`;
  const isWide = (lens.to - lens.from) / picture.space > 0.5, outer = rim + 6, inner = rim * 0.47;
  if (lens.to - lens.from < picture.space) {
    const arc = (r, sweep, to) => `A${round(r)} ${round(r)} 0 ${isWide ? 1 : 0} ${sweep} ${at(to, r)}`;
    const there = `M${at(lens.from, inner)}L${at(lens.from, outer)}${arc(outer, 1, lens.to)}`;
    const back = `L${at(lens.to, inner)}${arc(inner, 0, lens.from)}Z`;
    shapes.push({ id: "lens", tag: "path", class: "lens-mark", d: `${there}${back}` });
  }
  for (const one of draining) {
    shapes.push({
      id: `drain-${one}`, tag: "path", class: "drain-mark", d: `M${at(one, rim + 2)}L${at(one, rim + 12)}`,
    });
  }
  if (slot !== null) {
    shapes.push({ id: "asked", tag: "path", class: "needle", d: `M${at(slot, rim * 0.44)}L${at(slot, rim + 10)}` });
    const [x, y] = at(slot, rim + 13).split(" ");
    shapes.push({ id: "asked-dot", tag: "circle", cx: x, cy: y, r: 4.5, class: "ink" });
  }
  lines.forEach(([text, look], place) =>
    shapes.push({
      id: `line-${place}`, tag: "text", x: centre, y: round(centre + (place - (lines.length - 1) / 2) * 22 + 5),
      class: `mid ${look}`, text,
    }),
  );
  return shapes;
}

// The slot under a point of the picture; null where it is too near the middle to mean one.
export function slotAt([x, y], picture, size) {
  const { centre } = geometry(size), [dx, dy] = [x - centre, y - centre];
  if (Math.hypot(dx, dy) < size * 0.18) return null;
  const turn = (Math.atan2(dx, -dy) / (2 * Math.PI) + 1) % 1;
  return Math.min(picture.space - 1, Math.floor(turn * picture.space));
}
