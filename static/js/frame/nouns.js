// The nouns of a sentence: consumers, brokers and lanes that it names. A sentence is made by `say` with its parameters;
// here those that are nouns are marked on their way into it, and found again in the text that comes out.

import { hue } from "../drawing/paint.js";
import { laneName } from "../lane/name.js";

// From the private use area, which no name can hold: a name is made of printable characters.
const OPEN = "\uE000", BETWEEN = "\uE001", CLOSE = "\uE002";
const MARKED = /\uE000([^\uE001]*)\uE001([^\uE002]*)\uE002/;
const OF_BROKERS = ["broker", "brokers"];
const BEFORE_A_BROKER = /(?:broker|brokers)\s$/i;

// text -> { kind, id, color }, of all that sentences about this view may name.
export function nounsOf(view, say) {
  const nouns = new Map();
  for (const id of view.lane_order) {
    const { consumers } = view.lanes[id];
    for (const name in consumers) nouns.set(name, { kind: "consumer", id: name, color: consumers[name].color ?? null });
  }
  for (const id of view.lane_order) nouns.set(laneName(id, view, say), { kind: "lane", id, color: null });
  return nouns;
}

// `say` whose texts carry marks around the nouns among their parameters, also where these are lists of them.
export function markedSay(say, nouns) {
  const comma = say("list.comma");
  const mark = ({ kind, id }, text) => `${OPEN}${kind}:${id}${BETWEEN}${text}${CLOSE}`;
  const pieces = (text, one) => text.split(comma).map(one).join(comma);
  function marked(name, value) {
    if (OF_BROKERS.includes(name) && typeof value !== "object") {
      if (name === "brokers" && typeof value === "number") return value;       // how many there are
      return pieces(String(value), (id) => (/^\d+$/.test(id) ? mark({ kind: "broker", id }, id) : id));
    }
    if (typeof value !== "string") return value;
    return pieces(value, (text) => (nouns.has(text) ? mark(nouns.get(text), text) : text));
  }
  return (code, params = {}) =>
    say(code, Object.fromEntries(Object.entries(params).map(([name, value]) => [name, marked(name, value)])));
}

// A marked text -> [{ text } or { text, kind, id, color, hue }]. "Broker" before its number belongs to the noun.
export function partsOf(text, nouns) {
  const colors = new Map([...nouns.values()].map(({ kind, id, color }) => [`${kind}:${id}`, color]));
  const parts = [];
  let rest = text;
  for (let found = MARKED.exec(rest); found; found = MARKED.exec(rest)) {
    const [whole, key, name] = found, cut = key.indexOf(":"), kind = key.slice(0, cut);
    let before = rest.slice(0, found.index), noun = name;
    const word = kind === "broker" ? BEFORE_A_BROKER.exec(before) : null;
    if (word) [before, noun] = [before.slice(0, word.index), `${word[0]}${name}`];
    if (before) parts.push({ text: before });
    const color = colors.get(key) ?? null;
    parts.push({ text: noun, kind, id: key.slice(cut + 1), color, hue: color && hue(color) });
    rest = rest.slice(found.index + whole.length);
  }
  return rest ? [...parts, { text: rest }] : parts;
}

export const plain = (parts) => parts.map(({ text }) => text).join("");
