// Pieces of the hash space as arcs: one circle for each owner, its pieces the dashes of one stroke.

export const ROUND = 36000; // path length of the whole ring

// -> [owner, isDark, pieces], by owner; what an owner serves before what it does not.
export function byOwner(pieces) {
  const owners = new Map();
  for (const [from, to, owner, isDark] of pieces) push(owners, owner * 2 + Number(isDark), [from, to]);
  return [...owners].sort(([a], [b]) => a - b).map(([key, own]) => [Math.floor(key / 2), key % 2 !== 0, own]);
}

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

// Pieces [from, to] in slots -> "0 gap dash gap dash ... end". A point is a piece without length and gets `least`.
export function dash(pieces, space, least = 0) {
  const out = [0];
  let at = 0;
  for (const [from, to] of pieces) {
    const start = Math.max(at, Math.round((from / space) * ROUND));
    const end = Math.min(ROUND, Math.max(start + Math.max(1, least), Math.round((to / space) * ROUND)));
    if (end <= start) continue;
    if (start === at && out.length > 1) out[out.length - 1] += end - start;
    else out.push(start - at, end - start);
    at = end;
  }
  out.push(ROUND);
  return out.join(" ");
}
