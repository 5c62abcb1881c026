// The lab whose log is looked at: its bar of time, and word when its Kafka lane has written more or its group has
// committed. The folder itself is asked for by the listeners, at most once a second.

import { page, onLanguage } from "../base/chrome.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createFeed } from "../lane/feed.js";
import { createOrders } from "../lane/orders.js";
import { createPast } from "../lane/past.js";

const APART_MS = 1000;

// onGrown(): the lane has moved on. onTables(): tables have come, or gone. partition(): which one is looked at.
export function createWatch({ lane, partition, onGrown, onTables, notice }) {
  const past = createPast({ canLook: false });   // the folder is the broker's of now
  let view = JSON.parse(document.getElementById("view").textContent), mark = markOf(), last = -Infinity, timer = 0;

  function markOf() {
    const part = view.lanes[lane]?.picture?.partitions?.[partition()];
    return part ? `${part.end}/${part.committed}` : "";
  }

  function due() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = performance.now();
      onGrown();
    }, Math.max(0, last + APART_MS - performance.now()));
  }

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
      feed.tell();
    },
  });
  onLanguage(() => frame.draw(true));
  frame.draw(true);
  return { open: feed.open };
}
