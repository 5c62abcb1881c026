// The way of one record through the lanes, as a picture: time from left to right, since it was sent. In front of a
// consumer it waits (dashed), in its hands the bar has the consumer's colour, a disc ends it; what a consumer released
// ends with a stroke, and what still waits is hatched to the moment that is shown.

import { seconds } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { draw, round } from "../drawing/shapes.js";

const LEFT = 92, RIGHT = 16, TOP = 26, ROW = 34, BAR = 14;
const TICKS = 5, STEPS = [1, 2, 5];

// Round numbers of seconds, at most TICKS of them.
export function ticksOf(spanUs) {
  const least = spanUs / TICKS;
  let unit = 1000;
  for (;;) {
    for (const step of STEPS) {
      const every = unit * step;
      if (every >= least) return Array.from({ length: Math.floor(spanUs / every) + 1 }, (_, place) => place * every);
    }
    unit *= 10;
  }
}

// Pieces of one lane, in microseconds since it was sent: [{ kind: waits | held, from, to, consumer,
// end: done | dropped | null }].
export function piecesOf(steps, sentUs, untilUs) {
  const pieces = [];
  let at = 0, holder = null;
  for (const { kind, at_us: atUs, consumer } of steps) {
    const now = atUs - sentUs;
    if (kind === "received") {
      pieces.push(holder === null
        ? { kind: "waits", from: at, to: now, consumer: null, end: null }
        : { kind: "held", from: at, to: now, consumer: holder, end: null });
      holder = consumer;
    } else {
      pieces.push({ kind: "held", from: at, to: now, consumer, end: kind });
      holder = null;
    }
    at = now;
  }
  const isDone = steps.at(-1)?.kind === "done", end = untilUs - sentUs;
  if (!isDone && end > at) {
    pieces.push({ kind: holder === null ? "waits" : "held", from: at, to: end, consumer: holder, end: null });
  }
  return pieces;
}

// told: the passport. lanes: [{ id, name, colors: consumer -> colour }].
export function layout(told, lanes, { width, words }) {
  const pieces = ({ id }) => piecesOf(told.lanes[id].steps, told.sent_us, told.until_us);
  const ends = lanes.flatMap((lane) => pieces(lane).map(({ to }) => to));
  const span = Math.max(1000, ...ends), inner = width - LEFT - RIGHT, x = (at) => round(LEFT + (at / span) * inner);
  const height = TOP + lanes.length * ROW, shapes = [];
  for (const tick of ticksOf(span)) {
    shapes.push(
      { id: `tick-${tick}`, tag: "path", d: `M${x(tick)} ${TOP - 6}V${height}`, class: "grid" },
      { id: `time-${tick}`, tag: "text", x: x(tick), y: 14, class: "n m mid", text: seconds(tick, words) },
    );
  }
  lanes.forEach((lane, row) => {
    const { id, name, colors } = lane;
    const y = TOP + row * ROW + (ROW - BAR) / 2;
    shapes.push({ id: `lane-${id}`, tag: "text", x: 0, y: y + 11, class: "b", text: name });
    pieces(lane).forEach((piece, place) => {
      const own = `${id}-${place}`, from = x(piece.from), wide = Math.max(1.5, round(x(piece.to) - from));
      const box = { tag: "rect", x: from, y, width: wide, height: BAR, title: piece.consumer ?? "" };
      if (piece.kind === "waits") shapes.push({ ...box, id: own, class: "waits" });
      else shapes.push({ ...box, id: own, class: "o", fill: paint(colors[piece.consumer] ?? null) });
      if (piece.kind === "held" && wide > 22) {
        shapes.push(
          { id: `${own}-plate`, tag: "rect", x: from + 2, y: y + 1, width: 20, height: BAR - 2, class: "plate" },
          { id: `${own}-name`, tag: "text", x: from + 12, y: y + 11, class: "n mid", text: piece.consumer ?? "" },
        );
      }
      if (piece.end === "done") {
        shapes.push({ id: `${own}-end`, tag: "circle", cx: x(piece.to), cy: y + BAR / 2, r: 6, class: "done" });
      } else if (piece.end === "dropped") {
        shapes.push({ id: `${own}-end`, tag: "path", d: `M${x(piece.to)} ${y - 4}v${BAR + 8}`, class: "dropped" });
      }
    });
  });
  return { shapes, height };
}

export function render(root, told, lanes, context) {
  const { shapes, height } = layout(told, lanes, context);
  root.setAttribute("height", height);
  draw(root, shapes);
}

// The steps of one lane in words: [text].
export function stepWords({ home, steps, is_switched: isSwitched }, sentUs, say) {
  const place = home?.unit ? [say("way.partition", { unit: home.unit })] : [];
  const told = steps.map(({ kind, at_us: atUs, consumer }) =>
    say(`way.${kind}`, { consumer: consumer ?? say("way.gone"), after_us: atUs - sentUs }));
  const last = steps.at(-1)?.kind;
  const now = last === "done" ? [] : [say(last === "received" ? "way.in_hand" : "way.waits")];
  return [...place, ...told, ...(isSwitched ? [say("way.switched")] : now)];
}
