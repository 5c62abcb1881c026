// Masters, and brokers with their partitions: who reads each, or who will and when, and how far its group is behind.

import { number } from "../base/say.js";
import { CHIP, chipShapes, widthOf } from "./chips.js";

const MASTER = 150, LEAST = 196, GAP = 12, HEAD = 32, LINE = 26, BAR = 46;
export const ROWS_MOST = 12;

// With many partitions those that are not read stand first, then those that are furthest behind. -> {shown, folded}
export function rowsOf(keys, partitions) {
  if (keys.length <= ROWS_MOST) return { shown: keys, folded: 0 };
  const behind = (key) => (partitions[key].unread ? 1e12 : 0) + partitions[key].lag;
  const shown = [...keys].sort((one, other) => behind(other) - behind(one)).slice(0, ROWS_MOST);
  return { shown: keys.filter((key) => shown.includes(key)), folded: keys.length - shown.length };
}

// -> {shapes, height}. words: of `brokerWords`.
export function layout(panel, { width, colorOf, words, chosen = null }) {
  const { partitions } = panel, brokers = Object.entries(panel.brokers);
  const most = Math.max(1, ...Object.values(partitions).map(({ lag }) => lag));
  const isStacked = width < MASTER + GAP + LEAST, from = isStacked ? 0 : MASTER + GAP;
  const columns = Math.max(1, Math.min(brokers.length, Math.floor((width - from + GAP) / (LEAST + GAP))));
  const wide = (width - from - (columns - 1) * GAP) / columns;
  const masters = masterShapes(panel, isStacked ? width : MASTER, words);
  const shapes = [...masters.shapes];
  let y = isStacked ? masters.height + GAP : 0;
  for (let first = 0; first < brokers.length; first += columns) {
    const line = brokers.slice(first, first + columns).map(([id, broker]) => [
      id, broker, rowsOf(broker.partitions, partitions),
    ]);
    const rows = Math.max(...line.map(([, , { shown, folded }]) => shown.length + (folded ? 1 : 0)));
    const tall = HEAD + rows * (CHIP.height + 4) + 8;
    line.forEach(([id, broker, found], place) => {
      const x = from + place * (wide + GAP);
      shapes.push(...brokerShapes(id, broker, found, { x, y, wide, tall, partitions, most, colorOf, words, chosen }));
    });
    y += tall + GAP;
  }
  return { shapes, height: Math.max(y - GAP, masters.height) };
}

function masterShapes({ masters, ...panel }, width, words) {
  const lines = words.master(panel, masters), height = HEAD + lines.length * LINE - 8 + 10;
  return {
    height,
    shapes: [
      boxOf("master", 0, 0, width, height, "node"),
      { id: "master/title", tag: "text", x: 12, y: 21, text: words.masterTitle, class: "b t15" },
      ...lines.map(({ text, tone = "m" }, place) => ({
        id: `master/${place}`, tag: "text", x: 12, y: HEAD + 12 + place * LINE - place * 4, text, class: tone,
      })),
    ],
  };
}

const boxOf = (id, x, y, width, height, look) => ({
  id: `${id}/box`, tag: "rect", x: x + 0.75, y: y + 0.75, width: width - 1.5, height: height - 1.5, rx: 6, class: look,
});

function brokerShapes(id, broker, { shown, folded }, { x, y, wide, tall, partitions, most, colorOf, words, chosen }) {
  const state = words.broker(broker), right = x + wide - 10;
  const shapes = [
    boxOf(id, x, y, wide, tall, state.isOpen ? "node" : "node off"),
    { id: `${id}/title`, tag: "text", x: x + 10, y: y + 21, text: words.brokerName(id), class: "b t15" },
    {
      id: `${id}/state`, tag: "text", x: right, y: y + 21, "text-anchor": "end", text: state.text,
      class: state.isOpen ? "m" : "wa",
    },
  ];
  shown.forEach((key, place) => {
    const partition = partitions[key], top = y + HEAD + place * (CHIP.height + 4), who = words.reader(key, partition);
    const chip = widthOf(key), bar = (BAR * partition.lag) / most;
    shapes.push(
      ...chipShapes(`${id}/${key}`, key, x + 10, top, {
        look: who.look, color: colorOf(partition.owner), title: words.partitionTitle(key, partition),
        part: `broker/${key}`, isPressed: key === chosen,
      }),
      { id: `${id}/${key}/who`, tag: "text", x: x + 18 + chip, y: top + 19, text: who.text, class: who.tone },
      {
        id: `${id}/${key}/lag`, tag: "text", x: right, y: top + 19, "text-anchor": "end", text: number(partition.lag),
        class: "n",
      },
      { id: `${id}/${key}/bar`, tag: "rect", x: right - bar, y: top + 23, width: bar, height: 3, class: "lag" },
    );
  });
  if (folded) {
    const top = y + HEAD + shown.length * (CHIP.height + 4);
    shapes.push({ id: `${id}/folded`, tag: "text", x: x + 10, y: top + 19, text: words.folded(folded), class: "m" });
  }
  return shapes;
}
