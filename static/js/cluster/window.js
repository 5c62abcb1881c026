// Which offsets of a partition the picture shows, and where each is: the newest records of all copies, on one scale, offsets upward.

const LEAST = 12, PITCH_MOST = 22, PITCH_LEAST = 3.5, TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

// copies: the partition's copies by broker. height: of the strips in px. before: the window of the last frame; it moves only when it must,
// for a picture that slides with each record cannot be read.
export function windowOf(copies, height, before = null) {
  const all = Object.values(copies);
  const end = Math.max(0, ...all.map((copy) => copy.end)), start = Math.min(...all.map((copy) => copy.start), end);
  const low = Math.min(...all.map((copy) => Math.min(copy.high_watermark, copy.end)), end);
  const most = Math.max(LEAST, Math.floor(height / PITCH_LEAST));
  const fits = before && before.height === height && end <= before.high && low >= before.low && start >= before.start - 1;
  if (fits) return before;
  const room = Math.max(LEAST, Math.ceil((end - low) * 1.5));
  const span = Math.min(most, Math.max(room, Math.floor(height / PITCH_MOST)));
  const from = Math.max(start, end - Math.ceil(span * 0.7));
  return { low: from, high: from + span, start, height, pitch: height / span };
}

// -> y of the lower edge of an offset's record, 0 at the bottom of the strips; clipped to the window.
export const rise = (view, offset) => (Math.min(Math.max(offset, view.low), view.high) - view.low) * view.pitch;

// Offsets that get a number at the axis.
export function ticks(view) {
  const every = TICKS.find((step) => step * view.pitch >= 28) ?? TICKS.at(-1), first = Math.ceil(view.low / every) * every, found = [];
  for (let offset = first; offset <= view.high; offset += every) found.push(offset);
  return found;
}
