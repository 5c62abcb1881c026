// Tells when the lab's Kafka lane has written more, or its group has committed: by the lab's own feed. The folder
// itself is asked for by the listeners, at most once a second.

import { createFreshness } from "../feed/freshness.js";
import { createLive } from "../feed/live.js";
import { applyPatch } from "../feed/patch.js";
import { openSocket } from "../feed/socket.js";

const APART_MS = 1000;

// onGrown(): the lane has moved on. onFresh({state, ms}). onFull(): there was no room for one more socket. gone: tells
// of a lab that is deleted. partition(): which one is looked at.
export function watchLab({ url, lane, partition, onGrown, onFresh, onFull, gone }) {
  const freshness = createFreshness();
  let socket = null, view = null, mark = "", last = -Infinity, timer = 0;

  function due() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = performance.now();
      onGrown();
    }, Math.max(0, last + APART_MS - performance.now()));
  }

  const receive = createLive({
    applyPatch,
    requestSnapshot: (unanswered) => socket.askSnapshot(unanswered),
    acknowledge: (seq) => socket?.acknowledge(seq),
    onChange(newView) {
      view = newView;
      gone.frame();
      freshness.frame(view.at_us, view.speed, view.playing);
      const part = view.lanes[lane]?.picture?.partitions?.[partition()];
      const now = part ? `${part.end}/${part.committed}` : "";
      if (now !== mark && mark) due();
      mark = now;
      tell();
    },
  });

  function tell() {
    onFresh(view?.feed?.failed ? { state: "stopped", ms: null } : freshness.state(view?.playing ?? true, 0));
  }

  socket = openSocket(url, {
    onMessage(message) {
      try {
        receive(message);
      } catch (error) {
        console.warn("frame refused, asking for a snapshot", error);
        socket.askSnapshot(() => {});
      }
    },
    onState(state) {
      if (state === "open") freshness.opened();
      else freshness.closed();
      if (state === "full") onFull();
      gone.state(state);
      tell();
    },
  });
  setInterval(tell, APART_MS);
}
