// What each consumer finishes a second, and the skew, over virtual time: a point a virtual second, kept here as frames come, drawn by Plotly
// at most once a second while the chart is on screen.

import { colorsOf, loadPlotly } from "../plotly.js";
import { SEPARATORS } from "../say.js";

const KEPT = 180, EVERY_MS = 1000, EVEN = 1, SKEW_TOP_LEAST = 1.5;   // so that a skew of 1.02 is drawn as the little that it is
const DASHES = ["solid", "dash", "dot"], HUES = 7;
export const NAMED_MOST = 14;

export function createHistory() {
  let rows = [];                                       // [{at, rates: {consumer: records a second}, skew}]
  return {
    // Notes a virtual second once; a time that went back begins anew.
    note(rig, atUs) {
      const at = Math.floor(atUs / 1e6);
      if (rows.length && rows.at(-1).at === at) return;
      if (rows.length && rows.at(-1).at > at) rows = [];
      rows.push({ at, rates: Object.fromEntries(Object.entries(rig.consumers).map(([name, { rate }]) => [name, rate])), skew: rig.skew });
      rows = rows.slice(-KEPT);
    },
    rows: () => rows,
  };
}

// colorOf(name): a consumer's place among the colours, from 1. -> { traces, layout }: plain data.
export function layout(rows, { say, colors, colorOf }) {
  const names = [...new Set(rows.flatMap(({ rates }) => Object.keys(rates)))], x = rows.map(({ at }) => at);
  const traces = names.map((name) => ({
    x, y: rows.map(({ rates }) => rates[name] ?? null), name, mode: "lines", type: "scatter",
    line: { color: colors.identity[((colorOf(name) ?? 1) - 1) % HUES], width: 2, dash: DASHES[Math.floor(((colorOf(name) ?? 1) - 1) / HUES) % DASHES.length] },
  }));
  traces.push({ x, y: rows.map(({ skew }) => skew), yaxis: "y2", name: say("subscription.skew"), mode: "lines", type: "scatter", line: { color: colors.ink, width: 2, shape: "hv" } });
  const axis = { gridcolor: colors.rule, zeroline: false, fixedrange: true };
  return {
    traces,
    layout: {
      height: 260, autosize: true, separators: SEPARATORS, margin: { l: 64, r: 16, t: 8, b: 28 }, hovermode: names.length > NAMED_MOST ? "closest" : "x unified", showlegend: names.length <= NAMED_MOST, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      paper_bgcolor: colors.panel, plot_bgcolor: colors.panel, font: { family: colors.font, size: 13, color: colors.muted }, hoverlabel: { bgcolor: colors.panel, bordercolor: colors.rule, font: { color: colors.ink } },
      xaxis: { showgrid: false, linecolor: colors.rule, fixedrange: true, tickvals: everyTenth(x), ticktext: everyTenth(x).map(minutes) },
      yaxis: { ...axis, nticks: 4, domain: [0.4, 1], rangemode: "tozero", title: { text: say("subscription.axis_rate"), font: { size: 13 } } },
      yaxis2: { ...axis, nticks: 3, domain: [0, 0.28], range: [EVEN, Math.max(SKEW_TOP_LEAST, ...rows.map(({ skew }) => (skew ?? EVEN) * 1.05))], title: { text: say("subscription.skew"), font: { size: 13 } } },
    },
  };
}

const everyTenth = (x) => x.filter((at) => at % (x.length > 90 ? 30 : 10) === 0);
const minutes = (at) => `${Math.floor(at / 60)}:${String(at % 60).padStart(2, "0")}`;

export function createSeries(root, source) {
  let isSeen = false, drawnAt = -Infinity, latest = null;
  new IntersectionObserver((entries) => {
    const wasSeen = isSeen;
    isSeen = entries.at(-1).isIntersecting;
    if (isSeen && !wasSeen && latest) refresh(...latest);     // a lab that is paused sends no frame that would draw it
  }, { rootMargin: "200px 0px" }).observe(root);
  async function refresh(rows, { say, colorOf, isForced = false }) {
    const now = performance.now();
    latest = [rows, { say, colorOf, isForced: true }];
    if (!isSeen || rows.length < 2 || rows.every(({ rates }) => !Object.keys(rates).length) || (!isForced && now - drawnAt < EVERY_MS)) return;
    drawnAt = now;
    const plotly = await loadPlotly(source).catch(() => null);
    if (!plotly) return;
    const { traces, layout: shape } = layout(rows, { say, colors: colorsOf(root), colorOf });
    await plotly.react(root, traces, shape, { displayModeBar: false, responsive: true });
  }
  return refresh;
}
