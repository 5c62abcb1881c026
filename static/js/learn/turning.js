// Which slide is next. Numbers are from 1.

// The slide that an address names; the first where it names none.
export function numberIn(hash, count) {
  const number = /^#(?:slide-)?(\d{1,3})$/.exec(hash)?.[1];
  return Math.min(count, Math.max(1, Number(number ?? 1)));
}

export function turned(number, way, count) {
  const wanted = { next: number + 1, back: number - 1, first: 1, last: count }[way];
  return Math.min(count, Math.max(1, wanted));
}
