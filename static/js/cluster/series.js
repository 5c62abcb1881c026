// Offsets of the large partition over time: a point a virtual second, kept here as frames come, drawn by Plotly at most once a second while
// the chart is on screen.

import { colorsOf, loadPlotly } from "../plotly.js";
import { SEPARATORS } from "../say.js";

const KEPT = 180, EVERY_MS = 1000, NARROW = 520, DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];

export function createHistory() {
  const points = new Map();                            // partition -> [{at, high_watermark, copies: {broker: {end, lag}}}]
  return {
    // Notes all partitions once a virtual second; a time that went back begins anew.
    note(cluster, atUs) {
      const at = Math.floor(atUs / 1e6);
      for (const [name, partition] of Object.entries(cluster.partitions)) {
        const kept = points.get(name) ?? [];
        if (kept.length && kept.at(-1).at === at) continue;
        const rows = kept.length && kept.at(-1).at > at ? [] : kept;
        const copies = Object.fromEntries(Object.entries(partition.copies).map(([broker, { end, lag }]) => [broker, { end, lag }]));
        rows.push({ at, high_watermark: partition.high_watermark, copies });
        points.set(name, rows.slice(-KEPT));
      }
    },
    of: (name) => points.get(name) ?? [],
  };
}

// -> { traces, layout }: plain data.
export function layout(rows, { say, colors, isNarrow = false }) {
  const brokers = [...new Set(rows.flatMap(({ copies }) => Object.keys(copies)))].sort(), x = rows.map(({ at }) => at);
  const traces = brokers.map((broker, place) => ({
    x, y: rows.map(({ copies }) => copies[broker]?.end ?? null), name: `LEO ${broker}`, mode: "lines", type: "scatter", line: { color: colors.identity[place % 7], width: 2, dash: DASHES[place % DASHES.length] },
  }));
  traces.push({ x, y: rows.map((row) => row.high_watermark), name: "HW", mode: "lines", type: "scatter", line: { color: colors.ink, width: 3, shape: "hv" } });
  brokers.forEach((broker, place) => traces.push({
    x, y: rows.map(({ copies }) => copies[broker]?.lag ?? null), yaxis: "y2", name: say("cluster.lag_of", { broker }), mode: "lines", type: "scatter", line: { color: colors.identity[place % 7], width: 1.5, dash: DASHES[place % DASHES.length] }, showlegend: false,
  }));
  // Below 0: a copy has more than its leader.
  const lags = rows.flatMap(({ copies }) => Object.values(copies).map(({ lag }) => Math.abs(lag ?? 0))), ends = traces.flatMap(({ y }) => y).filter((value) => value !== null);
  const step = (most, parts) => [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000].find((size) => most / size <= parts) ?? 100_000;
  const axis = { gridcolor: colors.rule, zeroline: false, fixedrange: true, tickformat: ",d" };
  return {
    traces,
    layout: {
      height: 250, autosize: true, separators: SEPARATORS, margin: { l: 64, r: 16, t: isNarrow ? 52 : 30, b: 28 }, hovermode: "x unified", showlegend: true, legend: { orientation: "h", y: 1.03, yanchor: "bottom", x: 0 },
      paper_bgcolor: colors.panel, plot_bgcolor: colors.panel, font: { family: colors.font, size: 13, color: colors.muted }, hoverlabel: { bgcolor: colors.panel, bordercolor: colors.rule, font: { color: colors.ink } },
      xaxis: { anchor: "y2", showgrid: false, linecolor: colors.rule, fixedrange: true, tickvals: everyTenth(x), ticktext: everyTenth(x).map(minutes) },
      yaxis: { ...axis, ...(Math.max(...ends) - Math.min(...ends) < 4 ? { dtick: 1 } : { nticks: 4 }), domain: [0.36, 1], rangemode: "nonnegative", title: { text: say("cluster.axis_offset"), font: { size: 13 } } },
      yaxis2: { ...axis, dtick: step(Math.max(1, ...lags), 2), domain: [0, 0.24], rangemode: "tozero", title: { text: say("cluster.axis_lag"), font: { size: 13 } } },
    },
  };
}

const everyTenth = (x) => x.filter((at) => at % (x.length > 90 ? 30 : 10) === 0);
const minutes = (at) => `${Math.floor(at / 60)}:${String(at % 60).padStart(2, "0")}`;

export function createSeries(root, source) {
  let isSeen = false, drawnAt = -Infinity, key = "";
  new IntersectionObserver((entries) => { isSeen = entries.at(-1).isIntersecting; }, { rootMargin: "200px 0px" }).observe(root);
  return async function refresh(rows, name, { say, isForced = false }) {
    const now = performance.now();
    if (!isSeen || rows.length < 2 || (!isForced && name === key && now - drawnAt < EVERY_MS)) return;
    [drawnAt, key] = [now, name];
    const plotly = await loadPlotly(source).catch(() => null);
    if (!plotly) return;
    const { traces, layout: shape } = layout(rows, { say, colors: colorsOf(root), isNarrow: root.clientWidth < NARROW });
    await plotly.react(root, traces, shape, { displayModeBar: false, responsive: true });
  };
}
