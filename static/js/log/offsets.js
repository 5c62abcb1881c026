// Offsets and times reach up to 2^63. The server writes them as numbers while a number is exact, and as text beyond
// (dashboard/logs/source.py, `exact`): they are compared and reckoned with here, and nowhere by `<` and `+`, which
// would take text for text.

export const isBelow = (one, other) => BigInt(one) < BigInt(other);

export const distance = (from, to) => Number(BigInt(to) - BigInt(from));

export function plus(offset, count) {
  const sum = BigInt(offset) + BigInt(count), number = Number(sum);
  return Number.isSafeInteger(number) ? number : String(sum);
}
