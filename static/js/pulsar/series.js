// What each consumer finishes a second, and the skew, over virtual time, as the lab has kept them.

import { SEPARATORS } from "../base/say.js";
import { colorsOf } from "../drawing/plotly.js";
import { createTimeChart, minutes, timesOf } from "../drawing/time_chart.js";

const EVEN = 1, SKEW_TOP_LEAST = 1.5;   // so that a skew of 1.02 is drawn as the little that it is
const DASHES = ["solid", "dash", "dot"], HUES = 7;
export const NAMED_MOST = 14;

// view: of the lab, lane: which of its. -> its samples, the oldest first: [{at: second, rates: {consumer: records a
// second}, skew}].
export const rowsOf = (view, lane) =>
  Object.entries(view.lanes[lane].pulsar.history ?? {}).map(([at, tenths]) => {
    const rates = Object.fromEntries(Object.entries(tenths).map(([name, count]) => [name, count / 10]));
    return { at: Number(at), rates, skew: view.history?.[at]?.[lane] ?? null };
  });

// colorOf(name): a consumer's place among the colours, from 1. -> { traces, layout }: plain data.
export function layout(rows, { say, colors, colorOf, isNarrow = false }) {
  const names = [...new Set(rows.flatMap(({ rates }) => Object.keys(rates)))], x = rows.map(({ at }) => at);
  const times = timesOf(x, isNarrow);
  const traces = names.map((name) => ({
    x, y: rows.map(({ rates }) => rates[name] ?? null), name, mode: "lines", type: "scatter",
    line: {
      color: colors.identity[((colorOf(name) ?? 1) - 1) % HUES], width: 2,
      dash: DASHES[Math.floor(((colorOf(name) ?? 1) - 1) / HUES) % DASHES.length],
    },
  }));
  traces.push({
    x, y: rows.map(({ skew }) => skew), yaxis: "y2", name: say("subscription.skew"), mode: "lines", type: "scatter",
    line: { color: colors.ink, width: 2, shape: "hv" },
  });
  const axis = { gridcolor: colors.rule, zeroline: false, fixedrange: true };
  return {
    traces,
    layout: {
      height: 260, autosize: true, separators: SEPARATORS, margin: { l: 64, r: 16, t: 8, b: 28 },
      hovermode: names.length > NAMED_MOST ? "closest" : "x unified", showlegend: names.length <= NAMED_MOST,
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, paper_bgcolor: colors.panel,
      plot_bgcolor: colors.panel, font: { family: colors.font, size: 13, color: colors.muted },
      hoverlabel: { bgcolor: colors.panel, bordercolor: colors.rule, font: { color: colors.ink } },
      xaxis: {
        showgrid: false, linecolor: colors.rule, fixedrange: true, tickvals: times, ticktext: times.map(minutes),
      },
      yaxis: {
        ...axis, nticks: 4, domain: [0.4, 1], rangemode: "tozero",
        title: { text: say("subscription.axis_rate"), font: { size: 13 } },
      },
      yaxis2: {
        ...axis, nticks: 3, domain: [0, 0.28],
        range: [EVEN, Math.max(SKEW_TOP_LEAST, ...rows.map(({ skew }) => (skew ?? EVEN) * 1.05))],
        title: { text: say("subscription.skew"), font: { size: 13 } },
      },
    },
  };
}

export function createSeries(root, source) {
  const refresh = createTimeChart(root, source);
  return (rows, { say, colorOf, isForced = false }) => {
    const isEmpty = rows.length < 2 || rows.every(({ rates }) => !Object.keys(rates).length);
    return refresh((isNarrow) => (isEmpty ? null : layout(rows, { say, colors: colorsOf(root), colorOf, isNarrow })), {
      isForced,
    });
  };
}
