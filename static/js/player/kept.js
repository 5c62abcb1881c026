// Documents that were kept at moments, the first whole and the others as what changed since the one before: any of
// them again, in any order.

import { applyPatch } from "../feed/patch.js";

const WHOLE_EVERY = 24;

// times: ascending. kept: [document, patch, ...].
export function createKept(times, kept) {
  const whole = new Map([[0, kept[0]]]);                 // what is met on a way is kept as it is then
  const copy = (document) => structuredClone(document);

  function from(place) {
    let at = place;
    while (!whole.has(at)) at -= 1;
    return at;
  }

  return {
    count: times.length,
    // The last one at or before a time; the first where none is.
    placeAt(time) {
      let [low, high] = [0, times.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (times[middle] <= time) low = middle;
        else high = middle - 1;
      }
      return low;
    },
    // The first one at or after a time; the last where none is.
    placeFrom(time) {
      const place = times.findIndex((each) => each >= time);
      return place < 0 ? times.length - 1 : place;
    },
    // A copy, which may be changed.
    at(place) {
      const start = from(place);
      let found = copy(whole.get(start));
      for (let next = start + 1; next <= place; next += 1) {
        found = applyPatch(found, copy(kept[next]));
        if (next % WHOLE_EVERY === 0) whole.set(next, copy(found));
      }
      return found;
    },
    // What leads from one to a later one.
    between: (place, later) => copy(kept.slice(place + 1, later + 1).flat()),
  };
}
