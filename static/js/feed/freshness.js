// How old the picture is. The server's virtual clock against ours: the quickest frame of the last minute is taken for
// the way itself, and the lag is how much later than that a frame comes. Another worker (a newer epoch) goes on from
// where the last one ended: the time in which nobody had the lab is gone, its frames are not late.

const WINDOW = 600, BEHIND_MS = 1000, SILENT_MS = 3000;

export function createFreshness(now = () => performance.now()) {
  let offsets = [], arrived = 0, delay = 0, isOpen = false, speed = 1, epoch = 0, hasFrame = false;
  return {
    opened() { isOpen = true; offsets = []; },
    closed() { isOpen = false; },
    frame(atUs, newSpeed, isPlaying, newEpoch = 0) {
      arrived = now();
      hasFrame = true;
      if (newSpeed !== speed || newEpoch !== epoch || !isPlaying) offsets = [];
      [speed, epoch] = [newSpeed, newEpoch];
      if (!isPlaying) return;
      const offset = arrived - atUs / 1000 / speed;
      offsets.push(offset);
      if (offsets.length > WINDOW) offsets.shift();
      delay = offset - Math.min(...offsets);
    },
    // The state's word and the milliseconds that go with it, null where none do.
    state(isPlaying, drawMs) {
      if (!isOpen) return { state: hasFrame ? "disconnected" : "connecting", ms: null };
      if (!isPlaying) return { state: "paused", ms: null };
      const ms = Math.round(delay + drawMs), silent = now() - arrived;
      if (silent > SILENT_MS) return { state: "behind", ms: Math.round(silent) };
      return { state: ms > BEHIND_MS ? "behind" : "live", ms };
    },
  };
}
