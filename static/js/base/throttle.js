// What costs much to draw is drawn at most once in so many milliseconds, and what came last always: in a paused lab
// nothing comes after it.

// -> due(draw, {everyMs, isForced}): draws now, or as soon as it may; a later call takes the place of one that waits.
export function createThrottle(now = () => performance.now()) {
  let drawnAt = -Infinity, waiting = 0;
  return function due(draw, { everyMs, isForced = false }) {
    clearTimeout(waiting);
    const rest = drawnAt + everyMs - now();
    if (isForced || rest <= 0) {
      drawnAt = now();
      draw();
    } else waiting = setTimeout(due, rest, draw, { everyMs, isForced: true });
  };
}
