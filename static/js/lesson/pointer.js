// The pointer of a lesson: an outline with a soft rim around a thing on the page, an arrow, and a plate of a few words.
// It covers nothing of what it points at, and stays where it is while that does.

import { draw, round } from "../drawing/shapes.js";

const SVG = "http://www.w3.org/2000/svg";
const PAD = 6, RIM = 5, REACH = 34, TALL = 34, EDGE = 8, CORNER = 8, LETTER = 9, WIDE = 16, SHIFT = 1.5;
const REST_MS = 200, TRIES_MOST = 20;

export const plateWidth = (text) =>
  Math.ceil([...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? WIDE : LETTER), 24));

// Where the plate may stand, as far as that is inside of room: right, left, below and above of the thing, first with
// its middle at the thing's, then shifted along that side by its own size.
// box, room: { left, top, right, bottom }. -> [{ left, top, right, bottom, from: [x, y], to: [x, y] }]
export function places(box, width, room) {
  const middle = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
  const within = (value, least, most) => Math.max(least, Math.min(value, most));
  const x = within(middle.x - width / 2, room.left + EDGE, room.right - EDGE - width);
  const y = within(middle.y - TALL / 2, room.top + EDGE, room.bottom - EDGE - TALL);
  const at = (left, top, from, to) => ({ left, top, right: left + width, bottom: top + TALL, from, to });
  const end = within(middle.x, x + CORNER, x + width - CORNER), side = within(middle.y, y + CORNER, y + TALL - CORNER);
  const right = box.right + RIM + REACH, left = box.left - RIM - REACH;
  const below = box.bottom + RIM + REACH, above = box.top - RIM - REACH;
  const straight = [
    at(right, y, [right, side], [box.right + RIM, middle.y]),
    at(left - width, y, [left, side], [box.left - RIM, middle.y]),
    at(x, below, [end, below], [middle.x, box.bottom + RIM]),
    at(x, above - TALL, [end, above], [middle.x, box.top - RIM]),
  ];
  const shifted = [-1, 1].flatMap((way) => {
    const beside = y + way * SHIFT * TALL, along = x + way * (width / 2 + CORNER);
    const near = way < 0 ? width - CORNER : CORNER;
    return [
      at(right, beside, [right, beside + TALL / 2], [box.right + RIM, middle.y]),
      at(left - width, beside, [left, beside + TALL / 2], [box.left - RIM, middle.y]),
      at(along, below, [along + near, below], [middle.x, box.bottom + RIM]),
      at(along, above - TALL, [along + near, above], [middle.x, box.top - RIM]),
    ];
  });
  return [...straight, ...shifted].filter((place) => isInside(place, room));
}

const isInside = ({ left, top, right, bottom }, room) =>
  left >= room.left + EDGE && right <= room.right - EDGE && top >= room.top + EDGE && bottom <= room.bottom - EDGE;

const rectOf = ({ left, top, right, bottom }) => ({
  x: round(left), y: round(top), width: round(right - left), height: round(bottom - top),
});

// The outline around box with its plate at place, as shapes; place: null where there is room for none.
export function layout(box, place, text) {
  const size = rectOf(box);
  const shapes = [
    { id: "rim", tag: "rect", ...size, rx: CORNER, class: "rim" },
    { id: "edge", tag: "rect", ...size, rx: CORNER, class: "edge" },
  ];
  if (!place) return shapes;
  const { from: [fx, fy], to: [x, y] } = place, turn = Math.atan2(y - fy, x - fx);
  const barb = (by) =>
    `M${round(x)} ${round(y)}L${round(x - 10 * Math.cos(turn + by))} ${round(y - 10 * Math.sin(turn + by))}`;
  const d = `M${round(fx)} ${round(fy)}L${round(x)} ${round(y)}${barb(0.6)}${barb(-0.6)}`;
  return [
    ...shapes,
    { id: "arrow", tag: "path", class: "arrow", d },
    { id: "plate", tag: "rect", ...rectOf(place), rx: 6, class: "plate" },
    { id: "text", tag: "text", x: round((place.left + place.right) / 2), y: round(place.top + TALL / 2 + 5.5), text },
  ];
}

// find(): the elements of the thing that is pointed at, and the plate's text: { key, elements, text }, or null.
export function createPointer(find) {
  const root = document.body.appendChild(document.createElementNS(SVG, "svg"));
  root.setAttribute("class", "pointer");
  root.setAttribute("width", "1");
  root.setAttribute("height", "1");
  root.setAttribute("aria-hidden", "true");
  let scrolledFor = null, shown = "", isDue = false, tries = 0;

  function point() {
    isDue = false;
    const thing = find(), box = thing && boxOf(thing.elements);
    if (!thing) [scrolledFor, tries] = [null, 0];
    if (!box) {
      if (thing && tries < TRIES_MOST) setTimeout(later, REST_MS);     // its picture is not drawn yet
      tries += 1;
      return clear();
    }
    tries = 0;
    if (scrolledFor !== thing.key) {
      scrolledFor = thing.key;
      if (!isSeen(box)) return scrollTo(thing.elements);
    }
    const key = JSON.stringify([thing.text, box, innerWidth]);
    if (key === shown) return null;
    shown = key;
    return draw(root, layout(box, freest(places(box, plateWidth(thing.text), room())), thing.text));
  }

  function clear() {
    if (shown) draw(root, []);
    shown = "";
  }

  // A new thing is pointed at when the pictures have come to rest, so that the page scrolls once.
  const later = () => {
    if (isDue) return;
    isDue = true;
    const isNew = (find()?.key ?? null) !== scrolledFor;
    if (isNew) clear();                                 // it is not about what is said now
    if (isNew) setTimeout(point, REST_MS);
    else requestAnimationFrame(point);
  };

  function scrollTo(elements) {
    elements[0].scrollIntoView({ block: "center", inline: "center" });
    later();
  }

  addEventListener("resize", later);
  document.addEventListener("scroll", later, { capture: true, passive: true });
  document.addEventListener("click", later);
  new ResizeObserver(later).observe(document.getElementById("main"));
  return later;
}

// Of all that can be seen of the elements, in the document's coordinates, with room for the outline; null of nothing.
export function boxOf(elements) {
  const boxes = elements.map(visible).filter((box) => box !== null);
  if (!boxes.length) return null;
  const of = (side, best) => best(...boxes.map((box) => box[side]));
  return {
    left: round(of("left", Math.min) + scrollX - PAD), top: round(of("top", Math.min) + scrollY - PAD),
    right: round(of("right", Math.max) + scrollX + PAD), bottom: round(of("bottom", Math.max) + scrollY + PAD),
  };
}

// What its own scrolling boxes leave of an element; null where they hide it, or where it is not drawn.
function visible(element) {
  let { left, top, right, bottom } = element.getBoundingClientRect();
  if (right - left < 1 && bottom - top < 1) return null;
  for (let each = element.parentElement; each && each !== document.body; each = each.parentElement) {
    if (getComputedStyle(each).overflowX === "visible") continue;
    const box = each.getBoundingClientRect();
    [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  const isHidden = right < left || bottom < top || (right === left && bottom === top);   // a line has no width
  return isHidden ? null : { left, top, right, bottom };
}

// The window between what stands at its edges, in the document's coordinates.
function room() {
  const bar = document.querySelector(".trans")?.getBoundingClientRect();
  const bottom = bar && bar.top > innerHeight / 2 ? bar.top : innerHeight;
  const right = scrollX + document.documentElement.clientWidth;
  const above = Math.max(0, document.getElementById("story")?.getBoundingClientRect().bottom ?? 0);
  return { left: scrollX, top: scrollY + above, right, bottom: scrollY + bottom };
}

function isSeen({ top, bottom }) {
  const window = room(), isTall = bottom - top > window.bottom - window.top;
  return top >= window.top - PAD && (bottom <= window.bottom + PAD || isTall);
}

// The place under whose plate and arrow fewest words stand; the first of equal ones. Words of a picture take no press:
// elementsFromPoint would not find them.
function freest(list) {
  const words = [...document.querySelectorAll("#main :is(svg text, button, td, th, p, span, b, a, input, select, h2)")]
    .filter((element) => element.closest(".pointer") === null && isWord(element))
    .map((element) => element.getBoundingClientRect())
    .map(({ left, top, right, bottom }) => ({
      left: left + scrollX, top: top + scrollY, right: right + scrollX, bottom: bottom + scrollY,
    }));
  const counted = list.map((place) => ({ place, count: covered(place, words) }));
  return counted.sort((one, other) => one.count - other.count)[0]?.place ?? null;
}

const isWord = (element) =>
  element.matches("input, select") ||
  [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim());

const PARTS = 6;

// How many of the words are under a place: its plate counts twice, since the arrow leaves what it crosses readable.
export function covered({ from: [fx, fy], to: [tx, ty], ...plate }, words) {
  const steps = Array.from({ length: PARTS + 1 }, (_, step) => step / PARTS);
  const crosses = ({ left, top, right, bottom }) =>
    steps.some((part) => {
      const x = fx + (tx - fx) * part, y = fy + (ty - fy) * part;
      return left <= x && x <= right && top <= y && y <= bottom;
    });
  const isUnder = (word) =>
    word.left < plate.right && word.right > plate.left && word.top < plate.bottom && word.bottom > plate.top;
  return words.reduce((sum, word) => sum + (isUnder(word) ? 2 : crosses(word) ? 1 : 0), 0);
}
