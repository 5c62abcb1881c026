// What line charts share: a dash for each strategy, its weight, and its name with the last value at the line's end, pushed apart where
// lines meet. There is no legend, and no colour but ink.

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "12px,3px,2px,3px,2px,3px", "2px,5px", "18px,5px", "6px,2px"];
export const END_ROOM = 148, NAMED_MAX = 14;
const LINE_PX = 17;

// The picked strategy is bold ink, the others thin and muted; the dash stays with the strategy.
export function lineOf(index, isPicked, colors) {
  return { color: isPicked ? colors.ink : colors.muted, width: isPicked ? 3 : 1.5, dash: DASHES[index % DASHES.length] };
}

// ends: [{ text, value, bold }] -> annotations right of the plot. low, high: the axis; plotHeight: pixels that the axis takes.
export function endNames(ends, { low, high, plotHeight, colors }) {
  const gap = Math.min(LINE_PX, plotHeight / Math.max(1, ends.length)) / plotHeight, sorted = [...ends].sort((a, b) => a.value - b.value);
  const places = sorted.map(({ value }) => (value - low) / (high - low || 1));
  for (let i = 1; i < places.length; i += 1) places[i] = Math.max(places[i], places[i - 1] + gap);
  const over = (places.at(-1) ?? 0) - 1;
  if (over > 0) {
    places[places.length - 1] = 1;
    for (let i = places.length - 2; i >= 0; i -= 1) places[i] = Math.min(places[i], places[i + 1] - gap);
  }
  return sorted.map(({ text, bold }, index) => ({
    x: 1, xref: "paper", xanchor: "left", xshift: 8, y: places[index], yref: "paper", yanchor: "middle", showarrow: false, align: "left",
    text: plain(text), font: { size: 13, color: bold ? colors.ink : colors.muted, weight: bold ? 600 : 400 },
  }));
}

// The name of each row left of its picture, the picked one bold. Not tick labels: those are bold only by a tag, which Plotly draws with an
// inline style that our content policy forbids.
export const rowNames = (rows, names, picked, colors) => rows.map((strategy, row) => ({
  x: 0, xref: "paper", xanchor: "right", xshift: -8, y: row, yanchor: "middle", showarrow: false, text: plain(names.get(strategy.id)),
  font: { size: 13, color: colors.ink, weight: strategy.id === picked ? 600 : 400 },
}));

export const rowNamesWidth = (rows, names) => Math.min(124, 24 + 7.4 * Math.max(0, ...rows.map((strategy) => names.get(strategy.id).length)));

// Plotly reads some tags in its texts; a key or a consumer's name stays what it is.
export const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// The part of a layout that every chart here has.
export function ground(colors, height, margin) {
  return {
    height, margin, showlegend: false, hovermode: "closest", dragmode: false,
    paper_bgcolor: colors.panel, plot_bgcolor: colors.panel, font: { family: colors.font, size: 13, color: colors.muted },
    hoverlabel: { bgcolor: colors.panel, bordercolor: colors.muted, font: { family: colors.font, size: 13, color: colors.ink }, align: "left" },
  };
}

export const axis = (colors, more = {}) => ({ gridcolor: colors.rule, linecolor: colors.rule, tickcolor: colors.rule, zeroline: false, fixedrange: true, ...more });

// Which strategies a chart with room for `most` shows: the picked one, then by place in the ranking.
export function shown(context, most) {
  const { order, picked, result } = context, byId = new Map(result.strategies.map((strategy, index) => [strategy.id, { strategy, index }]));
  const ids = order.slice(0, most);
  if (picked && !ids.includes(picked)) ids[ids.length - 1] = picked;
  return ids.map((id) => byId.get(id));
}
