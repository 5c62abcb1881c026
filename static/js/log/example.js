// What the page looks up first, before anybody asks: a record that the index does not name, so that the scan has
// headers to pass over.

import { distance, isBelow, plus } from "./offsets.js";

// The record before an index row in the middle of the segment before the active one, where retention comes last;
// without such a row, the last but one of the segment: from its start the scan passes all the others.
export function firstExample({ segments, start_offset: start, end_offset: end }) {
  const live = segments.filter(({ state }) => state !== "deleted");
  const { base_offset: from, next_offset: to, entries } = live[Math.max(0, live.length - 2)];
  const last = plus(to ?? end, -1);
  const apart = entries.filter(
    ([offset], place) => place > 0 && distance(entries[place - 1][0], offset) > 1 && isBelow(start, offset),
  );
  const half = apart.length
    ? plus(apart[Math.floor(apart.length / 2)][0], -1)
    : isBelow(from, last)
      ? plus(last, -1)
      : last;
  return isBelow(half, start) ? start : half;
}
