// The bar of time below every page of a lab: run and pause, one step, speed, the clock, what was done when, tables in
// place of pictures, and a link to the moment that is shown.

import { page, say, speak } from "../base/chrome.js";
import { setAttribute, setText } from "../base/dom.js";
import { createRoving } from "../base/roving.js";
import { clock } from "../base/say.js";
import { momentLink } from "./moment_link.js";
import * as timeline from "./timeline.js";

const $ = (id) => document.getElementById(id);
const TIMELINE_EVERY_MS = 500, TIMELINE_LEAST = 40;

// send(near, order): gives the worker an order. current(): the view. redraw(): tables have come, or gone.
// keys: what the keys do here; a page adds its own. draw(isForced): what the bar shows of the view.
export function createTransport({ send, current, redraw, notice }) {
  const aroundMarks = createRoving($("timeline"), '[role="button"]', ["Enter"]);   // Space plays and pauses
  let timelineKey = "", timelineAt = -Infinity, width = 0;

  const tables = () => toggleTables(redraw);
  const play = () => send($("play"), { kind: current().playing ? "pause_lab" : "play", lane: "all" });
  const step = () => (current().playing ? undefined : send($("step"), { kind: "step", lane: "all" }));

  // On a phone, one button holds the rare controls.
  function toggleRare() {
    const isOpen = $("rare").closest("footer").toggleAttribute("data-open");
    $("rare").setAttribute("aria-expanded", String(isOpen));
  }

  async function share() {
    const link = momentLink(current(), new URL(`/lab/${page.lab}/`, location.href).href);
    try {
      await navigator.clipboard.writeText(link);
      notice(say("moment.copied"), { near: $("share"), kind: "done" });
    } catch {
      // no clipboard without https, or not allowed
      notice(say("notice.copy_by_hand", { link }), { near: $("share"), kind: "done" });
    }
  }

  function draw(isForced) {
    const view = current();
    speakOnce($("play"), view.playing ? "pause" : "play");
    setAttribute($("play-icon"), "href", view.playing ? "#v-pause" : "#v-play");
    $("step").disabled = view.playing;
    for (const button of document.querySelectorAll("[data-speed]")) {
      setAttribute(button, "aria-pressed", String(Number(button.dataset.speed) === view.speed));
    }
    setText($("clock"), clock(view.at_us));
    drawTimeline(view, isForced);
  }

  // Its marks drift by a pixel in many frames: twice a second will do, but a new command shows at once.
  function drawTimeline(view, isForced) {
    const key = `${Object.keys(view.timeline).length}/${view.caption.code}/${page.language}`, now = performance.now();
    if (!isForced && key === timelineKey && now - timelineAt < TIMELINE_EVERY_MS) return;
    [timelineKey, timelineAt] = [key, now];
    width ||= $("timeline").getBoundingClientRect().width;
    if (width > TIMELINE_LEAST) aroundMarks(() => timeline.render($("timeline"), view, { width, say }));
  }

  // What is wide enough changes without the window, too: a bar that opens, a font that comes late.
  new ResizeObserver(() => {
    width = 0;
    drawTimeline(current(), true);
  }).observe($("timeline"));

  $("play").addEventListener("click", play);
  $("step").addEventListener("click", step);
  $("twins").addEventListener("click", tables);
  $("rare").addEventListener("click", toggleRare);
  $("share").addEventListener("click", share);
  document.querySelector(".sp").addEventListener("click", (event) => {
    const { speed } = event.target.closest("button")?.dataset ?? {};
    if (speed) send(event.target, { kind: "speed", lane: "all", args: { speed: Number(speed) } });
  });
  return { keys: { " ": play, ".": step, t: tables }, draw };
}

// Also on a page without the bar: an opened log's.
export function toggleTables(redraw) {
  const isOn = document.body.toggleAttribute("data-twins");
  $("twins")?.setAttribute("aria-pressed", String(isOn));
  // what scrolls is reached by the keyboard
  for (const box of document.querySelectorAll(".twin-box")) box.tabIndex = isOn ? 0 : -1;
  redraw();
}

function speakOnce(button, code) {
  if (button.dataset.sayLabel !== code) speak(button, code, "sayLabel");
}
