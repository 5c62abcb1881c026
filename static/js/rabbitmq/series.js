// What waits in the chosen queue and with its consumers, and what comes in and is acknowledged a second, over virtual
// time, as the lab has kept them.

import { SEPARATORS } from "../base/say.js";
import { colorsOf } from "../drawing/plotly.js";
import { createTimeChart, minutes, timesOf } from "../drawing/time_chart.js";

const LINES = [
  { of: "ready", axis: "y", dash: "solid", width: 2.5 }, { of: "unacked", axis: "y", dash: "dot", width: 2 },
  { of: "in", axis: "y2", dash: "solid", width: 2 }, { of: "acked", axis: "y2", dash: "dash", width: 2 },
];

// rows: of rates.js: seriesOf. -> { traces, layout }: plain data.
export function layout(rows, { say, colors, isNarrow = false }) {
  const x = rows.map(({ at }) => at), times = timesOf(x, isNarrow);
  const axis = { gridcolor: colors.rule, zeroline: false, fixedrange: true, nticks: 4, rangemode: "tozero" };
  const title = (code) => ({ text: say(code), font: { size: 13 } });
  return {
    traces: LINES.map(({ of, axis: yaxis, dash, width }) => ({
      x, y: rows.map((row) => row[of]), yaxis, name: say(`topology.line.${of}`), mode: "lines", type: "scatter",
      line: { color: colors.ink, width, dash },
    })),
    layout: {
      height: 300, autosize: true, separators: SEPARATORS, margin: { l: 64, r: 16, t: 8, b: 28 },
      hovermode: "x unified", showlegend: true, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      paper_bgcolor: colors.panel, plot_bgcolor: colors.panel,
      font: { family: colors.font, size: 13, color: colors.muted },
      hoverlabel: { bgcolor: colors.panel, bordercolor: colors.rule, font: { color: colors.ink } },
      xaxis: {
        showgrid: false, linecolor: colors.rule, fixedrange: true, tickvals: times, ticktext: times.map(minutes),
      },
      yaxis: { ...axis, domain: [0.46, 1], title: title("topology.axis.messages") },
      yaxis2: { ...axis, domain: [0, 0.36], title: title("topology.axis.rate") },
    },
  };
}

export function createSeries(root, source) {
  const refresh = createTimeChart(root, source);
  return (rows, { say, key, isForced = false }) =>
    refresh((isNarrow) => (rows.length < 2 ? null : layout(rows, { say, colors: colorsOf(root), isNarrow })), {
      key, isForced,
    });
}
