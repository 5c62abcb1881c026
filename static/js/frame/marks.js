// What was marked on a picture against what the change comes to. No page, no picture: sets and where they lie.

// A place of a hash space that was marked belongs to whichever range it lies in.
const within = (slot) => ([low, high]) => Number(slot) >= low && Number(slot) <= high;

// kind: partition, slot or record. marked: names. truth: names, or [low, high] of slots. -> {right, wrong, missed}: of
// slots right and wrong are places, missed are ranges.
export function judged(kind, marked, truth) {
  if (kind === "slot") {
    const isIn = (slot) => truth.some(within(slot));
    return {
      right: marked.filter(isIn), wrong: marked.filter((slot) => !isIn(slot)),
      missed: truth.filter((range) => !marked.some((slot) => within(slot)(range))),
    };
  }
  const names = truth.map(String);
  return {
    right: marked.filter((name) => names.includes(name)), wrong: marked.filter((name) => !names.includes(name)),
    missed: names.filter((name) => !marked.includes(name)),
  };
}

// The kinds that a lane's picture lets one mark, of its part of the answer.
export const kindsOf = (outcome) => Object.keys(outcome?.marks ?? {}).filter((kind) => outcome.marks[kind]);

// What was typed, as names: those of `known`, and for slots any number below `space`.
export function typed(text, { kind, known, space }) {
  const names = text.split(/[\s,;、，；]+/).filter(Boolean);
  if (kind === "slot") return names.filter((name) => /^\d+$/.test(name) && Number(name) < space);
  return names.filter((name) => known.includes(name));
}

// Where a slot lies in a picture of width x height, in its own units: on the ring between its hole and its rim, on a
// line of ranges in its middle.
export function placeOfSlot(slot, { kind, space }, { width, height }) {
  const share = (slot + 0.5) / space;
  if (kind !== "ring") return { x: share * width, y: height / 2 };
  const turn = 2 * Math.PI * share, radius = (height / 2) * 0.78;
  return { x: width / 2 + radius * Math.sin(turn), y: height / 2 - radius * Math.cos(turn) };
}
