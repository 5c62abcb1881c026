// Partitions by members: a lane for each partition, which shines in the colour of who reads it and goes dark while
// nobody does, and its figures.
//
//   full cell     reads it now                     hatched cell    is to have it, by the coordinator, and does not read
//   it open cell     target of the consumer protocol  minus           was told to give it up
//   exclamation   owns it, and nothing is read: its poll loop is stuck, it has paused the partition, or nobody leads it

import { NONE, number } from "../base/say.js";
import { widthOf as wordsWidth } from "../drawing/labels.js";
import { isTextured, paint, textOn, waitingPaint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { heldBy, isAtWork, lagOf, lanesOf, readsCommitted } from "./lanes.js";
import { statusOf, wordsOf } from "./status.js";
import { left } from "./timers.js";
import { LOOKS_BACK, spark } from "./trend.js";
import { rounded } from "./words.js";

const ROW = 24, HEAD = 26;
const MARGIN = 6, BAR = 16, FIGURE = 58, WIDE = 82, AGE = 68, TREND = 100, PITCH_LEAST = 8, GAP_MOST = 4, DIGIT = 7.5;
const PITCH_MOST = 120, SIGNS = { ok: "", warning: "!", error: "×" };
const FIGURES = ["end", "high_watermark", "committed", "position", "lag", "lag_us"], FEW = ["lag"];
const OF_COMMITTED = ["end", "high_watermark", "stable", "committed", "position", "lag", "stable_lag", "lag_us"];
const FEW_OF_COMMITTED = ["lag", "stable_lag"], LETTER = 7.3, NAME = 16, PHONE_NAME = 8;
const widthOf = (figure) => ({ committed: WIDE, stable_lag: WIDE, lag_us: AGE })[figure] ?? FIGURE;
const TERMS = {
  high_watermark: "high_watermark", stable: "last_stable_offset", stable_lag: "last_stable_offset",
  committed: "committed", lag: "group_lag", lag_us: "lag_time",
};

const figuresOf = (group, isPhone) =>
  readsCommitted(group) ? (isPhone ? FEW_OF_COMMITTED : OF_COMMITTED) : isPhone ? FEW : FIGURES;

export const height = (group) => HEAD + lanesOf(group).length * ROW + 4;

// members: [[key, member]] in their order. lags: partition -> its lags of the last seconds.
export function layout(group, { members, consumers, available, isPhone = false, atUs, health, lags, say }) {
  const rows = lanesOf(group), longest = Math.max(...rows.map(({ name }) => name.length));
  const most = isPhone ? PHONE_NAME : NAME;
  const label = Math.max(isPhone ? 30 : 44, Math.min(longest, most) * LETTER + 14), figures = figuresOf(group, isPhone);
  const edges = figures.map((_, place) =>
    figures.slice(0, place + 1).reduce((sum, figure) => sum + widthOf(figure), 0),
  );
  const right = edges.at(-1) + TREND;
  const pitch = Math.min(
    PITCH_MOST,
    Math.max(PITCH_LEAST, (available - label - right - 12) / Math.max(1, members.length)),
  );
  const lane = Math.max(members.length * pitch, available - label - right - 12);
  const width = Math.max(available, Math.ceil(label + lane + 12 + right)), shapes = [];
  const columns = Object.fromEntries(members.map(([key], place) => [key, label + place * pitch])), end = label + lane;
  const isTight = members.some(([, member]) => member.consumer.length * 7 > pitch - 3);
  const textOf = (name) => (isTight ? name.replace(/^c/, "") : name);
  // In columns that are narrower than a number every second, third ... has its own; each cell has its member in its
  // tip.
  const every = isTight
    ? Math.max(
        1,
        Math.ceil((Math.max(...members.map(([, { consumer }]) => textOf(consumer).length)) * DIGIT + 3) / pitch),
      )
    : 1;
  for (const [key, member] of members.filter((_, place) => place % every === 0)) {
    const name = member.consumer;
    shapes.push({
      id: `name-${key}`, tag: "text", x: round(columns[key] + pitch / 2), y: 16,
      class: `mid ${member.is_leader ? "b" : ""}${member.condition === "running" ? "" : " bad"}`, text: textOf(name),
    });
  }
  figures.forEach((figure, place) =>
    shapes.push({
      id: `head-${figure}`, tag: "text", x: end + 6 + edges[place], y: 16, class: "m end",
      ...(TERMS[figure] ? { "data-term": TERMS[figure] } : {}), text: say(`groups.short.${figure}`),
    }),
  );
  shapes.push({
    id: "head-trend", tag: "text", x: end + 18 + edges.at(-1), y: 16, class: "m",
    "data-tip": say("groups.trend.about", { seconds: LOOKS_BACK }), text: say("groups.short.trend"),
  });
  rows.forEach((row, place) => {
    const y = HEAD + place * ROW, { name, partition } = row, own = lagOf(row, group, health);
    const known = { ...partition, lag: own.lag, stable_lag: own.stable_lag };
    const there = members.map(([key]) => [key, row.members[key]]);
    shapes.push(...laneShapes(row, { y, label, lane, pitch, columns, members: there, consumers, atUs, say, most }));
    figures.forEach((figure, column) =>
      shapes.push({
        id: `${figure}-${name}`, tag: "text", x: end + 6 + edges[column], y: y + 15,
        class: `n end${figure === "lag" ? " b" : ""}`,
        text:
          figure === "lag_us"
            ? own.lag_us === null
              ? NONE
              : left(own.lag_us, say)
            : known[figure] === null
              ? NONE
              : number(known[figure]),
      }),
    );
    const judged = statusOf(row, group, health, lags);
    if (judged && SIGNS[judged.status]) {
      shapes.push({
        id: `status-${name}`, tag: "text", x: end + 18 + edges.at(-1) + 82, y: y + 16,
        class: `b ${judged.status === "error" ? "bad" : "warn"}`, "data-tip": wordsOf(judged, health, say),
        text: SIGNS[judged.status],
      });
    }
    if (row.isOwn) {
      shapes.push(
        ...spark(`trend-${name}`, own.lag === null ? [] : (lags[name] ?? []), {
          x: end + 18 + edges.at(-1), y: y + 2, width: 50, height: 16, say,
        }),
      );
    }
  });
  return { shapes, width, figures: [...edges.map((edge) => end + edge - FIGURE / 2), end + 18 + edges.at(-1)] };
}

function laneShapes(
  { name, number: place, partition, members: known },
  { y, label, lane, pitch, columns, members, consumers, atUs, say, most },
) {
  const owner = known[partition.owner], shapes = [], color = owner ? consumers[owner.consumer]?.color : null;
  const middle = y + ROW / 2;
  shapes.push({
    id: `part-${name}`, tag: "text", x: label - 8, y: y + 16, class: "n end",
    text: name.length > most ? `…${name.slice(1 - most)}` : name, title: name,
  });
  if (owner) {
    shapes.push({
      id: `lane-${name}`, tag: "rect", x: label, y: y + 4, width: round(lane), height: BAR, rx: 3, fill: paint(color),
      class: "lane-of",
    });
  } else {
    const darkUs = partition.dark_us === null ? null : rounded(Math.max(0, atUs - partition.dark_us));
    const words = darkUs === null ? say("groups.never_read") : say("groups.dark_for", { for_us: darkUs });
    shapes.push({
      id: `lane-${name}`, tag: "rect", x: label, y: y + 4, width: round(lane), height: BAR, rx: 3, fill: "url(#void)",
      class: "lane-dark", title: words,
    });
    const cells = members.filter(([key, member]) => markOf(place, partition, key, member)).map(([key]) => columns[key]);
    const { x, side, room } = roomBeside(cells, pitch, label, label + lane);
    const fitting = [words, darkUs === null ? "" : left(darkUs, say)].find((text) => wordsWidth(text) <= room);
    if (fitting) {
      shapes.push({
        id: `dark-${name}`, tag: "text", x, y: middle + 4, class: `plate b ${side}`.trim(), text: fitting,
      });
    }
  }
  for (const [key, member] of members) {
    const mark = markOf(place, partition, key, member);
    if (!mark) continue;
    const gap = Math.min(GAP_MOST, pitch / 4), x = round(columns[key] + gap / 2), width = round(pitch - gap);
    const inset = Math.min(5, width / 4), own = consumers[member.consumer]?.color;
    const why = mark === "held" ? `held_${heldBy(partition, member, place)}` : mark;
    shapes.push({
      id: `cell-${name}-${key}`, tag: "rect", x, y: y + 2, width, height: ROW - 4, rx: 3,
      fill: {
        reads: paint(own), held: paint(own), given: waitingPaint(own), target: "var(--panel)", revoking: paint(own),
      }[mark],
      class: `cell-of ${mark}`, title: say(`groups.cell.${why}`, { member: member.consumer, partition: name }),
    });
    if (mark === "reads" && pitch >= 30 && !isTextured(own)) {
      shapes.push({
        id: `reads-${name}-${key}`, tag: "text", x: round(x + width / 2), y: middle + 4, class: "mid on-cell",
        fill: textOn(own), text: "✓",
      });
    }
    if (mark === "held") {
      shapes.push({
        id: `held-${name}-${key}`, tag: "text", x: round(x + width / 2), y: middle + 5, class: "mid b plate on-cell",
        text: "!",
      });
    }
    if (mark === "revoking") {
      shapes.push({
        id: `minus-${name}-${key}`, tag: "path", d: `M${round(x + inset)} ${middle}h${round(width - 2 * inset)}`,
        class: "minus",
      });
    }
  }
  return shapes;
}

// Where words stand between the cells of a lane: in the widest room, at the lane's end where that is free. -> {x, side:
// class, room: how wide they may be}
function roomBeside(cells, pitch, from, to) {
  const starts = [from, ...cells.map((x) => x + pitch)];
  const rooms = starts.map((start, place) => [start, cells[place] ?? to]);
  const [start, end] = rooms.reduceRight((best, room) => (room[1] - room[0] > best[1] - best[0] ? room : best));
  const [x, side] =
    end === to ? [end - MARGIN, "end"] : start === from ? [start + MARGIN, ""] : [(start + end) / 2, "mid"];
  return { x: round(x), side, room: end - start - 2 * MARGIN };
}

// What a member is to a partition: reads | held | revoking | given | target | null.
export function markOf(number, partition, key, member) {
  if (member.revoking.includes(number)) return "revoking";
  if (partition.owner === key || (isAtWork(member) && member.owned.includes(number))) {
    return heldBy(partition, member, number) ? "held" : "reads";
  }
  if (member.assigned.includes(number)) return "given";
  return member.target?.includes(number) ? "target" : null;
}
