// Share per consumer after one step, a row a strategy: a dot a consumer, a line from the least to the most, one dashed
// line for the fair share. Dots that would cover each other are above and below their row.

import { figure, percent } from "../../base/say.js";
import { shortNames } from "../result.js";
import { hueOf, identities, symbolOf } from "./consumers.js";
import { axis, cutWords, ground, plain, rowNames, rowNamesWidth, shown } from "./ends.js";

const ROW = 34, TOP = 28, BOTTOM = 44, DOT = 12, LEVEL = 0.2, EQUAL = 5e-4;

export const cut = (context) => cutWords(context);

const fairOf = ({ result, step }) => 100 / result.steps[step].members.length;

const sharesOf = ({ strategy }, step) =>
  Object.entries(strategy.steps[step].consumers).map(([name, { share }]) => ({ name, share: (share ?? 0) * 100 }));

// What the axis has to hold: { x: [least, most] in per cent of the records }. Several charts side by side share one:
// context.scale.
export function extent(context) {
  const fair = fairOf(context);
  const all = shown(context).flatMap((row) => sharesOf(row, context.step)).map(({ share }) => share);
  return { x: [Math.min(fair, ...all), Math.max(fair, ...all)] };
}

export function layout(context) {
  const { result, step, say, words, colors, width, picked } = context, names = shortNames(result.strategies, words);
  const places = identities(result);
  const rows = shown(context), fair = fairOf(context), shares = rows.map((row) => sharesOf(row, step));
  const [low, high] = (context.scale ?? extent(context)).x, pad = Math.max((high - low) * 0.06, low * 0.05);
  const range = [Math.max(0, low - pad), high + pad], left = rowNamesWidth(rows.map(({ strategy }) => strategy), names);
  const perPixel = (range[1] - range[0]) / Math.max(80, width - left - 16);
  const dots = { x: [], y: [], text: [], color: [], symbol: [] }, hollow = { x: [], y: [], text: [] }, lines = [];
  const notes = [];
  rows.forEach(({ strategy }, row) => {
    const list = [...shares[row]].sort((a, b) => a.share - b.share), name = plain(names.get(strategy.id));
    if (!list.length) return;
    const [least, most] = [list[0].share, list.at(-1).share];
    if (list.length > 1 && most - least < EQUAL * 100) {
      hollow.x.push(most);
      hollow.y.push(row);
      hollow.text.push(say("list.named", { name, what: percent(most / 100, 1) }));
      notes.push({
        x: most, y: row, xanchor: "left", xshift: 12, showarrow: false,
        text: plain(say("shares.all", { count: list.length })), font: { color: colors.muted },
      });
      return;
    }
    lines.push({
      type: "line", x0: least, x1: most, y0: row, y1: row, layer: "below",
      line: { color: strategy.id === picked ? colors.ink : colors.muted, width: strategy.id === picked ? 2 : 1 },
    });
    const taken = [];
    for (const { name: consumer, share } of list) {
      const level = freeLevel(taken, share, DOT * perPixel), place = places.get(consumer);
      taken.push({ share, level });
      dots.x.push(share);
      dots.y.push(row - level * LEVEL);
      dots.text.push(say("list.named", { name: `${plain(consumer)} · ${name}`, what: `${figure(share, 1)} %` }));
      dots.color.push(colors.identity[hueOf(place)]);
      dots.symbol.push(symbolOf(place));
    }
  });
  const marker = { size: DOT - 1, line: { color: colors.outline, width: 1 } };
  const hover = { mode: "markers", type: "scatter", hovertemplate: "%{text}<extra></extra>", cliponaxis: false };
  return {
    height: TOP + BOTTOM + ROW * rows.length, minWidth: 0,
    traces: [
      {
        ...hover, x: dots.x, y: dots.y, text: dots.text, marker: { ...marker, color: dots.color, symbol: dots.symbol },
      },
      { ...hover, x: hollow.x, y: hollow.y, text: hollow.text, marker: { ...marker, color: colors.panel } },
    ],
    layout: {
      ...ground(colors, TOP + BOTTOM + ROW * rows.length, { l: left, r: 16, t: TOP, b: BOTTOM }),
      xaxis: axis(colors, { range, nticks: 6, title: { text: say("shares.axis"), font: { size: 13 }, standoff: 6 } }),
      yaxis: axis(colors, { range: [rows.length - 0.5, -0.5], showgrid: false, showticklabels: false, ticks: "" }),
      shapes: [
        ...lines,
        {
          type: "line", x0: fair, x1: fair, y0: 0, y1: 1, yref: "paper", layer: "below",
          line: { color: colors.ink, width: 1, dash: "3px,2px" },
        },
      ],
      annotations: [
        ...notes,
        ...rowNames(
          rows.map(({ strategy }) => strategy),
          names,
          picked,
          colors,
        ),
        {
          x: fair, y: 1, yref: "paper", yanchor: "bottom", showarrow: false,
          text: plain(say("shares.fair", { share: percent(fair / 100, 1) })), font: { color: colors.ink },
        },
      ],
    },
  };
}

// 0, then above and below in turn, until nothing there is nearer than `near`.
function freeLevel(taken, share, near) {
  for (let turn = 0; turn < 5; turn += 1) {
    const level = turn % 2 ? (turn + 1) / 2 : -turn / 2;
    if (!taken.some((other) => other.level === level && share - other.share < near)) return level;
  }
  return 0;
}

export function table({ result, step, say, words, order }) {
  const { members } = result.steps[step], byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  const names = shortNames(result.strategies, words);
  const isLeft = result.strategies.some(({ steps }) => steps[step].unowned_share);
  return {
    head: [say("twin.strategy"), say("twin.skew"), ...members, ...(isLeft ? [say("twin.unowned")] : [])],
    terms: [null, "skew", ...members.map(() => null), "dark"],
    rows: order.map((id) => {
      const at = byId.get(id).steps[step];
      const shares = members.map((name) => percent(at.consumers[name]?.share, 1));
      return [names.get(id), figure(at.skew, 2), ...shares, ...(isLeft ? [percent(at.unowned_share, 1)] : [])];
    }),
  };
}
