// Skew over time for all lanes, drawn by Plotly (loaded when the chart comes near, so that it is there on a print or a
// long picture) at most once a second, and seldom while it is not on screen. Lines differ by dash and weight and carry
// their name at the end; colour stays with the consumers.

import { figure } from "../../base/say.js";
import { createThrottle } from "../../base/throttle.js";
import { colorsOf, hasRoom, loadPlotly } from "../../drawing/plotly.js";
import { minutes } from "../../drawing/time_chart.js";
import { laneName } from "../../lane/name.js";

const DASHES = { pulsar: "solid", kafka: "dash", tubemq: "dot", rabbitmq: "longdashdot" };
const WEIGHTS = { pulsar: 2.5, kafka: 2, tubemq: 2, rabbitmq: 1.5 };
const SEEN = 0.3;                                      // of the chart on screen
const NEAR = "800px 0px", SEEN_EVERY_MS = 1000, NEAR_EVERY_MS = 10_000;
// in pixels: left of the lines, left and right of them, a tick's words
const LEFT = 44, BESIDE = 176, TICK_WIDTH = 52;
const GAP = 0.06;                                      // of the height, between the names at the line ends

// -> { traces, layout }, plain data that Node tests.
export function layout(view, { say, colors, width = 1000 }) {
  const seconds = Object.keys(view.history).map(Number).sort((a, b) => a - b);
  // The lines end at this moment, with the lane's own figure: at the last whole second it was another one.
  const now = Math.round(view.at_us / 1e5) / 10, isNewer = now > (seconds.at(-1) ?? -1);
  const moments = isNewer ? [...seconds, now] : seconds;
  const traces = view.lane_order.map((id) => ({
    x: moments, y: moments.map((at) => (at === now ? view.lanes[id].skew : view.history[at]?.[id]) ?? null),
    name: laneName(id, view, say), mode: "lines", type: "scatter",
    line: { color: colors.ink, width: WEIGHTS[view.lanes[id].model], dash: DASHES[view.lanes[id].model] },
    hovertemplate: "%{y:.2f}",
  }));
  const values = traces.flatMap((trace) => trace.y).filter((value) => value !== null);
  const high = Math.max(1.2, ...values), low = 1 - (high - 1) * 0.05, top = high + (high - 1) * 0.08;
  const last = moments.at(-1) ?? 0, first = moments[0] ?? 0;
  const step =
    [5, 10, 15, 30, 60, 120, 300, 600].find(
      (size) => (last - first) / size <= Math.min(8, (width - BESIDE) / TICK_WIDTH),
    ) ?? 1200;
  const ticks = [];
  for (let at = Math.ceil(first / step) * step; at <= last; at += step) ticks.push(at);
  return {
    traces,
    layout: {
      margin: { l: LEFT, r: BESIDE - LEFT, t: 8, b: 32 }, height: 200, autosize: true, showlegend: false,
      hovermode: "x unified", paper_bgcolor: colors.panel, plot_bgcolor: colors.panel,
      font: { family: colors.font, size: 13, color: colors.muted },
      hoverlabel: { bgcolor: colors.panel, bordercolor: colors.rule, font: { color: colors.ink } },
      xaxis: {
        range: [first, Math.max(first + 10, last)], tickvals: ticks, ticktext: ticks.map(minutes), tickangle: 0,
        showgrid: false, linecolor: colors.rule, ticks: "outside", tickcolor: colors.rule, fixedrange: true,
      },
      yaxis: {
        range: [low, top], nticks: 4, tickformat: ".2f", gridcolor: colors.rule, zeroline: false, fixedrange: true,
      },
      annotations: names(traces, last, low, top, colors),
    },
  };
}

// Each name at its line's end, pushed apart where lines meet, with the figure of this moment: none where nobody is left
// to share.
function names(traces, last, low, top, colors) {
  const ends = traces
    .map((trace) => ({
      name: trace.name, value: trace.y.filter((value) => value !== null).at(-1), now: trace.y.at(-1),
    }))
    .filter(({ value }) => value !== undefined);
  ends.sort((a, b) => a.value - b.value);
  let floor = -Infinity;
  return ends.map(({ name, value, now }) => {
    const height = (value - low) / (top - low), y = Math.max(height, floor + GAP * 1.6);
    floor = y;
    return {
      x: 1, xref: "paper", xanchor: "left", xshift: 8, y, yref: "paper", yanchor: "middle", showarrow: false,
      text: `${name} ${figure(now, 2)}`, font: { size: 13, color: colors.ink }, captureevents: false,
    };
  });
}

// onNear(): it comes near, or on screen, and was not drawn since. In a paused lab no frame comes that would draw it.
export function createSkewChart(root, source, onNear) {
  const due = createThrottle();
  let isSeen = false, isNear = false;
  new IntersectionObserver((entries) => {
    const wasNear = isNear;
    isNear = entries.at(-1).isIntersecting;
    if (isNear && !wasNear) onNear();
  }, { rootMargin: NEAR }).observe(root);
  new IntersectionObserver((entries) => {
    const wasSeen = isSeen;
    isSeen = entries.at(-1).intersectionRatio >= SEEN;
    if (isSeen && !wasSeen) onNear();
  }, { threshold: [0, SEEN], rootMargin: "0px 0px -64px 0px" }).observe(root);
  return function refresh(view, seq, { say, isForced = false }) {
    if (!isNear) return;
    due(() => loadPlotly(source).then((Plotly) => {
      if (!hasRoom(root)) return;
      const drawing = layout(view, { say, colors: colorsOf(root), width: root.clientWidth });
      Plotly.react(root, drawing.traces, drawing.layout, { displayModeBar: false, responsive: true });
      root.dataset.seq = seq;
    }, () => {}),                                      // tried again at the next refresh; the table says the same
    { everyMs: isSeen ? SEEN_EVERY_MS : NEAR_EVERY_MS, isForced: isSeen && isForced });
  };
}
