// Where a person is in each lesson, kept in this browser alone: by the lesson's English title, which no two share.

const KEY = "highwater.lessons", MOST = 300;

// title -> { lab, frame, frames, is_over, is_done, at }: the lab that played it last, how far that came, and whether
// any came to the end.
export function keptLessons(storage) {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? "{}");
    return kept !== null && typeof kept === "object" && !Array.isArray(kept) ? kept : {};
  } catch {
    return {};                            // another program's text
  }
}

// Looking back takes nothing away. Writes only when something is another.
export function keepPlace({ name, frame, frames, is_over: isOver }, lab, storage, now) {
  const kept = keptLessons(storage), old = kept[name];
  const isSame = old?.lab === lab;
  const place = {
    lab, frame: Math.max(frame, isSame ? old.frame : 0), frames, is_over: isOver || (isSame && old.is_over),
    is_done: isOver || (old?.is_done ?? false),
  };
  if (old && Object.keys(place).every((each) => place[each] === old[each])) return;
  const rest = Object.entries(kept).filter(([each]) => each !== name).sort(([, a], [, b]) => b.at - a.at);
  const next = Object.fromEntries([[name, { ...place, at: now }], ...rest.slice(0, MOST - 1)]);
  try {
    storage.setItem(KEY, JSON.stringify(next));
  } catch { /* the browser keeps nothing, or is full: a lesson is the same without its tick */ }
}

export const isBegun = (place) => Boolean(place) && !place.is_over;

// The lab of a page's address, null on a page of none.
export const labIn = (path) => /^\/lab\/([\w-]{1,32})\//.exec(path)?.[1] ?? null;

// What the browser keeps; one that refuses even to be asked keeps nothing.
export function browserStorage() {
  try {
    return window.localStorage;
  } catch {
    return { getItem: () => null, setItem: () => {} };
  }
}
