// A lesson frame by frame: at which of its captions a moment is, where it pauses next, and where the one before
// paused. No rule of a model is here.

export const NEAR_US = 100_000;                        // an order in a paused lab lets some milliseconds pass

export const isInFrames = (view) => (view.lesson?.captions.length ?? 0) > 0;

// Where the lesson pauses in turn: each of its frames, and its end. { at_us, speed, number, frame }: number from 1, of
// the last frame at the end, whose frame is null.
export function stopsOf({ captions, end_speed: speed, lasts_us: atUs }) {
  const stops = captions.map((frame, place) => (
    { at_us: frame.stop_us, speed: frame.speed, number: place + 1, frame }
  ));
  const isOwn = captions.at(-1).stop_us < atUs;
  return isOwn ? [...stops, { at_us: atUs, speed, number: captions.length, frame: null }] : stops;
}

// { number, at: the stop that this moment is at or else null, before, next }: the stop before and the next one, null
// where there is none; number: of the last frame that has been reached, 0 before the first.
export function placeOf({ at_us: atUs, lesson }) {
  const stops = stopsOf(lesson), reached = stops.filter((stop) => stop.at_us <= atUs), last = reached.at(-1) ?? null;
  const at = last && atUs - last.at_us < NEAR_US ? last : null;
  return {
    number: last?.number ?? 0, at, before: (at ? reached.at(-2) : last) ?? null, next: stops[reached.length] ?? null,
  };
}

// Whether the page shows a way to a stop: what the caption says is of the stop before.
export const isOnWay = (view) => view.playing && view.stop_us !== null && view.stop_us !== undefined;

// The frame whose pointer stands: the one that the lesson pauses at.
export const frameShown = (view) =>
  (isInFrames(view) && !view.playing && view.lesson.meddled_us === null ? placeOf(view).at?.frame : null) ?? null;

// Where a stop is seen: { page, lane }; lane: null where the lesson names none.
export function whereOf({ frame }, { page, front, captions }) {
  const shown = frame ?? captions.at(-1);
  return { page: shown.page ?? page, lane: shown.lane ?? front };
}
