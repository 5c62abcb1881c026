// What the pages of one lane share of their feed: frames as they come, the pill that says how fresh they are, and what
// the worker has refused.

import { page, say, speak } from "../base/chrome.js";
import { createGone } from "../feed/gone.js";
import { createLive } from "../feed/live.js";
import { applyPatch } from "../feed/patch.js";
import { refusalIn } from "../feed/refusal.js";
import { openSocket } from "../feed/socket.js";

const $ = (id) => document.getElementById(id);

// take(view, seq, events): a newer view is here. current(): the one that is shown. near: where a refusal stands.
// hear(event): of each event first; whether it is a refusal that stands at its form. past: what else may be shown.
export function createFeed({ freshness, notice, near, current, take, past, hear = () => false }) {
  const gone = createGone(notice);
  let socket = null;
  past.attach({ take });
  past.hear(current(), page.seq);
  const receive = createLive({
    applyPatch,
    start: { epoch: page.epoch, seq: page.seq, view: current() },
    requestSnapshot: (unanswered) => socket.askSnapshot(unanswered),
    acknowledge: (seq) => socket?.acknowledge(seq),
    onChange(view, seq, events, isWhole, epoch) {
      freshness.frame(view.at_us, view.speed, view.playing, epoch);
      const reason = refusalIn(events.filter((event) => !hear(event)), page.language);
      if (reason !== null) notice(say("notice.refused", { reason }), { near });
      gone.frame();
      if (past.hear(view, seq, events, isWhole)) take(view, seq, events);
    },
  });
  function tell() {
    const view = past.now() ?? current(), pill = $("fresh");
    const { state, ms } = view.feed?.failed ? { state: "stopped", ms: null } : freshness.state(view.playing, 0);
    if (pill.dataset.state !== state) {
      pill.dataset.state = state;
      speak($("fresh-word"), `fresh.${state}`);
    }
    const words = ms === null ? "" : `${ms}\u202fms`;
    if ($("fresh-ms").textContent !== words) $("fresh-ms").textContent = words;
  }
  function open() {
    socket = openSocket(page.urls.socket, {
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
        if (state === "full") notice(say("notice.full"), { near: $("fresh") });
        gone.state(state);
        tell();
      },
    });
    setInterval(tell, 1000);
  }
  return { tell, open };
}
