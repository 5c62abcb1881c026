// Strategy by change: how many of the known keys got another owner. Ink only; its strength has a step in the middle, so
// that the number on it, ink below and panel above, always has a contrast of 4.5.

import { NONE, halfUp, percent } from "../../base/say.js";
import { hasSizes, shortNames } from "../result.js";
import { stepWords } from "./consumers.js";
import { axis, ground, plain, rowNames, rowNamesWidth } from "./ends.js";

const ROW = 30, TOP = 28, BOTTOM = 30, CELL_MIN = 30, NUMBERED_MAX = 24, STEP = 0.6, LIGHT = 0.3, DARK = 0.72;
const GAP = 0.06;

// Crashes after which keys stayed although records wait: { consumers, strategies (ids) }, or null. Their 0 is no merit:
// nobody took over.
export function untaken({ result, order }) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  const crashes = result.steps.filter(({ kind }) => kind === "crash");
  const isUntaken = (id, { step }) => {
    const { keys_moved: moved, waited } = byId.get(id).steps[step];
    return moved === 0 && waited > 0;
  };
  const consumers = crashes.filter((at) => order.some((id) => isUntaken(id, at))).map(({ consumer }) => consumer);
  return consumers.length
    ? { consumers: [...new Set(consumers)], strategies: order.filter((id) => crashes.some((at) => isUntaken(id, at))) }
    : null;
}

// Share of keys -> strength of the ink.
export const strength = (share) =>
  share <= STEP ? (share / STEP) * LIGHT : DARK + ((share - STEP) / (1 - STEP)) * (1 - DARK);

export const mix = (ink, panel, part) =>
  `rgb(${[0, 1, 2].map((i) => Math.round(ink[i] * part + panel[i] * (1 - part))).join(",")})`;

export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

export function layout(context) {
  const { result, order, say, words, colors, picked, step } = context, names = shortNames(result.strategies, words);
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  const rows = order.map((id) => byId.get(id)), steps = result.steps.slice(1);
  const x = steps.map((_, place) => place);
  const z = rows.map((strategy) => steps.map(({ step: at }) => strategy.steps[at].keys_moved_share));
  const hover = rows.map((strategy, row) =>
    steps.map((at, column) =>
      plain(
        say("heat.cell", {
          strategy: names.get(strategy.id), label: stepWords(at, say), share: percent(z[row][column], 1),
        }),
      ),
    ),
  );
  const ink = rgb(colors.ink), panel = rgb(colors.panel), isNumbered = steps.length <= NUMBERED_MAX;
  const cells = z.flatMap((line, row) => line.map((share, column) => ({ row, column, share })));
  const numbers = (isDark) => {
    const mine = cells.filter(({ share }) => (share ?? 0) > STEP === isDark);
    return {
      type: "scatter", mode: "text", hoverinfo: "skip", x: mine.map(({ column }) => column),
      y: mine.map(({ row }) => row), text: mine.map(({ share }) => (share === null ? NONE : halfUp(share * 100))),
      textfont: { family: colors.mono, size: 13, color: isDark ? colors.panel : colors.ink },
    };
  };
  const left = rowNamesWidth(rows, names), height = TOP + BOTTOM + ROW * rows.length;
  const ticks = isNumbered ? x : x.filter((place) => place % Math.ceil(steps.length / 12) === 0);
  const usual = { family: colors.mono, size: 13, color: colors.muted, weight: 400 };
  const chosen = { ...usual, color: colors.ink, weight: 700 };
  const above = { y: 1, yref: "paper", yanchor: "bottom", showarrow: false };
  const below = { y: 0, yref: "paper", yanchor: "top", yshift: -6, showarrow: false };
  return {
    height, minWidth: isNumbered ? left + 16 + CELL_MIN * steps.length : left + 16 + 6 * steps.length,
    traces: [
      // Bars side by side, not Plotly's heatmap: that is an image with an inline style, which our content policy
      // forbids.
      {
        type: "bar", orientation: "h", base: cells.map(({ column }) => column - 0.5 + GAP / 2),
        x: cells.map(() => 1 - GAP), y: cells.map(({ row }) => row), width: 0.9,
        customdata: cells.map(({ row, column }) => [row, column]),
        text: cells.map(({ row, column }) => hover[row][column]), textposition: "none",
        hovertemplate: "%{text}<extra></extra>",
        marker: {
          color: cells.map(({ share }) => mix(ink, panel, Math.max(0.02, strength(share ?? 0)))), line: { width: 0 },
        },
      },
      ...(isNumbered ? [numbers(false), numbers(true)] : []),
    ],
    layout: {
      ...ground(colors, height, { l: left, r: 16, t: TOP, b: BOTTOM }),
      xaxis: axis(colors, { range: [-0.5, steps.length - 0.5], showgrid: false, showticklabels: false, ticks: "" }),
      yaxis: axis(colors, { range: [rows.length - 0.5, -0.5], showgrid: false, showticklabels: false, ticks: "" }),
      annotations: [
        ...rowNames(rows, names, picked, colors),
        ...ticks.map((place) => ({
          ...above, x: place, text: plain(steps[place].label), font: steps[place].step === step ? chosen : usual,
        })),
        ...ticks.map((place) => ({ ...below, x: place, text: String(steps[place].members.length), font: usual })),
        {
          ...below, x: 0, xref: "paper", xanchor: "right", xshift: -8, text: plain(say("heat.consumers")),
          font: { color: colors.muted },
        },
      ],
    },
  };
}

// A click on a cell or a change's column picks both.
export const picks = (context, point) => ({
  id: context.order[point.customdata?.[0]], step: context.result.steps[point.customdata?.[1] + 1]?.step,
});

export function table({ result, order, say, words }) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  const names = shortNames(result.strategies, words), steps = result.steps.slice(1);
  const keysOf = (id) => [
    names.get(id), ...steps.map(({ step }) => percent(byId.get(id).steps[step].keys_moved_share, 1)),
  ];
  const bytesOf = (id) => [
    say("heat.bytes", { strategy: names.get(id) }),
    ...steps.map(({ step }) => percent(shareOfBytes(byId.get(id).steps[step]), 1)),
  ];
  const shareOfBytes = ({ keys_moved_share: keys, bytes_moved: moved }) =>
    keys === null ? null : moved / result.workload.bytes;
  return {
    head: [say("twin.strategy"), ...steps.map(({ label }) => label)],
    rows: [
      ...order.flatMap((id) => (hasSizes(result) && result.workload.bytes ? [keysOf(id), bytesOf(id)] : [keysOf(id)])),
      [say("heat.consumers"), ...steps.map(({ members }) => String(members.length))],
    ],
  };
}
