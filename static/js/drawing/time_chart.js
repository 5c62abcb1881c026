// A chart of Plotly's over virtual time: drawn at most once a second while it is on screen, and when it comes there, as
// a paused lab sends no frame that would draw it. One that is drawn takes on another theme or language at once, also
// where it is not on screen.

import { createThrottle } from "../base/throttle.js";
import { hasRoom, loadPlotly } from "./plotly.js";

const EVERY_MS = 1000, NARROW = 520;

// -> refresh(make, {key, isForced}). make(isNarrow): -> {traces, layout}, or null where there is nothing to draw yet,
// and then nothing is shown; key: of what it is, and another one is drawn at once.
export function createTimeChart(root, source) {
  const due = createThrottle();
  let isSeen = false, isDrawn = false, shown = null, latest = null, turn = 0;
  new IntersectionObserver((entries) => {
    const wasSeen = isSeen;
    isSeen = entries.at(-1).isIntersecting;
    if (isSeen && !wasSeen && latest) refresh(...latest);
  }, { rootMargin: "200px 0px" }).observe(root);
  function refresh(make, { key = "", isForced = false } = {}) {
    latest = [make, { key, isForced: true }];
    if (!isSeen && !(isDrawn && isForced)) return;
    due(() => drawChart(make), { everyMs: EVERY_MS, isForced: isForced || key !== shown });
    shown = key;
  }
  async function drawChart(make) {
    const drawing = make(root.clientWidth < NARROW), own = (turn += 1);
    if (!drawing && !isDrawn) return;
    isDrawn = drawing !== null;
    const plotly = await loadPlotly(source).catch(() => null);
    // Plotly may take long to come: what was asked for since then is drawn instead.
    if (!plotly || own !== turn || (drawing && !hasRoom(root))) return;
    if (drawing) await plotly.react(root, drawing.traces, drawing.layout, { displayModeBar: false, responsive: true });
    else plotly.purge(root);
  }
  return refresh;
}

// x: the samples' seconds. -> whole tens or half minutes among them, so few that none touches the next.
export function timesOf(x, isNarrow) {
  const [first, last] = [x[0] ?? 0, x.at(-1) ?? 0], step = last - first > (isNarrow ? 45 : 90) ? 30 : 10;
  const from = Math.ceil(first / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((last - from) / step) + 1) }, (_, place) => from + place * step);
}

export const minutes = (at) => `${Math.floor(at / 60)}:${String(at % 60).padStart(2, "0")}`;
