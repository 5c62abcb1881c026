// A cut of the hash space, {bounds, owners}: slice i is (bounds[i-1], bounds[i]]. On a ring, what is above the last
// bound belongs to the first slice's owner. Shared by the ring and the ranges.

// -> [from, to, owner, isDark] in slots, in order, neighbours of one owner joined; isDark: its owner is dead.
export function segments(cut, space, isRing) {
  const out = [];
  if (!cut || !cut.bounds.length) return out;
  let from = 0;
  const add = (to, owner, isDark) => {
    const last = out[out.length - 1];
    if (last && last[2] === owner && last[3] === isDark) last[1] = to;
    else if (to > from) out.push([from, to, owner, isDark]);
    from = to;
  };
  cut.bounds.forEach((bound, index) => add(Math.min(bound + 1, space), cut.owners[index], !!cut.dark?.[index]));
  if (isRing) add(space, cut.owners[0], !!cut.dark?.[0]);
  return out;
}

// The pieces of `now` whose owner was another before.
export function moved({ now, before, space }, isRing) {
  const old = segments(before, space, isRing), out = [];
  let place = 0;
  for (const [from, to, owner, isDark] of segments(now, space, isRing)) {
    while (place < old.length && old[place][1] <= from) place += 1;
    for (let i = place; i < old.length && old[i][0] < to; i += 1) {
      if (old[i][2] !== owner) out.push([Math.max(from, old[i][0]), Math.min(to, old[i][1]), owner, isDark]);
    }
  }
  return out;
}

// Whether a cut is still the same, without keeping a copy.
export function fingerprint(cut) {
  if (!cut) return "none";
  let mark = cut.bounds.length;
  for (let i = 0; i < cut.bounds.length; i += 1) {
    mark = (Math.imul(mark, 31) + cut.bounds[i] * 7 + cut.owners[i] + (cut.dark?.[i] ? 3 : 0)) | 0;
  }
  return mark;
}
