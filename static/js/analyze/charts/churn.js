// Keys moved since the start, over the changes: 1 is as if every key had moved once.

import { figure } from "../../say.js";
import { shortNames } from "../result.js";
import { axis, colorOf, cutWords, endNames, endRoom, ground, lineOf, plain, plotHeight, shown } from "./ends.js";

const TOP = 12, BOTTOM = 44;

// Where no key has an owner none can move.
const canDraw = (strategy) => strategy.totals.churn !== null;

const linesOf = (context) => shown(context, canDraw);

export const cut = (context) => cutWords(context, canDraw);

// A line or its name picks its strategy.
export const lineAt = (context, place) => linesOf(context)[place]?.strategy.id;

export function layout(context) {
  const { result, say, words, colors, picked } = context, names = shortNames(result.strategies, words), x = result.steps.map(({ step }) => step);
  const lines = linesOf(context).map((line) => ({ ...line, y: line.strategy.steps.map((at) => at.churn_so_far ?? 0) }));
  const inner = plotHeight(lines.length), height = TOP + inner + BOTTOM;
  const high = Math.max(0.1, ...lines.flatMap(({ y }) => y)) * 1.04;
  const ends = lines.map(({ strategy, model, y }) => (
    { text: `${figure(y.at(-1), 2)} ${names.get(strategy.id)}`, value: y.at(-1), color: colorOf(model, colors), bold: strategy.id === picked }
  ));
  return {
    height, minWidth: 0,
    traces: lines.map(({ strategy, model, dash, y }) => ({
      type: "scatter", mode: "lines", x, y, line: lineOf({ model, dash }, strategy.id === picked, colors), hovertemplate: `${plain(names.get(strategy.id))}: %{y:.2f}<extra></extra>`,
    })),
    layout: {
      ...ground(colors, height, { l: 36, r: endRoom(ends), t: TOP, b: BOTTOM }),
      xaxis: axis(colors, { range: [0, Math.max(1, x.at(-1))], showgrid: false, tick0: 0, dtick: Math.ceil(Math.max(1, x.at(-1)) / 8), tickangle: 0, tickformat: "d", title: { text: plain(say("churn.axis")), font: { size: 13 }, standoff: 6 } }),
      yaxis: axis(colors, { range: [0, high], nticks: 6 }),
      annotations: endNames(ends, { low: 0, high, plotHeight: inner }),
    },
  };
}

export function table({ result, order, say, words }) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy])), names = shortNames(result.strategies, words);
  return {
    head: [say("twin.strategy"), ...result.steps.map(({ label }) => label)],
    rows: order.map((id) => [names.get(id), ...byId.get(id).steps.map((at) => figure(at.churn_so_far, 2))]),
  };
}
