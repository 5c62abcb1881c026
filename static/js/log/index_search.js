// One index file searched by halves: a row for each slot looked at, with what was still possible; below, the rows
// around the answer, each joined to the byte of the log that it points at.

import { number } from "../base/say.js";
import { draw, round } from "../drawing/shapes.js";
import { figuresWidth } from "./format.js";

const ROW = 9, TOP = 12, ZOOM = 12, ZOOM_AT = 12, BOX = 28, BAR = 34, FUNNEL = 26;

// The slots that are still possible before each probe, and the slot looked at.
export function narrowing({ entries, probes }) {
  let low = 0, high = entries - 1;
  return probes.map(({ slot, side }) => {
    const before = { low, high, slot };
    if (side === "high") high = Math.max(low, slot - 1);
    else low = Math.max(low, slot);
    return before;
  });
}

// The same with the row's place, and from and to: the slots that the row spreads over. What has become too narrow to
// see is spread again.
export function searchRows(step) {
  let from = 0, to = step.entries - 1, y = TOP;
  return narrowing(step).map((look) => {
    const isZoom = (look.high - look.low + 1) * ZOOM_AT < to - from + 1;
    const before = { from, to };
    if (isZoom) {
      [from, to] = [look.low, look.high];
      y += ZOOM;
    }
    const row = { ...look, from, to, y, before: isZoom ? before : null };
    y += ROW;
    return row;
  });
}

function searchHeight(step) {
  const last = searchRows(step).at(-1);
  return last ? last.y + ROW + 10 : TOP;
}

export function heightOf(step) {
  if (!step.around.length) return TOP + BAR + FUNNEL;
  return Math.round(searchHeight(step) + (step.kind === "time" ? BOX + 30 : BOX + 38 + BAR + FUNNEL));
}

// context: {width, probes: how many are shown, isResult, gap: {from, to} of the scan, segmentBytes, say}
export function layout(step, context) {
  const shapes = [{ id: "rim", tag: "path", d: `M0.5 0V8M${context.width - 0.5} 0V8`, class: "funnel" }];
  search(shapes, step, context);
  const top = searchHeight(step);
  boxes(shapes, step, top, context);
  if (step.kind === "offset") bar(shapes, step, step.around.length ? top : -BOX - 38 + TOP, context);
  return shapes;
}

function search(shapes, step, { width, probes, isResult }) {
  searchRows(step).slice(0, probes).forEach(({ low, high, slot, from, to, y, before }, row) => {
    const isLast = row === probes - 1 && !isResult;
    const inRow = (at, span) => ((at - span.from) * width) / (span.to - span.from + 1);
    const x = (at) => inRow(at, { from, to }), wide = Math.max(3, x(slot + 1) - x(slot));
    if (before) {
      const [left, right] = [
        round(inRow(low, before)), round(Math.max(inRow(low, before) + 1, inRow(high + 1, before))),
      ];
      shapes.push({
        id: `zoom-${row}`, tag: "path",
        d: `M${left} ${y - ZOOM - 1}L0.5 ${y - 2}M${right} ${y - ZOOM - 1}L${width - 0.5} ${y - 2}`, class: "funnel",
      });
    }
    shapes.push({
      id: `range-${row}`, tag: "rect", x: round(x(low)), y, width: Math.max(1, round(x(high + 1) - x(low))),
      height: ROW - 2, class: "range",
    });
    shapes.push({
      id: `probe-${row}`, tag: "rect", x: round(Math.min(width - wide, x(slot))), y, width: round(wide),
      height: ROW - 2, class: isLast ? "ink" : "probe",
    });
  });
}

function boxes(shapes, step, top, { width, isResult, say }) {
  const { around } = step, each = width / Math.max(1, around.length), first = step.around_first_slot ?? 0;
  const isTime = step.kind === "time";
  const wide = around.some(([value]) => each - 8 <= figuresWidth(number(value)));
  const last = (value, digits) => `…${number(String(value).slice(-digits))}`;
  const names = around.map(([value]) =>
    isTime ? last(value, 6) : wide && String(value).length > 6 ? last(value, 3) : number(value),
  );
  const isNamed = each - 8 > Math.max(...names.map(figuresWidth), 0);
  around.forEach(([value, points], row) => {
    const isChosen = isResult && first + row === step.result_slot, x = row * each + 2, id = `row-${value}`;
    shapes.push({
      id, tag: "rect", x: round(x), y: top + 0.5, width: round(each - 4), height: BOX, rx: 3,
      class: isChosen ? "row-box chosen" : "row-box", role: "button", tabindex: -1,
      "data-offset": isTime ? points : value,
      "aria-label": isTime ? say("list.named", { name: String(value), what: String(points) }) : `${value}`,
    });
    if (isNamed) {
      shapes.push({
        id: `${id}-no`, tag: "text", x: round(x + each / 2 - 2), y: top + 19,
        class: `n mid${isChosen ? " on-ink" : ""}`, text: names[row],
      });
    }
    if (isTime && each - 8 > figuresWidth(number(points))) {
      shapes.push({
        id: `${id}-to`, tag: "text", x: round(x + each / 2 - 2), y: top + BOX + 15, class: "n mid m",
        text: number(points),
      });
    }
  });
}

// The bytes of the log from the first row's to the end of the last one's.
export function span(step, gap, segmentBytes) {
  const positions = step.around.map(([, position]) => position), last = positions.at(-1) ?? 0;
  const isEnd = !positions.length || (step.around_first_slot ?? 0) + positions.length >= step.entries;
  const from = Math.min(positions[0] ?? 0, gap?.from ?? Infinity);
  const stride = positions.length > 1 ? (last - positions[0]) / (positions.length - 1) : 0;
  return { from, to: Math.max(isEnd ? segmentBytes : last + stride, gap?.to ?? 0, from + 1) };
}

function bar(shapes, step, top, { width, isResult, gap, segmentBytes, say }) {
  const { from, to } = span(step, gap, segmentBytes);
  const x = (position) => 1 + ((position - from) * (width - 2)) / (to - from);
  const y = top + BOX + 38, each = width / Math.max(1, step.around.length), first = step.around_first_slot ?? 0;
  shapes.push({ id: "bytes", tag: "rect", x: 1, y: y + 0.5, width: width - 2, height: BAR, class: "frame-box" });
  step.around.forEach(([value, position], row) => {
    const middle = row * each + each / 2, isChosen = isResult && first + row === step.result_slot;
    shapes.push({
      id: `to-${value}`, tag: "path",
      d: `M${round(middle)} ${top + BOX + 1}V${top + BOX + 9}L${round(x(position))} ${y - 8}V${y}`,
      class: isChosen ? "wire chosen" : "wire",
    });
  });
  const isShown = isResult && gap;
  const words = say("log.bytes_span", { from: Math.round(from), to: Math.round(to) });
  const isLeft = isShown && (x(gap.from) + x(gap.to)) / 2 > width / 2;
  const room = isShown ? (isLeft ? x(gap.from) : width - x(gap.to)) : width;
  if (isShown) {
    shapes.push({
      id: "gap", tag: "rect", x: round(x(gap.from)), y: y + 0.5, width: round(Math.max(2, x(gap.to) - x(gap.from))),
      height: BAR, class: "ink",
    });
    const top = y + BAR + 2, foot = y + BAR + FUNNEL;
    const d = `M${round(x(gap.from))} ${top}L1 ${foot}M${round(x(gap.to))} ${top}L${width - 1} ${foot}`;
    shapes.push({ id: "funnel", tag: "path", d, class: "funnel" });
  }
  if (room > figuresWidth(words)) {
    shapes.push({
      id: "bytes-words", tag: "text", x: isLeft ? 8 : width - 8, y: y + 22, class: `n m${isLeft ? "" : " end"}`,
      text: words,
    });
  }
}

export function render(root, step, context) {
  root.setAttribute("viewBox", `0 0 ${context.width} ${heightOf(step)}`);
  root.setAttribute("height", heightOf(step));
  draw(root, layout(step, context));
}
