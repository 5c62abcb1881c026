// One measure of a live study over its windows: a line a lane, told apart by colour and dash, with name and last value
// at its end.

import { figure, number } from "../../base/say.js";
import { axis, colorOf, endNames, ground, lineOf, plain } from "./ends.js";

const HEIGHT = 190, TOP = 10, BOTTOM = 34, SHOWN_MAX = 300, EPOCH_US = 1e14;
const DIGITS = { skew: 2, throughput: 1, rebalance_cost: 1 }, LEFT = 52, ROOM = 126, TICK = 76, SHOWN_MIN = 60;
const STEP = 2.5, LANES_MAX = 10;

// rows: windows in any order, the last told of a window and lane counts. -> { lanes, starts, of(start, lane) }
export function gather(rows) {
  const table = new Map(), lanes = [];
  for (const row of rows) {
    if (!table.has(row.start_us)) table.set(row.start_us, new Map());
    table.get(row.start_us).set(row.lane, row);
    if (!lanes.includes(row.lane)) lanes.push(row.lane);
  }
  const starts = [...table.keys()].sort((a, b) => a - b).slice(-SHOWN_MAX);
  return { lanes, starts, of: (start, lane) => table.get(start)?.get(lane) };
}

// Virtual time of a lab counts from 0; a log's records carry the time of day.
export function timeWords(us) {
  if (us > EPOCH_US) return new Date(us / 1000).toISOString().slice(11, 19);
  const whole = Math.floor(us / 1e6), minutes = Math.floor(whole / 60);
  return `${minutes}:${String(whole % 60).padStart(2, "0")}`;
}

const valueWords = (measure, value) =>
  value === null || value === undefined
    ? "–"
    : measure in DIGITS
      ? figure(value, DIGITS[measure])
      : number(Math.round(value));

const laneWords = (lane, words) => words[`model.${lane}`] ?? lane;

// A lab's lanes are models; a log's topics are not, and are told apart by dash alone. Dashes also where colours differ:
// lanes often have one line.
const inkOf = (lane, colors) => (lane in colors.model ? colorOf(lane, colors) : colors.ink);

export const chartOf = (measure) => ({
  layout({ windows, words, say, colors, width = 640 }) {
    // Fewer windows where there is less room: lines that go up and down within a pixel or two are a smear.
    const { of } = windows;
    const starts = windows.starts.slice(-Math.max(SHOWN_MIN, Math.floor((width - LEFT - ROOM) / STEP)));
    const lanes = windows.lanes
      .filter((lane) =>
        starts.some((start) => of(start, lane)?.[measure] !== null && of(start, lane)?.[measure] !== undefined),
      )
      .slice(0, LANES_MAX);
    const lines = lanes.map((lane, index) => ({
      lane, index, y: starts.map((start) => of(start, lane)?.[measure] ?? null),
    }));
    const values = lines.flatMap(({ y }) => y).filter((value) => value !== null), isSkew = measure === "skew";
    const low = isSkew ? 1 : 0, high = Math.max(low + (isSkew ? 0.2 : 1), ...values) * 1.04;
    const every = Math.max(1, Math.ceil(starts.length / Math.max(2, Math.floor((width - LEFT - ROOM) / TICK))));
    const ticks = starts.filter((_, place) => place % every === 0);
    const ends = lines.map(({ lane, y }) => {
      const value = y.filter((each) => each !== null).at(-1);
      return {
        text: `${valueWords(measure, value)} ${laneWords(lane, words)}`, value, color: inkOf(lane, colors), bold: false,
      };
    });
    return {
      height: HEIGHT, minWidth: 0,
      traces: lines.map(({ lane, index, y }) => ({
        type: "scatter", mode: starts.length > 1 ? "lines" : "markers", x: starts, y, connectgaps: false,
        line: { ...lineOf({ model: lane, dash: index }, false, colors), color: inkOf(lane, colors) },
        marker: { color: inkOf(lane, colors) },
        hovertemplate:
          `${say("list.named", { name: plain(laneWords(lane, words)), what: "%{y:.4~g}" })}<extra></extra>`,
      })),
      layout: {
        ...ground(colors, HEIGHT, { l: LEFT, r: ROOM, t: TOP, b: BOTTOM }),
        xaxis: axis(colors, {
          range: [starts[0] ?? 0, Math.max(starts.at(-1) ?? 0, (starts[0] ?? 0) + 1e6)], tickvals: ticks,
          ticktext: ticks.map(timeWords), tickangle: 0, showgrid: false,
        }),
        yaxis: axis(colors, { range: [low, high], nticks: 4 }),
        annotations: endNames(ends, { low, high, plotHeight: HEIGHT - TOP - BOTTOM }),
      },
    };
  },
  table({ windows, words, say }) {
    const newest = windows.starts.slice(-30).reverse();
    return {
      head: [say("live.window"), ...windows.lanes.map((lane) => laneWords(lane, words))],
      rows: newest.map((start) => [
        timeWords(start), ...windows.lanes.map((lane) => valueWords(measure, windows.of(start, lane)?.[measure])),
      ]),
    };
  },
});
