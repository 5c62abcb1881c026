// What is asked for again, a column for each entry: a step for each time it was sent, the last one in the colour of who
// has it; at the foot the dead-letter topic. Where nothing ends the ladder, the number stands in place of steps that do
// not fit.

import { NONE, clock, number } from "../base/say.js";
import { paint } from "../drawing/paint.js";

const LEFT = 84, COLUMN = 60, ROW = 20, HEAD = 44, STEPS_MAX = 8;

// How many steps are drawn: the first delivery and as many again as there may be.
const stepsOf = ({ max, entries }) =>
  Math.min(STEPS_MAX, (max || Math.max(0, ...Object.values(entries).map(({ times }) => times))) + 1);

// The lowest that fit; where there are more, the last column says how many.
function shown({ entries, count }, width) {
  const room = Math.max(2, Math.floor((width - LEFT) / COLUMN));
  return Object.entries(entries).slice(0, count > room ? room - 1 : room);
}

export const tall = (again) => HEAD + stepsOf(again) * ROW + (again.max ? 40 : 8);

export function layout(again, { width, colorOf, say }) {
  const steps = stepsOf(again), columns = shown(again, width);
  const shapes = [
    { id: "head", tag: "text", x: 0, y: 16, class: "m", text: say("subscription.column.record") },
    { id: "head-at", tag: "text", x: 0, y: 36, class: "m", text: say("subscription.column.again_at") },
  ];
  for (let step = 0; step < steps; step += 1) {
    shapes.push({
      id: `step-${step}`, tag: "text", x: 0, y: HEAD + step * ROW + 15, class: "m",
      text: step === STEPS_MAX - 1 && isCut(again) ? "…" : say("subscription.ladder_step", { step: step + 1 }),
    });
  }
  columns.forEach(([position, { record, times, holder, at_us: at }], place) => {
    const x = LEFT + place * COLUMN, color = holder === null ? null : colorOf(holder), mid = x + (COLUMN - 6) / 2;
    shapes.push(
      {
        id: `record-${position}`, tag: "text", x: mid, y: 16, class: "n b mid",
        text: record === null ? NONE : number(record),
      },
      { id: `at-${position}`, tag: "text", x: mid, y: 36, class: "n m mid", text: at === null ? NONE : clock(at) },
    );
    for (let step = 0; step < Math.min(steps, times + 1); step += 1) {
      const isLast = step === Math.min(steps, times + 1) - 1;
      shapes.push({
        id: `time-${position}-${step}`, tag: "rect", x, y: HEAD + step * ROW + 2, width: COLUMN - 6, height: ROW - 4,
        ...(isLast ? { fill: color ? paint(color) : "url(#again)", class: "o" } : { class: "acked" }),
        title: say("subscription.ladder_entry", {
          position: Number(position), times, consumer: holder ?? say("subscription.gap"),
        }),
      });
      if (isLast && times + 1 > steps) {
        shapes.push({
          id: `times-${position}`, tag: "text", x: mid, y: HEAD + step * ROW + 15, class: "n b mid halo",
          text: `×${times + 1}`,
        });
      }
    }
  });
  if (again.count > columns.length) {
    shapes.push({
      id: "more", tag: "text", x: LEFT + columns.length * COLUMN + (COLUMN - 6) / 2, y: 16, class: "n m mid",
      text: `+${again.count - columns.length}`,
    });
  }
  if (!columns.length) {
    shapes.push({ id: "none", tag: "text", x: LEFT, y: HEAD + 15, class: "m", text: say("subscription.ladder_none") });
  }
  if (again.max) {
    shapes.push(
      {
        id: "letters-box", tag: "rect", x: 0, y: HEAD + steps * ROW + 8, width: Math.max(LEFT, width - 1), height: 26,
        fill: "none", class: "o",
      },
      {
        id: "letters", tag: "text", x: 8, y: HEAD + steps * ROW + 26, class: "b",
        text: say("subscription.dead_letters", { count: again.dead_letters }),
      },
    );
  }
  return shapes;
}

const isCut = ({ max, entries }) => Math.max(max, ...Object.values(entries).map(({ times }) => times)) + 1 > STEPS_MAX;

export function words(
  { max, messages: count, held, delay_us: delay, in_retry_topic: isRetry, dead_letters: letters },
  say,
) {
  const first = say(isRetry ? "subscription.again_retry" : "subscription.again_words", {
    count, held, delay_us: delay,
  });
  return `${first} ${max ? say("subscription.again_max", { max, letters }) : say("subscription.again_for_ever")}`;
}

export function table({ entries }, say) {
  return {
    head: ["entry", "record", "asked_again", "consumer", "again_at"].map((code) => say(`subscription.column.${code}`)),
    terms: [null, null, "redelivered", null, null],
    rows: Object.entries(entries).map(([position, { record, times, holder, at_us: at }]) => [
      number(Number(position)), record === null ? NONE : number(record), number(times),
      holder ?? say("subscription.gap"), at === null ? NONE : clock(at),
    ]),
  };
}
