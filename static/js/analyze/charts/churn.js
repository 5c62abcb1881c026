// Keys moved since the start, over the changes: 1 is as if every key had moved once.

import { figure } from "../../base/say.js";
import { shortNames } from "../result.js";
import { axis, colorOf, cutWords, endNames, endRoom, ground, lineOf, plain, plotHeight, shown } from "./ends.js";

const TOP = 12, BOTTOM = 44, LEFT = 36;

// Where keys have no owner, none can move.
const canDraw = (strategy) => strategy.totals.churn !== null;

const linesOf = (context) => shown(context, canDraw);

export const cut = (context) => cutWords(context, canDraw);

// A line or its name picks its strategy.
export const lineAt = (context, place) => linesOf(context)[place]?.strategy.id;

const curveOf = ({ strategy }) => strategy.steps.map((at) => at.churn_so_far ?? 0);

// What the axes have to hold: { x: [first change, last], y: [0, most] }. Several charts side by side share one:
// context.scale.
export function extent(context) {
  return {
    x: [0, Math.max(1, context.result.steps.at(-1).step)], y: [0, Math.max(0.1, ...linesOf(context).flatMap(curveOf))],
  };
}

export function layout(context) {
  const { result, say, words, colors, picked, width } = context, names = shortNames(result.strategies, words);
  const x = result.steps.map(({ step }) => step);
  const lines = linesOf(context).map((line) => ({ ...line, y: curveOf(line) }));
  const inner = plotHeight(lines.length), height = TOP + inner + BOTTOM;
  const scale = context.scale ?? extent(context), high = scale.y[1] * 1.04, [, last] = scale.x;
  const named = lines.map(({ strategy, model, y }) => ({
    text: `${figure(y.at(-1), 2)} ${names.get(strategy.id)}`, value: y.at(-1), color: colorOf(model, colors),
    bold: strategy.id === picked,
  }));
  // On a shared scale a shorter history ends before the plot does.
  const room = endRoom(named), plotWidth = Math.max(80, width - LEFT - room);
  const ends = named.map((end) => ({ ...end, short: (1 - Math.max(1, x.at(-1)) / last) * plotWidth }));
  return {
    height, minWidth: 0,
    traces: lines.map(({ strategy, model, dash, y }) => ({
      type: "scatter", mode: "lines", x, y, line: lineOf({ model, dash }, strategy.id === picked, colors),
      hovertemplate: `${say("list.named", { name: plain(names.get(strategy.id)), what: "%{y:.2f}" })}<extra></extra>`,
    })),
    layout: {
      ...ground(colors, height, { l: LEFT, r: room, t: TOP, b: BOTTOM }),
      xaxis: axis(colors, {
        range: [0, last], showgrid: false, tick0: 0, dtick: Math.ceil(last / 8), tickangle: 0, tickformat: "d",
        title: { text: plain(say("churn.axis")), font: { size: 13 }, standoff: 6 },
      }),
      yaxis: axis(colors, { range: [0, high], nticks: 6 }),
      annotations: endNames(ends, { low: 0, high, plotHeight: inner, plotWidth }),
    },
  };
}

export function table({ result, order, say, words }) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  const names = shortNames(result.strategies, words);
  return {
    head: [say("twin.strategy"), ...result.steps.map(({ label }) => label)],
    rows: order.map((id) => [names.get(id), ...byId.get(id).steps.map((at) => figure(at.churn_so_far, 2))]),
  };
}
