// What waits after one change, second by second, a line a strategy, with what still waits at its end; measured by
// running the lab on a sample.

import { number } from "../../base/say.js";
import { shortNames } from "../result.js";
import { axis, colorOf, cutWords, endNames, endRoom, ground, lineOf, plain, plotHeight, shown } from "./ends.js";

const TOP = 12, BOTTOM = 44, LEFT = 52;

export const isEmpty = ({ result, step }) =>
  result.strategies.every((strategy) => !(strategy.steps[step].lag ?? []).some(([, waiting]) => waiting > 0));

const curveOf = (strategy, step) => strategy.steps[step].lag ?? [];

const hasCurve = (step) => (strategy) => curveOf(strategy, step).length > 0;

const linesOf = (context) =>
  shown(context, hasCurve(context.step)).map((line) => ({ ...line, curve: curveOf(line.strategy, context.step) }));

export const cut = (context) => cutWords(context, hasCurve(context.step));

// A line or its name picks its strategy.
export const lineAt = (context, place) => linesOf(context)[place]?.strategy.id;

export function layout(context) {
  const { result, step, say, words, colors, picked, width } = context, names = shortNames(result.strategies, words);
  const lines = linesOf(context), inner = plotHeight(lines.length), height = TOP + inner + BOTTOM;
  const high = Math.max(1, ...lines.flatMap(({ curve }) => curve.map(([, waiting]) => waiting))) * 1.04;
  const last = Math.max(1, ...lines.map(({ curve }) => curve.at(-1)[0]));
  const named = lines.map(({ strategy, model, curve }) => {
    const [at, waiting] = curve.at(-1);
    return {
      at, text: `${number(waiting)} ${names.get(strategy.id)}`, value: waiting, color: colorOf(model, colors),
      bold: strategy.id === picked,
    };
  });
  const room = endRoom(named), plotWidth = Math.max(80, width - LEFT - room);
  const ends = named.map(({ at, ...end }) => ({ ...end, short: (1 - at / last) * plotWidth }));
  return {
    height, minWidth: 0,
    traces: lines.map(({ strategy, model, dash, curve }) => ({
      type: "scatter", mode: "lines", x: curve.map(([at]) => at), y: curve.map(([, waiting]) => waiting),
      line: lineOf({ model, dash }, strategy.id === picked, colors),
      hovertemplate: `${say("list.named", { name: plain(names.get(strategy.id)), what: "%{y:d}" })}<extra></extra>`,
    })),
    layout: {
      ...ground(colors, height, { l: LEFT, r: room, t: TOP, b: BOTTOM }),
      xaxis: axis(colors, {
        range: [0, last], showgrid: false, nticks: 8, tickangle: 0,
        title: { text: plain(say("lag.axis")), font: { size: 13 }, standoff: 6 },
      }),
      yaxis: axis(colors, { range: [0, high], nticks: 6, tickformat: "~s" }),
      annotations: endNames(ends, { low: 0, high, plotHeight: inner, plotWidth }),
    },
  };
}

export function table({ result, step, order, say, words }) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  const names = shortNames(result.strategies, words);
  const curves = order.map((id) => new Map(byId.get(id).steps[step].lag ?? []));
  const seconds = [...new Set(curves.flatMap((curve) => [...curve.keys()]))].sort((a, b) => a - b);
  return {
    head: [say("twin.strategy"), ...seconds.map((at) => `${at} ${words.second}`)],
    rows: order.map((id, place) => [
      names.get(id), ...seconds.map((at) => (curves[place].has(at) ? number(curves[place].get(at)) : "–")),
    ]),
  };
}
