// The bar of time below every page of a lab: run and pause, a step on and back, speed, the clock, what was done when
// and the way to any moment of it, tables in place of pictures, the lab's branches, which state this is, and a link to
// what the page shows.

import { page, say, speak } from "../base/chrome.js";
import { copyLink } from "../base/copy_link.js";
import { setAttribute, setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { ask } from "../base/requests.js";
import { createRoving } from "../base/roving.js";
import { clock, number } from "../base/say.js";
import { createBranches } from "./branches.js";
import { momentHash } from "./moment_link.js";
import { createState } from "./state.js";
import { createSystemMarks } from "./system_marks.js";
import { createPace } from "./pace.js";
import * as marks from "./timeline.js";

const $ = (id) => document.getElementById(id);
const TIMELINE_EVERY_MS = 500, TIMELINE_LEAST = 40, SLOW = 0.1;

// send(near, order): gives the worker an order. current(): the view. redraw(): tables have come, or gone.
// draw(isForced): what the bar shows of the view. step(): one record on. hash(): of the state on the page, "" unknown.
// past: the look at what was. rename(): opens the lab's name. link: what else a link to the page says, {read(): texts
// by name, show(texts)}. guide: of a lesson, whose frames then are what the line shows.
// onEvents(events, isWhole): of the feed, also while the past is shown.
export function createTransport({
  send, current, redraw, notice, past, rename, link, guide = null, onEvents = () => {},
}) {
  const timeline = guide?.line ?? marks;
  const aroundMarks = createRoving($("timeline"), '[role="button"]', ["Enter"]);   // Space plays and pauses
  let timelineKey = "", timelineAt = -Infinity, width = 0, isDragged = false, letGo = null;

  const branches = createBranches({
    root: $("branches"), starts: $("starts"), past, current, rename, changed: () => drawTimeline(current(), true),
  });
  const system = createSystemMarks({
    rules: page.marks, ask: () => ask(page.urls.marks), changed: () => drawTimeline(current(), true),
  });
  const state = createState({ past, current, changed: () => draw(false) });

  const tables = () => toggleTables(redraw);
  const play = () => {
    if (past.isLooking() || page.player) past.toggle();
    else send($("play"), { kind: current().playing ? "pause_lab" : "play", lane: "all" });
  };
  const step = () => {
    if (past.isLooking() || page.player) go(1);
    else if (!current().playing) send($("step"), { kind: "step", lane: "all" });
  };
  const go = (by) => past.step($("step-by").value, by);
  const change = (by) => past.step("change", by);
  const pace = createPace({ current });
  const setPace = (near, speed, atChanges) => {
    pace.ask(speed, atChanges);
    if (past.isLooking()) return past.setSpeed(speed, atChanges);
    const args = atChanges ? { speed, at_changes: atChanges } : { speed };
    send(near, { kind: "speed", lane: "all", args });
  };
  const slow = () => setPace($("slow"), pace.chosen().speed, pace.chosen().atChanges ? null : SLOW);
  const back = () => past.isLooking() && (past.back(), true);

  // A press on the line shows that moment, a drag all on its way, a pixel apart, and where it is let go; a press on a
  // mark the moment after it.
  function drag(event) {
    if (event.type === "pointerdown") {
      if (event.button !== 0) return;
      isDragged = true;
      $("timeline").setPointerCapture(event.pointerId);
    } else if (!isDragged) return;
    const { left } = $("timeline").getBoundingClientRect(), mark = event.target.closest("[data-part]");
    if (event.type === "pointerdown" && mark) return press(mark);
    const at = (x) => timeline.timeAt(past.now(), { width, x });
    const x = event.clientX - left, atUs = at(x), isMoving = event.type === "pointermove";
    const every = Math.max(1, at(timeline.LEFT + 1) - at(timeline.LEFT));
    letGo = isMoving && atUs < past.now().at_us ? { at_us: atUs } : null;
    if (atUs >= past.now().at_us) back();
    else past.seek({ at_us: atUs, ...(isMoving && { every_us: every }) });
  }

  function drop() {
    if (letGo) past.seek(letGo);
    [isDragged, letGo] = [false, null];
  }

  function press({ dataset: { part } }) {
    if (part.startsWith(marks.AT)) return past.seek({ at_us: Number(part.slice(marks.AT.length)) });
    if (guide) return guide.goTo(Number(part));
    past.seek({ at_us: past.now().timeline[part].at_us, position: part });
  }

  // On a phone, one button holds the rare controls.
  function toggleRare() {
    const isOpen = $("rare").closest("footer").toggleAttribute("data-open");
    $("rare").setAttribute("aria-expanded", String(isOpen));
  }

  async function share() {
    const moment = momentHash(await state.place(), shown());
    const { pathname, search, href } = location;
    const own = pathname === "/" ? page.urls.lab.replace("{id}", page.lab) : pathname + search;
    const address = new URL(own + moment, href).href;
    await copyLink(address, { near: $("share"), notice, say, done: "moment.copied" });
  }

  const shown = () => ({ ...link.read(), tables: document.body.hasAttribute("data-twins") ? "1" : "" });

  function draw(isForced) {
    const view = current();
    speakOnce($("play"), view.playing ? "pause" : "play");
    setAttribute($("play-icon"), "href", view.playing ? "#v-pause" : "#v-play");
    $("step").disabled = view.playing && !past.isLooking();
    document.body.toggleAttribute("data-past", past.isLooking());
    setText($("behind"), past.isShown() ? say("past.behind", { span: clock(past.now().at_us - view.at_us) }) : "");
    const { position, hash } = state.now();
    setText($("position"), `#${number(view.record_count)}${position === null ? "" : ` / ${position}`}`);
    setText($("state-hash"), hash);
    for (const button of document.querySelectorAll("[data-speed]")) {
      setAttribute(button, "aria-pressed", String(Number(button.dataset.speed) === (view.own_speed ?? view.speed)));
    }
    setAttribute($("slow"), "aria-pressed", String(Boolean(view.at_changes)));
    const said = pace.isSlow(view) ? "slow_motion.now" : "slow_motion", words = $("slow").firstElementChild;
    if (words.dataset.say !== said) speak(words, said);
    setText($("clock"), clock(view.at_us));
    branches.draw();
    drawTimeline(view, isForced);
  }

  // Its marks drift by a pixel in many frames: twice a second will do, but a new command shows at once.
  function drawTimeline(shown, isForced) {
    const drawn = { branches: branches.lines(), system: system.all(), language: page.language };
    const view = past.now() ?? shown, shownUs = past.isShown() ? shown.at_us : null;
    const place = guide && !shown.playing ? shown.at_us : null;
    const key = `${Object.keys(view.timeline).length}/${view.caption.code}/${page.language}/${shownUs}/${place}`;
    const now = performance.now();
    if (!isForced && key === timelineKey && now - timelineAt < TIMELINE_EVERY_MS) return;
    [timelineKey, timelineAt] = [key, now];
    width ||= $("timeline").getBoundingClientRect().width;
    if (width > TIMELINE_LEAST) aroundMarks(() => {
      timeline.render($("timeline"), view, { width, say, shownUs, ...drawn });
    });
  }

  // What is wide enough changes without the window, too: a bar that opens, a font that comes late.
  new ResizeObserver(() => {
    width = 0;
    drawTimeline(current(), true);
  }).observe($("timeline"));

  $("play").addEventListener("click", play);
  $("step").addEventListener("click", step);
  $("step-back").addEventListener("click", () => go(-1));
  $("to-now").addEventListener("click", back);
  for (const kind of ["pointerdown", "pointermove"]) $("timeline").addEventListener(kind, drag);
  for (const kind of ["pointerup", "pointercancel"]) {
    $("timeline").addEventListener(kind, drop);
  }
  $("timeline").addEventListener("keydown", (event) => {
    const mark = event.key === "Enter" && event.target.closest("[data-part]");
    if (mark) press(mark);
  });
  past.attach({
    changed: () => draw(false),
    heard(events, isWhole) {
      system.hear(events, isWhole);
      onEvents(events, isWhole);
    },
    fail({ message, status }) {
      notice(message || say("notice.failed", { status: status ?? 0 }), { near: $("timeline") });
    },
  });
  $("twins")?.addEventListener("click", tables);
  $("rare").addEventListener("click", toggleRare);
  $("share").addEventListener("click", share);
  document.querySelector(".sp").addEventListener("click", (event) => {
    const { speed } = event.target.closest("button")?.dataset ?? {};
    if (speed) setPace(event.target, Number(speed), pace.chosen().atChanges);
  });
  $("slow").addEventListener("click", slow);
  const ofChanges = [
    { keys: ["pageup"], says: "keys.change_back", act: () => change(-1) },
    { keys: ["pagedown"], says: "keys.change_on", act: () => change(1) },
  ];
  bindKeys([
    { keys: [" "], says: "keys.play", act: play },
    { keys: ["."], says: "keys.step", act: step },
    ...(guide?.bindings ?? []),
    // L is also a consumer's Leave, which belongs to now.
    { keys: [","], says: "keys.back", act: () => go(-1) },
    { keys: [">"], says: "keys.ten_on", act: () => go(10) },
    { keys: ["<"], says: "keys.ten_back", act: () => go(-10) },
    ...(guide ? [] : ofChanges),
    { keys: ["l"], says: "keys.now", act: back },
    { keys: ["-"], says: "keys.slow_motion", act: slow },
    ...($("twins") ? [{ keys: ["t"], says: "keys.tables", act: tables }] : []),
    ...branches.bindings(),
  ], "time");
  past.onOpened((found) => {
    if (found.tables && $("twins") && !document.body.hasAttribute("data-twins")) tables();
    link.show(found);
  });
  system.load();
  return { draw, step, reload: branches.load, hash: () => state.now().hash };
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
