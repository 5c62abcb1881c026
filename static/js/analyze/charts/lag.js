// What waits after one change, second by second, a line a strategy; measured by running the lab on a sample.

import { number } from "../../say.js";
import { shortNames } from "../result.js";
import { END_ROOM, NAMED_MAX, axis, endNames, ground, lineOf, plain, shown } from "./ends.js";

const HEIGHT = 300, TOP = 12, BOTTOM = 44;

export const isEmpty = ({ result, step }) => result.strategies.every((strategy) => !(strategy.steps[step].lag ?? []).some(([, waiting]) => waiting > 0));

export function layout(context) {
  const { result, step, say, words, colors, picked } = context, names = shortNames(result.strategies, words);
  const lines = shown(context, NAMED_MAX).map(({ strategy, index }) => ({ strategy, index, curve: strategy.steps[step].lag ?? [] })).filter(({ curve }) => curve.length);
  const high = Math.max(1, ...lines.flatMap(({ curve }) => curve.map(([, waiting]) => waiting))) * 1.04, last = Math.max(1, ...lines.map(({ curve }) => curve.at(-1)[0]));
  const ends = lines.map(({ strategy, curve }) => {
    const peak = Math.max(...curve.map(([, waiting]) => waiting));
    return { text: `${number(peak)} ${names.get(strategy.id)}`, value: peak, bold: strategy.id === picked };
  });
  return {
    height: HEIGHT, minWidth: 0,
    traces: lines.map(({ strategy, index, curve }) => ({
      type: "scatter", mode: "lines", x: curve.map(([at]) => at), y: curve.map(([, waiting]) => waiting), line: lineOf(index, strategy.id === picked, colors),
      hovertemplate: `${plain(names.get(strategy.id))}: %{y:d}<extra></extra>`,
    })),
    layout: {
      ...ground(colors, HEIGHT, { l: 52, r: END_ROOM, t: TOP, b: BOTTOM }),
      xaxis: axis(colors, { range: [0, last], showgrid: false, nticks: 8, tickangle: 0, title: { text: plain(say("lag.axis")), font: { size: 13 }, standoff: 6 } }),
      yaxis: axis(colors, { range: [0, high], nticks: 6, tickformat: "~s" }),
      annotations: endNames(ends, { low: 0, high, plotHeight: HEIGHT - TOP - BOTTOM, colors }),
    },
  };
}

export function table({ result, step, order, say, words }) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy])), names = shortNames(result.strategies, words);
  const curves = order.map((id) => new Map(byId.get(id).steps[step].lag ?? []));
  const seconds = [...new Set(curves.flatMap((curve) => [...curve.keys()]))].sort((a, b) => a - b);
  return {
    head: [say("twin.strategy"), ...seconds.map((at) => `${at} ${words.second}`)],
    rows: order.map((id, place) => [names.get(id), ...seconds.map((at) => (curves[place].has(at) ? number(curves[place].get(at)) : "–"))]),
  };
}
