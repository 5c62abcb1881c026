// Offsets of the large partition over time, as the lab has kept them.

import { SEPARATORS } from "../base/say.js";
import { colorsOf } from "../drawing/plotly.js";
import { createTimeChart, minutes, timesOf } from "../drawing/time_chart.js";

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];

// history: of the view. -> a partition's samples, the oldest first: [{at: second, high_watermark, copies: {broker:
// {end, lag}}}]; lag: behind the leader's end.
export function rowsOf(history, name) {
  return Object.entries(history ?? {}).filter(([, partitions]) => name in partitions).map(([at, partitions]) => {
    const { leader, high_watermark, ends } = partitions[name], of = leader === null ? null : ends[leader];
    const copies = Object.fromEntries(
      Object.entries(ends).map(([broker, end]) => [broker, { end, lag: of === null ? null : of - end }]),
    );
    return { at: Number(at), high_watermark, copies };
  });
}

// -> { traces, layout }: plain data.
export function layout(rows, { say, colors, isNarrow = false }) {
  const brokers = [...new Set(rows.flatMap(({ copies }) => Object.keys(copies)))].sort((a, b) => a - b);
  const x = rows.map(({ at }) => at);
  // In steps: there is no half of a record. In dashes: colours are consumers'.
  const at = timesOf(x, isNarrow);
  const line = (place) => ({ color: colors.muted, shape: "hv", dash: DASHES[place % DASHES.length] });
  const traces = brokers.map((broker, place) => ({
    x, y: rows.map(({ copies }) => copies[broker]?.end ?? null), name: `LEO ${broker}`, mode: "lines", type: "scatter",
    line: { ...line(place), width: 2 },
  }));
  traces.push({
    x, y: rows.map((row) => row.high_watermark), name: "HW", mode: "lines", type: "scatter",
    line: { color: colors.ink, width: 3, shape: "hv" },
  });
  brokers.forEach((broker, place) =>
    traces.push({
      x, y: rows.map(({ copies }) => copies[broker]?.lag ?? null), yaxis: "y2", name: say("cluster.lag_of", { broker }),
      mode: "lines", type: "scatter", line: { ...line(place), width: 1.5 }, showlegend: false,
    }),
  );
  // Below 0: a copy has more than its leader.
  const lags = rows.flatMap(({ copies }) => Object.values(copies).map(({ lag }) => Math.abs(lag ?? 0)));
  const ends = traces.flatMap(({ y }) => y).filter((value) => value !== null);
  const step = (most, parts) =>
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000].find((size) => most / size <= parts) ??
    100_000;
  const axis = { gridcolor: colors.rule, zeroline: false, fixedrange: true, tickformat: ",d" };
  return {
    traces,
    layout: {
      height: 250, autosize: true, separators: SEPARATORS, margin: { l: 64, r: 16, t: isNarrow ? 52 : 30, b: 28 },
      hovermode: "x unified", showlegend: true, legend: { orientation: "h", y: 1.03, yanchor: "bottom", x: 0 },
      paper_bgcolor: colors.panel, plot_bgcolor: colors.panel,
      font: { family: colors.font, size: 13, color: colors.muted },
      hoverlabel: { bgcolor: colors.panel, bordercolor: colors.rule, font: { color: colors.ink } },
      xaxis: {
        anchor: "y2", showgrid: false, linecolor: colors.rule, fixedrange: true, tickvals: at,
        ticktext: at.map(minutes),
      },
      yaxis: {
        ...axis, ...(Math.max(...ends) - Math.min(...ends) < 4 ? { dtick: 1 } : { nticks: 4 }), domain: [0.36, 1],
        rangemode: "nonnegative", title: { text: say("cluster.axis_offset"), font: { size: 13 } },
      },
      yaxis2: {
        ...axis, dtick: step(Math.max(1, ...lags), 2), domain: [0, 0.24], rangemode: "tozero",
        title: { text: say("cluster.axis_lag"), font: { size: 13 } },
      },
    },
  };
}

// name: of the partition.
export function createSeries(root, source) {
  const refresh = createTimeChart(root, source);
  return (rows, name, { say, isForced = false }) =>
    refresh((isNarrow) => (rows.length < 2 ? null : layout(rows, { say, colors: colorsOf(root), isNarrow })), {
      key: name, isForced,
    });
}
