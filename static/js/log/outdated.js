// Whether the segment that a look-up ended in is still there as it was: the cleaner merges segments and makes them
// smaller, and a truncation takes the last ones.

// The live segment that the look-up ended in; null where it chose none, or that one has gone.
export function segmentOf(lookup, folder) {
  const chosen = lookup.steps.findLast(({ step }) => step === "segment")?.chosen ?? null;
  if (chosen === null) return null;
  return (
    folder.segments.find(({ base_offset: base, state }) => String(base) === String(chosen) && state !== "deleted") ??
    null
  );
}

// bytes: of that segment when it was looked up, null where the folder did not have it yet. A segment that is written to
// only grows.
export function isOutdated(lookup, bytes, folder) {
  if (bytes === null) return false;
  const segment = segmentOf(lookup, folder);
  return segment === null || segment.bytes < bytes;
}
