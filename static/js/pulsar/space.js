// The hash space as pieces: what the lens shows of it, and what changed hands. Arithmetic over the server's two cuts;
// who owns what is said there.

import { segments } from "../drawing/slices.js";

// -> [from, to, giver, taker] in slots: the pieces of `now` whose owner was another before. Owners are places in
// picture.names, -1 nobody.
export function handovers({ now, before, space }, isRing) {
  const old = segments(before, space, isRing), out = [];
  let place = 0;
  for (const [from, to, owner] of segments(now, space, isRing)) {
    while (place < old.length && old[place][1] <= from) place += 1;
    for (let i = place; i < old.length && old[i][0] < to; i += 1) {
      if (old[i][2] !== owner) out.push([Math.max(from, old[i][0]), Math.min(to, old[i][1]), old[i][2], owner]);
    }
  }
  return out;
}

// The lens's window: `span` slots around `at`, within the space.
export function windowOf(at, span, space) {
  const width = Math.max(16, Math.min(Math.round(span), space));
  const from = Math.max(0, Math.min(space - width, Math.round(at - width / 2)));
  return { from, to: from + width };
}

// The pieces of a cut that a window shows, cut to it: [from, to, owner, isDark, first slot, one past the last of the
// whole piece].
export function seen(cut, { space, kind }, window) {
  return segments(cut, space, kind === "ring")
    .filter(([from, to]) => to > window.from && from < window.to)
    .map(([from, to, owner, isDark]) => [
      Math.max(from, window.from), Math.min(to, window.to), owner, isDark, from, to,
    ]);
}

// How much of the space each owner has, and in how many pieces: name -> {slots, pieces}; "" is nobody.
export function owned(cut, { space, kind, names }) {
  const found = new Map();
  for (const [from, to, owner] of segments(cut, space, kind === "ring")) {
    const name = names[owner] ?? "", known = found.get(name) ?? { slots: 0, pieces: 0 };
    found.set(name, { slots: known.slots + to - from, pieces: known.pieces + 1 });
  }
  return found;
}
