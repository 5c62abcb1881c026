// What the system did on its own, for the line of time: asked for once, then kept up from the feed's events, and asked
// for again where some of those may have been missed.

import { what } from "../base/events.js";

const LATER_MS = 1500;

// A mark of an event, told apart by kind, lane and consumer.
function markOf(event) {
  const { consumer } = { ...event.inputs, ...event.data };
  return {
    at_us: Math.max(0, event.at_us), kind: event.kind, lane: event.lane, count: 1, by: "system", event,
    consumer: typeof consumer === "string" ? consumer : null,
  };
}

const isSame = (one, other) => ["kind", "lane", "consumer"].every((name) => one[name] === other[name]);

// marks with the events of these kinds after them: several that come at once are one mark with their count.
export function withEvents(marks, events, { kinds, at_once_us: atOnceUs }) {
  const found = [...marks];
  for (const mark of events.filter(({ kind }) => kinds.includes(kind)).map(markOf)) {
    const at = found.findLastIndex((each) => isSame(each, mark)), first = found[at];
    if (first && mark.at_us - first.at_us < atOnceUs) found[at] = { ...first, count: first.count + 1 };
    else found.push(mark);
  }
  return found;
}

// What is said of it: as the server says it, or as its event does.
export const captionOf = ({ caption, event }, language, say) => caption?.[language] ?? what(event, say);

// rules: the kinds and how close is at once. ask(): a promise of the marks since 0:00. changed(): there are others.
export function createSystemMarks({ rules, ask, changed }) {
  let marks = [], missed = [], isAsking = false, timer = 0;

  function load() {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      [isAsking, missed] = [true, []];
      try {
        const told = await ask();
        const later = missed.filter(({ at_us: at }) => at > told.at_us);
        marks = withEvents(told.marks, later, rules);
        changed();
      } catch {
        // it is asked for again with the next gap; until then the line has what the feed told
      }
      isAsking = false;
    }, LATER_MS);
  }

  return {
    load,
    all: () => marks,
    hear(events, isWhole) {
      if (isAsking) missed.push(...events);
      const next = withEvents(marks, events, rules);
      if (next.length !== marks.length) {
        marks = next;
        changed();
      }
      if (isWhole) load();
    },
  };
}
