// The exchange graph of one virtual host as shapes: publisher = pill, exchange = six sides with its type as a word,
// queue = box with a bar for what is ready (one scale for all) and the number, consumer = swatch and prefetch rings
// (full = in flight, dashed = free).

import { widthOf } from "../drawing/labels.js";
import { paint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { apart } from "./labels.js";
import { idOf } from "./order.js";
import { placesOf } from "./places.js";
import { waysOf } from "./ways.js";

const RINGS_MAX = 10, RINGS_ROW = 5, RING = 13, COUNTED = 62;      // COUNTED: room for its mark and what it holds
const INK = {
  publish: "ink", binding: "ink", consume: "ink", alternate: "muted", dead_letter: "warning", return: "error",
};
const DASHED = { dead_letter: "7 4", return: "7 4", alternate: "2 4" };
// Of the width that labels.js counts for a letter.
const SANS = 0.87, BOLD = 0.94, MONO = 0.98, LARGE = 1.28, TALL = 1.06;

// view: the topology. colorOf: a program's name -> its colour. words: {heads: {publisher, exchange, queue,
// consumer}, key(binding, view), deadLetter(edge), returned(edge), nobody(queue name), type(exchange), auto()} of the
// page's catalogue. tried: {source, matches: Set of bindings' ids} while a message is tried, else null. chosen: {kind,
// name} or null. lit: {ways, parts} of a message's way, or null. order: of the last layout, while its nodes are the
// same.
// -> {height, order, shapes, ways: {kind:id of an edge: its path}}, on which messages may move.
export function layout(view, { width, colorOf, words, tried = null, chosen = null, lit = null, order = undefined }) {
  const places = placesOf(view, width, order);
  const ways = apart(waysOf(view, places), (way) => plateOf(way, labelOf(way, view, words)).wide);
  const isChosen = (kind, name) => chosen?.kind === kind && chosen.name === name;
  const shapes = Object.keys(places.nodes).flatMap((kind) => head(kind, places, headOf(kind, view, words)));
  for (const way of ways) shapes.push(...line(way, view, tried, words, lit));
  for (const [kind, all] of Object.entries(places.nodes)) {
    const named = Object.entries(all).filter(([name]) => lit?.parts.has(idOf(kind, name)));
    shapes.push(...named.map(([name, place]) => frame(kind, name, place)));
  }
  for (const [name, place] of Object.entries(places.nodes.publisher)) {
    shapes.push(...publisher(name, view.publishers[name], place, isChosen("publisher", name), words));
  }
  const sources = new Set(tried ? [tried.source] : []), taken = new Set(matched(view, tried));
  for (const [name, place] of Object.entries(places.nodes.exchange)) {
    const isStrong = sources.has(name) || taken.has(idOf("exchange", name));
    shapes.push(...exchange(name, view.exchanges[name], place, isStrong, isChosen("exchange", name), words));
  }
  const most = Math.max(1, ...Object.values(view.queues).map(({ ready }) => ready));
  for (const [name, place] of Object.entries(places.nodes.queue)) {
    const isStrong = taken.has(idOf("queue", name));
    shapes.push(...queue(name, view.queues[name], place, most, isStrong, isChosen("queue", name)));
    const isRead = Object.values(view.consumers).some((each) => each.queue === name);
    if (!isRead) shapes.push(unread(name, place, view.queues[name], places, width, words));
  }
  for (const [id, place] of Object.entries(places.nodes.consumer)) {
    shapes.push(...consumer(id, view.consumers[id], place, colorOf, isChosen("consumer", id), words));
  }
  return {
    height: places.height, order: places.order, shapes,
    ways: Object.fromEntries(ways.map((way) => [ownOf(way), way.d])),
  };
}

const matched = (view, tried) =>
  [...(tried?.matches ?? [])].filter((id) => view.bindings[id])
    .map((id) => idOf(view.bindings[id].kind, view.bindings[id].destination));

const text = (id, x, y, words, more = {}) => ({ id, tag: "text", x: round(x), y: round(y), text: words, ...more });

// A text cut to its room, the whole of it in the tooltip.
function cut(words, room, face = SANS) {
  if (widthOf(words) * face <= room) return words;
  let kept = [...words];
  while (kept.length > 1 && widthOf(`${kept.join("")}…`) * face > room) kept = kept.slice(0, -1);
  return `${kept.join("")}…`;
}

// A node's name, the whole of it in the tooltip where it is cut.
function named(id, x, y, name, room, look = { class: "b" }) {
  const shown = cut(name, room, look.class === "b" ? BOLD : SANS);
  return text(id, x, y, shown, { ...look, ...(shown === name ? {} : { title: name }) });
}

// Consumers are real programs all of them, or none; beside their names are rings.
const headOf = (kind, { consumers }, words) =>
  (kind === "consumer" && Object.values(consumers).some(({ is_real: isReal }) => isReal)
    ? `${words.heads[kind]} · ${words.real()}` : words.heads[kind]);

function head(kind, places, words) {
  const [first] = Object.values(places.nodes[kind]);
  return first ? [text(`head-${kind}`, first.x, 16, words, { class: "m" })] : [];
}

// What a message's way went over: a broad line under the way's own, a frame around the node.
const halo = (way) => ({
  id: `lit-${ownOf(way)}`, tag: "path", d: way.d, fill: "none", stroke: "var(--accent)", "stroke-width": 8,
  "stroke-opacity": 0.45, "stroke-linecap": "round", class: "lit", "data-lit": ownOf(way),
});
const frame = (kind, name, { x, y, width, height }) => ({
  id: `lit-${idOf(kind, name)}`, tag: "rect", x: round(x - 4), y: round(y - height / 2 - 4), width: round(width + 8),
  height: round(height + 8), rx: kind === "publisher" ? height / 2 + 4 : 7, fill: "var(--accent)", "fill-opacity": 0.28,
  class: "lit", "data-lit": idOf(kind, name),
});

function line(way, view, tried, words, lit) {
  const isOfSource = way.kind === "binding" && tried?.source === view.bindings[way.id].source;
  const isMatch = way.kind === "binding" && Boolean(tried?.matches.has(way.id)), isMiss = isOfSource && !isMatch;
  const stroke = `var(--${isMiss ? "muted" : INK[way.kind]})`, own = ownOf(way), id = `way-${own}`;
  const shapes = [];
  // What crosses a way back crosses it with a gap.
  if (way.kind === "consume") {
    shapes.push({
      id: `gap-${own}`, tag: "path", d: way.d, fill: "none", stroke: "var(--panel)", "stroke-width": 6,
    });
  }
  if (lit?.ways.has(own)) shapes.push(halo(way));
  shapes.push({
    id, tag: "path", d: way.d, fill: "none", stroke, "stroke-width": isMatch ? 2.5 : way.kind in DASHED ? 1.6 : 1.3,
    "stroke-dasharray": isMiss ? "4 4" : (DASHED[way.kind] ?? null), class: `way ${way.kind}`, "data-way": own,
  });
  shapes.push({
    id: `press-${own}`, tag: "path", d: way.d, fill: "none", stroke: "transparent", "stroke-width": 12, class: "press",
    "data-way": own,
  });
  if (way.head) {
    shapes.push({ id: `head-${own}`, tag: "path", d: way.head, fill: "none", stroke, "stroke-width": 1.6 });
  }
  const label = labelOf(way, view, words);
  if (label) shapes.push(...plate(way, label, isMatch, isMiss));
  return shapes;
}

// Two edges of different kinds may have one id: what a connection publishes and what comes back to it.
const ownOf = ({ kind, id }) => `${kind}:${id}`;

function labelOf(way, view, words) {
  if (way.kind === "binding") return words.key(view.bindings[way.id], view);
  if (way.kind === "dead_letter") return words.deadLetter(view.dead_letters[way.id]);
  return way.kind === "return" ? words.returned(view.returns[way.id]) : "";
}

const LOOKS = { dead_letter: "wa", return: "er", binding: "n" };

// A line's words as far as they have room, and how wide what is behind them is: 0 without words.
function plateOf(way, label) {
  if (!label) return { shown: "", wide: 0 };
  const face = way.kind === "binding" ? MONO : SANS, shown = way.room ? cut(label, way.room - 8, face) : label;
  return { shown, wide: round(widthOf(shown) * face + 8) };
}

function plate(way, label, isMatch, isMiss) {
  const { shown, wide } = plateOf(way, label);
  const look = `${LOOKS[way.kind]}${isMatch ? " b" : ""}${isMiss ? " m" : ""}`;
  return [
    {
      id: `plate-${ownOf(way)}`, tag: "rect", x: round(way.x - wide / 2), y: round(way.y - 10), width: wide, height: 20,
      rx: 3, fill: "var(--panel)",
    },
    text(`key-${ownOf(way)}`, way.x, way.y + 4.5, shown, {
      class: look, "text-anchor": "middle", title: shown === label ? undefined : label,
    }),
  ].map(({ title, ...shape }) => (title ? { ...shape, title } : shape));
}

const part = (kind, name, isChosen, label) => ({
  role: "button", tabindex: -1, "data-part": idOf(kind, name), "aria-pressed": String(isChosen), "aria-label": label,
});
const outline = (isStrong, isChosen) => ({
  fill: "var(--panel)", stroke: isChosen ? "var(--accent)" : "var(--ink)",
  "stroke-width": isStrong || isChosen ? 2.5 : 1.5,
});

function publisher(name, node, { x, y, width, height }, isChosen, words) {
  const count = node.is_real ? `${node.published} · ${words.real()}` : String(node.published);
  const id = idOf("publisher", name), lost = node.nacked ? words.nacked(node) : "";
  const label = [node.name, count, lost].filter(Boolean).join(" ");
  return [
    {
      id, tag: "rect", x, y: round(y - height / 2), width, height, rx: height / 2, ...outline(false, isChosen),
      "stroke-dasharray": node.is_blocked ? "4 3" : null, ...part("publisher", name, isChosen, label),
    },
    named(`name-${id}`, x + 14, y - 2, node.name, width - 24),
    text(`count-${id}`, x + 14, y + 13, count, { class: "n m" }),
    ...(lost ? [text(`nacked-${id}`, x + width - 14, y + 13, `−${node.nacked}`, {
      class: "n er", "text-anchor": "end", title: lost,
    })] : []),
  ];
}

function exchange(name, node, { x, y, width, height }, isStrong, isChosen, words) {
  const [top, bottom, side, id] = [round(y - height / 2), round(y + height / 2), 10, idOf("exchange", name)];
  const right = x + width, type = words.type(node), shown = name || '""';
  const lost = node.dropped ? words.dropped(node) : "", label = [shown, type, lost].filter(Boolean).join(" ");
  return [
    {
      id, tag: "path",
      d: `M${x + side} ${top}H${round(right - side)}L${round(right)} ${y}` +
        `L${round(right - side)} ${bottom}H${x + side}L${x} ${y}Z`,
      ...outline(isStrong, isChosen), "stroke-dasharray": node.durable ? null : "6 2",
      ...part("exchange", name, isChosen, label),
    },
    named(`name-${id}`, x + 15, y - 2, shown, width - 28),
    named(`type-${id}`, x + 15, y + 13, type, width - 24, { class: "m" }),
    ...(lost ? [text(`dropped-${id}`, right - 13, y + 13, `−${node.dropped}`, {
      class: "n er", "text-anchor": "end", title: lost,
    })] : []),
  ];
}

function queue(name, node, { x, y, width, height }, most, isStrong, isChosen) {
  const id = idOf("queue", name), top = round(y - height / 2), count = String(node.ready), bar = round(y + 9);
  const inner = width - 20, filled = round((node.ready / most) * inner), look = node.growing ? "n b wa" : "n m";
  const shapes = [
    {
      id, tag: "rect", x, y: top, width, height, rx: 4, ...outline(isStrong, isChosen),
      "stroke-dasharray": node.durable ? null : "6 2", ...part("queue", name, isChosen, `${name} ${count}`),
    },
    named(`name-${id}`, x + 10, y + 1, name, inner - 8 - widthOf(count)),
    text(`ready-${id}`, x + width - 10, y + 1, count, { class: look, "text-anchor": "end" }),
    {
      id: `room-${id}`, tag: "path", d: `M${round(x + 10)} ${bar}h${round(inner)}`, stroke: "var(--rule)",
      "stroke-width": 5,
    },
  ];
  if (node.ready) {
    shapes.push({
      id: `bar-${id}`, tag: "path", d: `M${round(x + 10)} ${bar}h${Math.max(3, filled)}`, stroke: "var(--ink)",
      "stroke-width": 5,
    });
  }
  return shapes;
}

function unread(name, place, node, places, width, words) {
  const x = Object.values(places.nodes.consumer)[0]?.x ?? round(width * 0.845);
  return text(`unread-${name}`, x, place.y + 5, words.nobody(name), { class: node.growing ? "wa" : "m" });
}

function consumer(id, node, { x, y, width }, colorOf, isChosen, words) {
  const own = idOf("consumer", id), color = paint(colorOf(node.name));
  if (node.more) {
    return [
      text(`name-${own}`, x, y - 2, words.more(node.more), { class: "b" }),
      text(`unacked-${own}`, x, y + 13, words.holding(node), { class: "m" }),
    ];
  }
  const isLong = widthOf(node.name) * TALL > width - COUNTED, face = isLong ? BOLD : TALL;
  const shown = cut(node.name, width - COUNTED, face);
  const shapes = [
    {
      id: own, tag: "rect", x, y: round(y - 8), width: 16, height: 16, rx: 4, fill: color,
      stroke: isChosen ? "var(--accent)" : "var(--outline)", "stroke-width": isChosen ? 2.5 : node.is_active ? 1 : 0.5,
      opacity: node.is_gone || !node.is_active ? 0.45 : 1,
      ...part("consumer", id, isChosen, `${node.name} ${node.no_ack ? words.auto() : node.unacked}`),
    },
    text(`name-${own}`, x + 23, y + 5, shown, {
      class: isLong ? "b" : "b t15", ...(shown === node.name ? {} : { title: node.name }),
    }),
  ];
  const from = x + 28 + widthOf(shown) * LARGE;
  const places = Math.max(node.unacked, node.prefetch_count);
  const isNarrow = from + RING * Math.min(RINGS_ROW, places) > x + width;
  // What is sent with auto-ack is done: it has no window, whatever its channel's prefetch count.
  if (node.no_ack) return [...shapes, text(`auto-${own}`, from, y + 5, words.auto(), { class: "m" })];
  if (places > RINGS_MAX || isNarrow || (!node.prefetch_count && node.unacked)) {
    const of = node.prefetch_count ? `${node.unacked}/${node.prefetch_count}` : String(node.unacked);
    if (isLong) {
      return [...shapes, text(`unacked-${own}`, x + width, y + 5, of, { class: "n m", "text-anchor": "end" })];
    }
    const beside = isNarrow ? x + 29 + widthOf(shown) * face : from;
    return [...shapes, text(`unacked-${own}`, beside, y + 5, of, { class: "n m" })];
  }
  const rows = Math.ceil(places / RINGS_ROW);
  for (let place = 0; place < places; place += 1) {
    const cx = round(from + 6 + (place % RINGS_ROW) * RING);
    const cy = round(y + (Math.floor(place / RINGS_ROW) - (rows - 1) / 2) * RING), ring = `ring-${place}-${own}`;
    if (place >= node.unacked) {
      shapes.push({
        id: ring, tag: "circle", cx, cy, r: 4.8, fill: "none", stroke: "var(--muted)", "stroke-dasharray": "2 2",
        "stroke-width": 1,
      });
      continue;
    }
    shapes.push(
      { id: `rim-${ring}`, tag: "circle", cx, cy, r: 4.2, fill: "none", stroke: "var(--outline)", "stroke-width": 4.6 },
      { id: ring, tag: "circle", cx, cy, r: 4.2, fill: "none", stroke: color, "stroke-width": 2.8 },
    );
  }
  return shapes;
}
