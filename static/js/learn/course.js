// What the list says of a person's own way through the course.

import { isBegun } from "../lesson/kept.js";

// What stands at a lesson: a tick once it is done, its place while it is begun; null for neither.
export function markOf(place) {
  if (isBegun(place)) return { kind: "place", frame: Math.max(1, place.frame), frames: place.frames };
  return place?.is_done ? { kind: "done" } : null;
}

export const countDone = (titles, kept) => titles.filter((title) => kept[title]?.is_done).length;

// Where the page's one filled button leads: to the lesson that was begun last, else to the first of these that is not
// done; start: the six to begin with, then all.
export function nextStep(start, all, kept) {
  const begun = all.filter((title) => isBegun(kept[title])).sort((a, b) => kept[b].at - kept[a].at)[0];
  if (begun) return { title: begun, ...markOf(kept[begun]), lab: kept[begun].lab };
  const next = start.findIndex((title) => !kept[title]?.is_done);
  if (next >= 0) return { title: start[next], kind: "begin", number: next + 1 };
  return { title: all.find((title) => !kept[title]?.is_done) ?? all[0], kind: "begin_next" };
}
