// The frames of a lesson as numbered stops at equal distances, with a word each, in the place of the line of time.
// Between two stops the line is as long as any other, however much time is between them. What the system did on its own
// is an open square between them; what stands at a stop is in its caption.

import { clock } from "../base/say.js";
import { draw, round } from "../drawing/shapes.js";
import { clusters, hit, square, systemTicks, told } from "../lane/timeline.js";
import { placeOf, stopsOf } from "./frames.js";

const LINE = 15, TEXT = 44, R = 12, LEFT = 20, RIGHT = 26, LETTER = 6.9, WIDE = 13.2, GAP = 8, BESIDE = 22;

const numbered = (lesson) => stopsOf(lesson).filter(({ frame }) => frame);
const lineOf = (width) => [LEFT, Math.max(LEFT + 60, width - RIGHT)];

// Moments and their places on the line: the start, each frame, the end or now, whichever is later.
function knots(view, width) {
  const { lesson } = view, [left, right] = lineOf(width), stops = numbered(lesson);
  const step = (right - left) / stops.length;
  const found = stops.map(({ at_us: atUs }, place) => [atUs, left + (place + 0.5) * step]);
  const last = Math.max(lesson.lasts_us, view.at_us);
  return [...(found[0][0] > 0 ? [[0, left]] : []), ...found, ...(last > found.at(-1)[0] ? [[last, right]] : [])];
}

function between(value, from, to, one, other) {
  return to === from ? one : one + ((value - from) / (to - from)) * (other - one);
}

function xOf(places, atUs) {
  const next = places.findIndex(([at]) => at >= atUs);
  if (next < 0) return places.at(-1)[1];
  if (next === 0) return places[0][1];
  return between(atUs, places[next - 1][0], places[next][0], places[next - 1][1], places[next][1]);
}

// The time that a place on the line stands for.
export function timeAt(view, { width, x }) {
  const places = knots(view, width), next = places.findIndex(([, at]) => at >= x);
  if (next < 0) return places.at(-1)[0];
  if (next === 0) return places[0][0];
  return Math.round(between(x, places[next - 1][1], places[next][1], places[next - 1][0], places[next][0]));
}

const widthOf = (text) => [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? WIDE : LETTER), 0);

// shownUs: what the page shows of the past; null: it shows now.
export function layout(view, { width, say, shownUs = null, system = [], language = "en" }) {
  const places = knots(view, width), [left, right] = lineOf(width), now = xOf(places, view.at_us);
  const here = shownUs === null ? now : xOf(places, shownUs);
  const place = placeOf({ ...view, at_us: shownUs ?? view.at_us });
  const shapes = [
    { id: "track", tag: "rect", x: 0, y: 0, width, height: 48, class: "track" },
    { id: "line", tag: "path", d: `M${left} ${LINE}H${round(here)}`, class: "axis" },
    { id: "later", tag: "path", d: `M${round(here)} ${LINE}H${round(right)}`, class: "axis later" },
  ];
  if (shownUs !== null) shapes.push({ id: "now", tag: "path", d: `M${round(now)} 4V26`, class: "post" });
  if (!place.at) shapes.push({ id: "shown", tag: "path", d: `M${round(here)} 4V26`, class: "here" });
  const stops = numbered(view.lesson).map((stop) => ({ ...stop, x: round(xOf(places, stop.at_us)) }));
  const ticks = systemTicks(view, system, [0, view.at_us]), context = { view, say, language };
  const isAt = (tick, { x }) => Math.abs(x - xOf(places, tick.at_us)) <= R + BESIDE;
  shapes.push(...squares(ticks.filter((tick) => !stops.some((stop) => isAt(tick, stop))), places, context));
  for (const { number, frame, x } of stops) {
    const state = number === place.number && place.at ? "current" : number <= place.number ? "done" : "due";
    if (state === "current") shapes.push({ id: `rim-${number}`, ...sign(x, R + 3, frame.ask), class: "stop rim" });
    const text = frame.ask ? "?" : String(number);
    shapes.push(
      { id: `stop-${number}`, ...sign(x, R, frame.ask), class: `stop ${state}` },
      { id: `stop-${number}-n`, tag: "text", x, y: LINE + 4.5, class: `n mid stop-n ${state}`, text },
    );
  }
  shapes.push(...words(stops, place, width, say));
  for (const stop of stops) {
    const { number, frame, at_us: atUs, x } = stop, code = frame.ask ? "lesson.stop_asks" : "lesson.stop";
    const label = say(code, { number, word: wordOf(frame, say), time: clock(atUs) });
    const tip = [label, ...told(ticks.filter((tick) => isAt(tick, stop)), context)].join("\n");
    shapes.push({
      id: `hit-${number}`, tag: "rect", x: x - 18, y: 0, width: 36, height: 32, rx: 4, class: "hit", role: "button",
      "aria-label": tip.replaceAll("\n", say("covers.comma")), "data-tip": tip,
      "data-part": number, "data-frame": number,
      "aria-current": number === place.number && place.at ? "step" : null,
    });
  }
  return shapes;
}

function squares(ticks, places, context) {
  const found = clusters(ticks, ({ at_us: atUs }) => round(xOf(places, atUs)));
  return found.flatMap(({ ticks: own, at }) => {
    const { position, color } = own.at(-1);
    return [...square(`tick-${position}`, own.length > 1 ? null : color, at, LINE), hit(own, at, context)];
  });
}

// One that asks is a square.
const sign = (x, r, asks) => asks
  ? { tag: "rect", x: x - r, y: LINE - r, width: 2 * r, height: 2 * r, rx: 4 }
  : { tag: "circle", cx: x, cy: LINE, r };

const wordOf = ({ word, stop_us: atUs }, say) => word?.[say("lesson.language")] ?? clock(atUs);

// The present one first, then in turn: a word that would touch one already placed is left out.
function words(stops, { number: present, at }, width, say) {
  const placed = [], shapes = [], isPresent = ({ number }) => number === present && at !== null;
  for (const stop of [...stops].sort((one, other) => isPresent(other) - isPresent(one))) {
    const text = wordOf(stop.frame, say), half = widthOf(text) / 2;
    const x = Math.min(width - half - 2, Math.max(half + 2, stop.x));
    if (placed.some(([from, to]) => x + half + GAP > from && x - half - GAP < to)) continue;
    placed.push([x - half, x + half]);
    const weight = isPresent(stop) ? "mid b" : "mid m";
    shapes.push({ id: `word-${stop.number}`, tag: "text", x: round(x), y: TEXT, class: weight, text });
  }
  return shapes;
}

export function render(root, view, context) {
  draw(root, layout(view, context));
}
