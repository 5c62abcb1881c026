// What a lane has cost by a moment, figure by figure, against the other lanes or against the same lane of another lab.

import { NONE, number, ratio, seconds } from "../base/say.js";

const tally = (name) => ({ tally: sums }) => sums[name] ?? null;
const READ = {
  moved: tally("keys_moved"), paused: tally("dark_us"), redelivered: tally("redelivered"),
  out_of_order: tally("out_of_order"), lost: tally("lost"), lag: ({ lag }) => lag, skew: ({ skew }) => skew ?? null,
};
export const FIGURES = Object.keys(READ);
// What two courses of one lab differ in; what waits now says little of that.
export const SUMS = ["moved", "paused", "redelivered", "out_of_order", "lost"];

export const valueOf = (lane, figure) => READ[figure](lane);

// A value as text; words: of the page's language.
export function textOf(figure, value, words) {
  if (value === null) return NONE;
  if (figure === "paused") return seconds(value, words);
  return figure === "skew" ? ratio(value) : number(value);
}

// How much more the first has than the second; a dash where one has no such figure.
export function differenceOf(figure, [one, other], words) {
  if (one === null || other === null) return NONE;
  const by = one - other, sign = by > 0 ? "+" : by < 0 ? "−" : "±";
  return by === 0 ? "0" : `${sign}${textOf(figure, Math.abs(by), words)}`;
}

// ids: lanes as chosen. -> the same by this figure, the least first; who has none comes last, equals stay as they are.
export function inOrderOf(ids, figure, laneOf) {
  if (!FIGURES.includes(figure)) return ids;
  const value = (id) => valueOf(laneOf(id), figure) ?? Infinity;
  return [...ids].sort((a, b) => (value(a) === value(b) ? 0 : value(a) - value(b)));
}

// -> for each figure its values in turn, and which of them are the least, where they differ.
export function rows(lanes, figures = FIGURES) {
  return figures.map((figure) => {
    const values = lanes.map((lane) => valueOf(lane, figure)), known = values.filter((value) => value !== null);
    const least = Math.min(...known), most = Math.max(...known);
    return { figure, values, best: values.map((value) => value === least && most > least) };
  });
}
