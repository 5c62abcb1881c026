// What line charts share: a colour for each model, a dash for each strategy of it, and its name with the last value at
// the line's end, pushed apart where lines meet, with a leader from the end to the name. There is no legend.

import { SEPARATORS } from "../../base/say.js";

const DASHES = [
  "solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "12px,3px,2px,3px,2px,3px", "2px,5px", "18px,5px",
  "6px,2px",
];
const STRATEGIES_MAX = 24, LINE_PX = 17, PLOT_PX = 244, LEAD_PX = 18, LETTER_PX = 7.2, HAN_PX = 13, ROOM_MAX = 184;

export const colorOf = (model, colors) => colors.model[model] ?? colors.muted;

// dash: which strategy of its model this is. Colour and dash stay with it; the picked one is strong.
export function lineOf({ model, dash }, isPicked, colors) {
  return { color: colorOf(model, colors), width: isPicked ? 3.5 : 1.75, dash: DASHES[dash % DASHES.length] };
}

// Pixels that the names take right of the plot.
export const endRoom = (ends) =>
  Math.min(
    ROOM_MAX,
    LEAD_PX +
      8 +
      Math.max(
        0,
        ...ends.map(({ text }) => [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? HAN_PX : LETTER_PX), 0)),
      ),
  );

// Pixels that the plot is high: each name has its line.
export const plotHeight = (count) => Math.max(PLOT_PX, LINE_PX * count);

// ends: [{ text, value, color, bold, short? }] -> an annotation each, right of the plot, in the same order. low, high:
// the axis; plotHeight: pixels that the axis takes; short: pixels from this line's end to the plot's, where it ends
// earlier. The names are right of the longest
// line: in a comparison the other study may have the longer axis, and a leader across the empty part would look like a
// line that goes on.
export function endNames(ends, { low, high, plotHeight, plotWidth = 1 }) {
  const part = ({ value }) => (value - low) / (high - low || 1), sorted = [...ends].sort((a, b) => a.value - b.value);
  const gap = Math.min(LINE_PX, plotHeight / Math.max(1, ends.length)) / plotHeight;
  const places = spread(sorted.map(part), gap);
  const shortest = Math.min(...ends.map(({ short }) => short ?? 0));
  return ends.map((end) => ({
    x: 1 - (end.short ?? 0) / plotWidth, xref: "paper", y: part(end), yref: "paper", showarrow: true, arrowhead: 0,
    arrowwidth: 1, arrowcolor: end.color, standoff: 3, ax: LEAD_PX + (end.short ?? 0) - shortest,
    ay: (part(end) - places[sorted.indexOf(end)]) * plotHeight, xanchor: "left", yanchor: "middle", align: "left",
    captureevents: true, text: plain(end.text), font: { size: 13, color: end.color, weight: end.bold ? 700 : 400 },
  }));
}

// Places from 0 to 1, ascending, at least `gap` apart and as near as can be to where they were wanted: a group that
// would overlap stands around its middle.
function spread(wanted, gap) {
  const groups = [];
  const from = ({ middle, count }) => Math.max(0, Math.min(middle - ((count - 1) * gap) / 2, 1 - (count - 1) * gap));
  for (const middle of wanted) {
    let group = { middle, count: 1 };
    while (groups.length && from(groups.at(-1)) + groups.at(-1).count * gap > from(group)) {
      const { middle: below, count } = groups.pop();
      group = {
        middle: (below * count + group.middle * group.count) / (count + group.count), count: count + group.count,
      };
    }
    groups.push(group);
  }
  return groups.flatMap((group) => Array.from({ length: group.count }, (_, place) => from(group) + place * gap));
}

// The name of each row left of its picture, the picked one bold. Not tick labels: those are bold only by a tag, which
// Plotly draws with an inline style that our content policy forbids.
export const rowNames = (rows, names, picked, colors) =>
  rows.map((strategy, row) => ({
    x: 0, xref: "paper", xanchor: "right", xshift: -8, y: row, yanchor: "middle", showarrow: false,
    text: plain(names.get(strategy.id)),
    font: { size: 13, color: colors.ink, weight: strategy.id === picked ? 600 : 400 },
  }));

export const rowNamesWidth = (rows, names) =>
  Math.min(124, 24 + 7.4 * Math.max(0, ...rows.map((strategy) => names.get(strategy.id).length)));

// Plotly reads some tags in its texts; a key or a consumer's name stays what it is.
export const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// The part of a layout that every chart here has.
export function ground(colors, height, margin) {
  return {
    height, margin, separators: SEPARATORS, showlegend: false, hovermode: "closest", dragmode: false,
    paper_bgcolor: colors.panel, plot_bgcolor: colors.panel,
    font: { family: colors.font, size: 13, color: colors.muted },
    hoverlabel: {
      bgcolor: colors.panel, bordercolor: colors.muted, font: { family: colors.font, size: 13, color: colors.ink },
      align: "left",
    },
  };
}

export const axis = (colors, more = {}) => ({
  gridcolor: colors.rule, linecolor: colors.rule, tickcolor: colors.rule, zeroline: false, fixedrange: true, ...more,
});

// Which of the strategies that it can draw a chart shows: the first by place in the ranking, and the picked one. dash:
// its place within its model.
export function shown(context, canDraw = () => true) {
  const { picked, result } = context, count = {}, byId = new Map(), drawn = drawable(context, canDraw);
  for (const strategy of result.strategies) {
    byId.set(strategy.id, {
      strategy, model: strategy.model, dash: (count[strategy.model] = (count[strategy.model] ?? -1) + 1),
    });
  }
  const ids = drawn.slice(0, STRATEGIES_MAX);
  if (drawn.includes(picked) && !ids.includes(picked)) ids[ids.length - 1] = picked;
  return ids.map((id) => byId.get(id));
}

// What is to be said of a chart that has no room for all of them; nothing where it has.
export function cutWords(context, canDraw = () => true) {
  const { picked, result, say } = context, place = drawable(context, canDraw).indexOf(picked);
  const { length } = drawable(context, canDraw);
  if (length <= STRATEGIES_MAX) return "";
  return say(place >= STRATEGIES_MAX ? "chart.cut_picked" : "chart.cut", {
    shown: STRATEGIES_MAX, count: result.strategies.length,
  });
}

function drawable({ order, result }, canDraw) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  return order.filter((id) => canDraw(byId.get(id)));
}
