// Masters, and brokers with their partitions: who reads each, or who will and when, and how far its group is behind.

import { number } from "../base/say.js";
import { CHIP, chipShapes, widthOf } from "./chips.js";

const MASTER = 150, LEAST = 196, GAP = 12, HEAD = 28, ROW = CHIP.height + 3, LINE = 22, BAR = 46, BETWEEN = 24;
export const ROWS_MOST = 16;

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
    const rows = Math.max(...line.map(([, , found]) => linesOf(found, wide)));
    const tall = HEAD + rows * ROW + 5;
    line.forEach(([id, broker, found], place) => {
      const x = from + place * (wide + GAP);
      shapes.push(...brokerShapes(id, broker, found, { x, y, wide, tall, partitions, most, colorOf, words, chosen }));
    });
    y += tall + GAP;
  }
  return { shapes, height: Math.max(y - GAP, masters.height) };
}

// Of its partitions, where one broker has the room of several.
const columnsOf = (wide) => Math.max(1, Math.floor((wide - 20 + BETWEEN) / (LEAST + BETWEEN)));

const linesOf = ({ shown, folded }, wide) => Math.ceil((shown.length + (folded ? 1 : 0)) / columnsOf(wide));

function masterShapes({ masters, ...panel }, width, words) {
  const lines = words.master(panel, masters), height = HEAD + lines.length * LINE + 8;
  return {
    height,
    shapes: [
      boxOf("master", 0, 0, width, height, "node"),
      { id: "master/title", tag: "text", x: 12, y: 20, text: words.masterTitle, class: "b t15" },
      ...lines.map(({ text, tone = "m" }, place) => ({
        id: `master/${place}`, tag: "text", x: 12, y: HEAD + 16 + place * LINE, text, class: tone,
      })),
    ],
  };
}

const boxOf = (id, x, y, width, height, look) => ({
  id: `${id}/box`, of: `broker-${id}`, tag: "rect", x: x + 0.75, y: y + 0.75, width: width - 1.5, height: height - 1.5,
  rx: 6, class: look,
});

function brokerShapes(id, broker, { shown, folded }, { x, y, wide, tall, partitions, most, colorOf, words, chosen }) {
  const state = words.broker(broker), right = x + wide - 10, columns = columnsOf(wide);
  const room = (wide - 20 - (columns - 1) * BETWEEN) / columns, rows = linesOf({ shown, folded }, wide);
  const placeOf = (place) => ({
    at: x + 10 + Math.floor(place / rows) * (room + BETWEEN), top: y + HEAD + (place % rows) * ROW,
  });
  const shapes = [
    boxOf(id, x, y, wide, tall, state.isOpen ? "node" : "node off"),
    { id: `${id}/title`, tag: "text", x: x + 10, y: y + 20, text: words.brokerName(id), class: "b t15" },
    {
      id: `${id}/state`, tag: "text", x: right, y: y + 20, "text-anchor": "end", text: state.text,
      class: state.isOpen ? "m" : "wa",
    },
  ];
  shown.forEach((key, place) => {
    const partition = partitions[key], { at, top } = placeOf(place), who = words.reader(key, partition);
    const chip = widthOf(key), bar = (BAR * partition.lag) / most, end = at + room;
    shapes.push(
      ...chipShapes(`${id}/${key}`, key, at, top, {
        look: who.look, color: colorOf(partition.owner), title: words.partitionTitle(key, partition),
        part: `broker/${key}`, isPressed: key === chosen,
      }),
      { id: `${id}/${key}/who`, tag: "text", x: at + 8 + chip, y: top + 17, text: who.text, class: who.tone },
      {
        id: `${id}/${key}/lag`, tag: "text", x: end, y: top + 17, "text-anchor": "end", text: number(partition.lag),
        class: "n",
      },
      { id: `${id}/${key}/bar`, tag: "rect", x: end - bar, y: top + 22, width: bar, height: 3, class: "lag" },
    );
  });
  if (folded) {
    const { at, top } = placeOf(shown.length);
    shapes.push({ id: `${id}/folded`, tag: "text", x: at, y: top + 17, text: words.folded(folded), class: "m" });
  }
  return shapes;
}
