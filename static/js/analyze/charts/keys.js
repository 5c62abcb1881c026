// The hottest keys by their records. Records without a key are hatched; an approximate count says the least and the
// most that it can be.

import { number, percent } from "../../base/say.js";
import { shortNames } from "../result.js";
import { bytes } from "../sizes.js";
import { visibleLetter } from "../visible.js";
import { axis, ground, plain } from "./ends.js";

const ROW = 27, SHOWN_MAX = 10, KEY_MAX = 18, TABLE_KEY_MAX = 36;

// A key as it is read: text, or its bytes where it is none; without a key and with an empty one are two things. What
// does not fit is cut, and the length of the whole key follows it: two long keys may begin alike.
export function keyWords({ key, key_hex: hex, key_bytes: size = 0 }, say, most = KEY_MAX) {
  if (key === null && !hex) return say("keys.none");
  if (key === "") return say("keys.empty");
  const text = [...(key ?? `0x${hex}`)].map(visibleLetter);
  if (text.length <= most) return text.join("");
  const length = bytes(size), room = Math.max(4, most - length.length - 2);
  return `${text.slice(0, room).join("")}… ${length}`;
}

const isKeyless = ({ key, key_hex: hex }) => key === null && !hex;

export function layout({ result, say, colors }) {
  const keys = result.hot_keys.slice(0, SHOWN_MAX), rows = keys.map((_, row) => row);
  const height = 16 + ROW * Math.max(1, keys.length);
  const most = Math.max(1, ...keys.map(({ records }) => records));
  return {
    height, minWidth: 0,
    traces: [
      {
        type: "bar", orientation: "h", x: keys.map(({ records }) => records), y: rows, width: 0.6, cliponaxis: false,
        text: keys.map(({ records }) => number(records)),
        textposition: "outside", textfont: { family: colors.mono, size: 13, color: colors.ink },
        hovertemplate: keys.map((entry) => {
          const what = `${number(entry.records)} (${percent(entry.share, 2)})`;
          return `${say("list.named", { name: plain(keyWords(entry, say)), what })}<extra></extra>`;
        }),
        marker: {
          color: colors.muted, line: { color: colors.muted, width: 1 },
          pattern: {
            shape: keys.map((entry) => (isKeyless(entry) ? "/" : "")), bgcolor: colors.panel, size: 6, solidity: 0.25,
          },
        },
      },
    ],
    layout: {
      ...ground(colors, height, { l: 152, r: 64, t: 8, b: 8 }),
      xaxis: axis(colors, { range: [0, most], visible: false }),
      yaxis: axis(colors, {
        range: [Math.max(1, keys.length) - 0.5, -0.5], showgrid: false, ticks: "",
        tickfont: { family: colors.mono, color: colors.ink }, tickvals: rows,
        ticktext: keys.map((entry) => plain(keyWords(entry, say))),
      }),
    },
  };
}

export function table({ result, say, words, picked }) {
  const names = shortNames(result.strategies, words);
  const owner = picked ? [`${say("keys.owner")} (${names.get(picked)})`] : [];
  return {
    head: [say("keys.key"), say("keys.records"), say("keys.share"), ...owner],
    terms: ["hot_key"],
    rows: result.hot_keys.map((entry) => [
      entry.key === null && entry.key_hex
        ? say("keys.binary", { hex: keyWords(entry, say, TABLE_KEY_MAX) })
        : keyWords(entry, say, TABLE_KEY_MAX),
      number(entry.records), percent(entry.share, 2),
      ...(picked ? [entry.owners?.[picked] ?? "–"] : []),
    ]),
  };
}
