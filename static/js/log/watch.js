// The lab whose log is looked at: its bar of time, and word when its Kafka lane has written more, its group has
// committed, or another moment is shown. The folder itself is asked for by the listeners: at most once a second, of the
// past somewhat more often.

import { page, onLanguage } from "../base/chrome.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createFeed } from "../lane/feed.js";
import { createOrders } from "../lane/orders.js";
import { createPast } from "../lane/past.js";
import { createWhy } from "../why/why.js";

const APART_MS = 1000, PAST_APART_MS = 300;

// onGrown(): the lane has moved on. onTables(): tables have come, or gone. partition(): which one is looked at,
// replica(): the same as { topic, broker }, broker null where it is the leader's.
export function createWatch({ lane, partition, replica, onGrown, onTables, notice }) {
  const past = createPast();
  let view = JSON.parse(document.getElementById("view").textContent), mark = markOf(), last = -Infinity, timer = 0;

  const moment = () => (past.isShown() ? { ...past.moment(), look: past.look } : {});

  function markOf() {
    if (past.isShown()) return JSON.stringify(moment());
    const part = view.lanes[lane]?.picture?.partitions?.[partition()];
    return part ? `${part.end}/${part.committed}` : "";
  }

  function due() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = performance.now();
      onGrown();
    }, Math.max(0, last + (past.isShown() ? PAST_APART_MS : APART_MS) - performance.now()));
  }

  // The folder that is shown is a copy of a partition; of the topic that records who has read what, only the lane.
  function chosen() {
    const { topic, broker } = replica(), name = `${topic}-${partition()}`;
    if (topic !== view.lanes[lane]?.picture?.topic) return { lane, thing: `lane:${lane}` };
    return { lane, thing: broker === null ? `replicas:${name}` : `replica:${name}/${broker}` };
  }

  const why = createWhy({ current: () => view, past, chosen, thingAt: () => null });
  const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
  const frame = createFrame({ send: orders.command, current: () => view, redraw: onTables, notice, lane, past });
  const feed = createFeed({
    freshness: createFreshness(), notice, past, near: document.getElementById("play"), current: () => view,
    take(newView) {
      view = newView;
      const now = markOf();
      if (now !== mark && mark) due();
      mark = now;
      frame.draw(false);
      why.write();
      feed.tell();
    },
  });
  onLanguage(() => frame.draw(true));
  frame.draw(true);
  return { open: feed.open, moment };
}
