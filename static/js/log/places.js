// Where a picture shows the bytes and offsets of a partition's folder: every segment to scale by its bytes, deleted
// ones first.

import { number } from "../base/say.js";
import { figuresWidth } from "./format.js";
import { distance, isBelow } from "./offsets.js";

const GAP = 4, OPEN = 72;

// The active segment grows into room that is kept free for it, so that nothing moves until it rolls: the rest up to
// segment.bytes, or, where that is far off, up to the next power of two.
export function room(folder) {
  const active = folder.segments.find((segment) => segment.active);
  if (!active) return 0;
  const limit = folder.settings.segment_bytes ?? 0;
  const largest = Math.max(...folder.segments.map((segment) => segment.bytes), 1);
  if (limit > 0 && limit <= 4 * largest) return Math.max(0, limit - active.bytes);
  return Math.max(0, 2 ** Math.ceil(Math.log2(Math.max(active.bytes, largest / 8, 1))) - active.bytes);
}

// [{segment, x, width}] in the folder's order, and the scale in pixels a byte; right of the last one at least OPEN
// pixels stay free, and room for the end offset.
export function places(folder, width) {
  const { segments } = folder, free = room(folder);
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const inner = width - 4 - GAP * Math.max(0, segments.length - 1);
  const isOpen = segments.some((segment) => segment.active);
  const open = Math.max(OPEN, figuresWidth(number(folder.end_offset ?? 0)) + 20);
  const scale = Math.max(
    0,
    Math.min(inner / Math.max(1, bytes + free), (inner - (isOpen ? open : 0)) / Math.max(1, bytes)),
  );
  let x = 2;
  const list = segments.map((segment) => {
    const place = { segment, x, width: Math.max(1, segment.bytes * scale) };
    x += place.width + GAP;
    return place;
  });
  return {
    list, scale, roomWidth: isOpen ? Math.max(open - 8, Math.min(free * scale, width - 2 - (x - GAP))) : 0,
    end: x - GAP,
  };
}

// The byte of an offset: exact at index entries, in proportion between two of them.
export function positionOf(segment, offset) {
  const points = [
    [segment.base_offset, 0], ...segment.entries,
    ...(segment.next_offset === null ? [] : [[segment.next_offset, segment.bytes]]),
  ];
  for (let index = 1; index < points.length; index += 1) {
    const [before, from] = points[index - 1], [after, to] = points[index];
    if (isBelow(after, offset)) continue;
    const offsets = distance(before, after);
    return offsets === 0 ? from : from + ((to - from) * distance(before, offset)) / offsets;
  }
  return segment.bytes;
}

// The pixel of an offset, null where no segment holds it.
export function offsetAt(list, offset) {
  const live = list.filter(({ segment }) => segment.state !== "deleted");
  const found = live.findLast(({ segment }) => !isBelow(offset, segment.base_offset)) ?? null;
  if (!found) return null;
  const { segment, x, width } = found;
  return x + (width * Math.min(segment.bytes, positionOf(segment, offset))) / Math.max(1, segment.bytes);
}

// The pixel of a byte counted from the first live segment, for the line that retention has reached.
export function byteAt(list, position) {
  let left = position;
  for (const { segment, x, width } of list) {
    if (segment.state === "deleted") continue;
    if (left <= segment.bytes) return x + (width * left) / Math.max(1, segment.bytes);
    left -= segment.bytes;
  }
  return null;
}

// The offset of the index entry at or before a place in a segment, given as a share of its bytes; without one, its base
// offset.
export function entryAt(segment, share) {
  const row = segment.entries.findLast(([, position]) => position <= share * segment.bytes);
  return row ? row[0] : segment.base_offset;
}
