// Which offsets of a partition the picture shows, and where each is: one scale for all copies, offsets upward. The
// newest records fill most of it; for a copy that ends far below them the scale has a break, and below it a part of its
// own, so that everything stands at its own offset.

const LEAST = 12, PITCH_MOST = 22, PITCH_LEAST = 3.5;
const SPARE = 1.5, ABOVE_LAST = 0.7, BREAKS_MOST = 2, LOWER_SHARE = 0.26, LOWER_ABOVE = 0.3, LOWER_SPARE = 3;
export const BREAK = 22;                                // px of a break

// copies: the partition's copies by broker. height: of the strips in px. before: the window of the last frame; it moves
// only when it must, for a picture that slides with each record cannot be read.
// -> {low, high, start, height, pitch, parts: [{low, high, bottom: px, pitch: px of a record}], the lowest first}; low,
// pitch: of the lowest and highest part
export function windowOf(copies, height, before = null) {
  const all = Object.values(copies);
  const points = [...new Set(all.flatMap((copy) => [copy.end, Math.min(copy.high_watermark, copy.end)]))].sort(
    (a, b) => b - a,
  );
  if (!points.length) points.push(0);
  const start = Math.min(...all.map((copy) => copy.start), points[0]);
  if (before && fits(before, points, start, height)) return before;
  let lower = [], top = topPart(points, start, height);
  // With each break less is left for the newest records.
  for (let breaks = 1; breaks <= BREAKS_MOST && points.at(-1) < top.low; breaks += 1) {
    const tall = Math.round(height * LOWER_SHARE), rest = height - breaks * (tall + BREAK);
    top = topPart(points.filter((point) => isNear(point, points[0], rest)), start, rest);
    const groups = grouped(points.filter((point) => point < top.low), breaks);
    lower = groups.map((group, place) =>
      lowerPart(group, tall, start, place ? groups[place - 1].at(-1) : top.low, top.pitch),
    );
    if (lower.every((part) => part.pitch >= PITCH_LEAST)) break;
  }
  const parts = [];
  let bottom = 0;
  for (const part of [...lower.reverse(), top]) {
    parts.push({ ...part, bottom });
    bottom += part.tall + BREAK;
  }
  return { low: parts[0].low, high: top.high, start, height, pitch: top.pitch, parts };
}

function fits(before, points, start, height) {
  const holds = ({ low, high }, point) => low <= point && point <= high;
  return (
    before.height === height &&
    start >= before.start - 1 &&
    points.every((point) => before.parts.some((part) => holds(part, point))) &&
    before.parts.slice(0, -1).every((part) => points.some((point) => holds(part, point)))
  );
}

const mostIn = (height) => Math.max(LEAST, Math.floor(height / PITCH_LEAST));
const isNear = (point, end, height) => (end - point) * SPARE <= mostIn(height);

function topPart(points, start, height) {
  const [end] = points, low = points.at(-1), room = Math.max(LEAST, Math.ceil((end - low) * SPARE));
  const span = Math.min(mostIn(height), Math.max(room, Math.floor(height / PITCH_MOST)));
  const from = Math.max(start, end - Math.ceil(span * ABOVE_LAST));
  return { low: from, high: from + span, pitch: height / span, tall: height };
}

// At most so many groups of neighbouring points, cut where the distance is largest; the highest first.
function grouped(points, count) {
  const gaps = points
    .slice(1)
    .map((point, place) => ({ at: place + 1, size: points[place] - point }))
    .sort((a, b) => b.size - a.size);
  const cuts = gaps.slice(0, count - 1).map(({ at }) => at).sort((a, b) => a - b);
  return [0, ...cuts].map((from, place) => points.slice(from, cuts[place])).filter((group) => group.length);
}

// ceiling: it ends below this offset. pitch: of the part above, which it has, too, unless more records have to fit.
function lowerPart(points, tall, start, ceiling, pitch) {
  const [last] = points;
  const span = Math.max(Math.ceil((last - points.at(-1) + LOWER_SPARE) * SPARE), Math.floor(tall / pitch));
  const high = Math.min(ceiling - 1, last + Math.ceil(span * LOWER_ABOVE));
  const low = Math.max(Math.min(start, points.at(-1)), high - span);
  const top = Math.max(high, Math.min(ceiling - 1, low + span));
  return { low, high: Math.max(top, low + 1), pitch: tall / Math.max(1, top - low), tall };
}

// -> y of the lower edge of an offset's record, 0 at the bottom of the strips; clipped to the window. What a break
// leaves out is within it.
export function rise(view, offset) {
  let before = null;
  for (const part of view.parts) {
    if (offset < part.low) return before ? part.bottom - BREAK * (part.low - offset) / (part.low - before.high) : 0;
    if (offset <= part.high) return part.bottom + (offset - part.low) * part.pitch;
    before = part;
  }
  return view.height;
}

// -> [{from, to: the offsets between which records are left out, low, high: px}]
export const breaksOf = (view) =>
  view.parts
    .slice(1)
    .map((part, place) => ({
      from: view.parts[place].high, to: part.low, low: part.bottom - BREAK, high: part.bottom,
    }));
