// The Stage: takes frames from live.js, draws at most once per animation frame, and turns what a person does into
// commands.

import { onLanguage, page, say, speak, words } from "../base/chrome.js";
import { submit } from "../base/commands.js";
import { fillCells, textOnce } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { figure } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { createFreshness } from "../feed/freshness.js";
import { createGone } from "../feed/gone.js";
import { createLive } from "../feed/live.js";
import { applyPatch } from "../feed/patch.js";
import { refusalIn } from "../feed/refusal.js";
import { openSocket } from "../feed/socket.js";
import { createNaming } from "../lane/fold.js";
import { laneName } from "../lane/name.js";
import { createPast } from "../lane/past.js";
import { PICTURES } from "../lane/pictures/all.js";
import { SHORT, TALL, WIDTH } from "../lane/pictures/size.js";
import { createRoster } from "../lane/roster.js";
import { createLesson } from "../lesson/panel.js";
import { figureAt, placeIn, rowAt, shapeAt } from "../why/at.js";
import { createWhy } from "../why/why.js";
import { createAnnouncer } from "./announce.js";
import { standBeside } from "./beside.js";
import { createControls, isStopped } from "./controls.js";
import { createDemo } from "./demo.js";
import { createFidelity } from "./fidelity.js";
import { createLane } from "./lanes.js";
import { createPassport } from "./passport.js";
import { present, routes } from "./present.js";
import { createScope } from "./scope.js";
import { visited } from "./visit.js";
import { createWho } from "./who.js";
import { createSkewChart } from "./visuals/skew_chart.js";
import * as stream from "./visuals/stream.js";

await visited;

const REST_MS = 250;
const LOW = matchMedia("(max-height: 800px) and (min-width: 641px)");   // as in stage.css
const $ = (id) => document.getElementById(id);
const past = createPast();
const main = $("main"), freshness = createFreshness();
const slots = [...document.querySelectorAll("[data-slot]")].filter((element) => !element.closest("[data-lane]"))
  .map((element) => [element.dataset.slot, textOnce(element)]);
const lanes = [...document.querySelectorAll("[data-lane]")].map((root) => ({
  id: root.dataset.lane, root, ...createLane(root, $("row")), tellFidelity: createFidelity(root),
  picture: root.querySelector("[data-picture]"), kind: null,
  seq: -1, twinAt: -Infinity,
}));
const laneOf = new Map(lanes.map((lane) => [lane.id, lane]));
const tabs = new Map([...document.querySelectorAll("[data-tab]")].map((tab) => [tab.dataset.tab, tab]));
const tabTexts = new Map([...tabs].map(([id, tab]) => [id, textOnce(tab.querySelector("b"))]));
const skewChart = createSkewChart($("skew"), page.urls.plotly, () => redraw());
const scope = createScope(document, () => redraw());
const why = createWhy({
  current: () => view, past, thingAt, chosen: () => wholeOf(document.querySelector(".lane[data-open]")),
  place: (panel, id) => standBeside(panel, laneOf.get(id).root), onLight: () => redraw(),
});
const lesson = $("lesson") && createLesson($("lesson"));
const passport = createPassport({ current: () => view, past });
const who = createWho(lanes, { current: () => view, past, follow: (key) => passport.open({ key }) });
bindKeys([{ keys: ["f"], says: "way.open", act: () => passport.open({}) }]);
const announce = createAnnouncer((text) => { $("announce").textContent = text; }, say);
const naming = createNaming(), selected = new Map();    // by lane
const selectedOf = (id) => selected.get(id) ?? null, roster = createRoster($("roster"), {
  current: () => view, selectedOf,
  onSelect(id, name) {
    selected.set(id, name);
    redraw();
  },
});
const whole = new Set();                                // lanes whose tables have all rows
const namedOf = (id) => naming(id, view, selectedOf(id));

let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false, isForced = true, sizes = null;
let drawMs = 0;
let socket = null, changeKey = "", isSecondHalf = false, isTurn = false, restTimer = 0;

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(drawFrame);
}

function measure() {
  sizes = {
    stream: $("stream").getBoundingClientRect().width, narrow: innerWidth <= 640,
    height: LOW.matches ? SHORT : TALL,
  };
  for (const { picture } of lanes) picture.setAttribute("viewBox", `0 0 ${WIDTH} ${sizes.height}`);
}

// A forced frame is drawn whole, another one in two halves, an animation frame apart, so that neither holds the page
// up. A message that comes in between waits for the second half (`onMessage`), and the way of the record is written in
// all lanes at once: they show the same record.
function drawFrame() {
  if (!isDirty) return;
  isDirty = false;
  if (!sizes) measure();
  const begun = performance.now(), half = Math.ceil(view.lane_order.length / 2);
  if (isForced) {
    drawPart(view.lane_order, begun, true);
    isSecondHalf = false;
  } else {
    drawPart(isSecondHalf ? view.lane_order.slice(half) : view.lane_order.slice(0, half), begun, !isSecondHalf);
    isSecondHalf = !isSecondHalf;
    if (isSecondHalf) schedule();
  }
  main.dataset.seq = Math.min(...lanes.map((lane) => lane.seq));
  isForced = false;
  drawMs = performance.now() - begun;
}

function showRows(id) {
  if (!whole.delete(id)) whole.add(id);
  redraw();
}

// The lanes `ids`, and with them, when `withHead`, what is above and below the lanes.
function drawPart(ids, now, withHead) {
  const named = Object.fromEntries(ids.map((id) => [id, namedOf(id).rows]));
  const withTwins = isForced || ids.some((id) => now - laneOf.get(id).twinAt > 1000);
  const shown = present(view, words(), { named, withTwins, only: ids, scope: scope.scope(), whole });
  for (const texts of shown.lanes) drawLane(laneOf.get(texts.id), texts, now);
  if (!withHead) return;
  for (const texts of routes(view, words())) {
    if (!ids.includes(texts.id)) laneOf.get(texts.id).writeRoute({ ...texts, route_paint: paint(texts.route_color) });
  }
  for (const [name, set] of slots) set(shown.slots[name]);
  lesson?.write(shown.lesson);
  if (sizes.stream > 40) stream.render($("stream"), view, { width: sizes.stream, say });
  why.write();
  who.write();
  roster.write();
  controls.frame.draw(isForced);
  controls.writeClients();
  drawChart(withTwins);
  showFreshness();
}

function drawLane(lane, texts, now) {
  texts.route_paint = paint(texts.route_color);
  tabTexts.get(lane.id)?.(texts.slots.tab_figure);
  lane.write(texts);
  lane.tellFidelity(texts.model, view.lanes[lane.id].algorithm);
  lane.seq = seq;
  if (texts.twin) lane.twinAt = now;
  const { bill, sentence } = view.lanes[lane.id];
  announce(lane.id, texts.slots.tab, texts.slots.sentence, `${sentence.code}/${bill?.position}/${bill?.settled}`);
  if (sizes.narrow && !lane.root.hasAttribute("data-open")) return;   // one lane at a time on a phone
  const shown = view.lanes[lane.id], { kind } = shown.picture, visual = PICTURES[kind];
  if (lane.kind !== kind) {
    speak(lane.picture, `picture.${kind}_label`, "sayLabel");
    lane.kind = kind;
  }
  lane.root.toggleAttribute("data-still", shown.order.length > 40 || view.speed > 4);
  visual.render(lane.picture, shown, {
    say, at: view.at_us, height: sizes.height, lit: why.litOf(lane.id), named: namedOf(lane.id).picture,
  });
  lane.picture.dataset.seq = seq;
}

function drawChart(withTable) {
  skewChart(view, seq, { say, isForced });
  if (withTable && $("skew-twin").closest("details").open) writeSkew();
}

function writeSkew() {
  const table = $("skew-twin"), recent = Object.keys(view.history).map(Number).sort((a, b) => b - a).slice(0, 60);
  const rows = [
    [say("chart.time"), ...view.lane_order.map((id) => laneName(id, view, say))],
    ...recent.map((second) => [
      `${Math.floor(second / 60)}:${String(second % 60).padStart(2, "0")}`,
      ...view.lane_order.map((id) => figure(view.history[second][id], 2)),
    ]),
  ];
  while (table.rows.length > rows.length) table.deleteRow(-1);
  rows.forEach((texts, index) => fillCells(table.rows[index] ?? table.insertRow(), texts, index ? "td" : "th"));
}

function showFreshness() {
  const { playing } = past.now() ?? view;   // of the lab, also while its past is shown
  const { state, ms } = isStopped(view) ? { state: "stopped", ms: null } : freshness.state(playing, drawMs);
  const pill = $("fresh");
  if (state === "stopped" && $("stopped").hidden) {
    $("stopped-reason").textContent = view.feed.failed;
    $("stopped").hidden = false;
  }
  if (pill.dataset.state !== state) {
    pill.dataset.state = state;
    speak($("fresh-word"), `fresh.${state}`);
  }
  const text = ms === null ? "" : `${ms}\u202fms`;
  if ($("fresh-ms").textContent !== text) $("fresh-ms").textContent = text;
}

// -- frames -----------------------------------------------------------------------------------------------------------

const receive = createLive({
  applyPatch,
  requestSnapshot: (unanswered) => socket.askSnapshot(unanswered),
  acknowledge: (seq) => socket?.acknowledge(seq),
  onChange(newView, newSeq, events, isWhole, epoch) {
    const reason = refusalIn(events, page.language);
    if (reason !== null) controls.notice(say("notice.refused", { reason }), { near: $("add") });
    freshness.frame(newView.at_us, newView.speed, newView.playing, epoch);
    if (past.hear(newView, newSeq, events, isWhole)) take(newView, newSeq);
  },
});

function take(newView, newSeq) {
  [view, seq] = [newView, newSeq];
  if (isChange() || !view.playing) redraw();
  else drawInTurn();
}

// Whether this frame carries the effect of a command or the end of a change, and not traffic alone.
function isChange() {
  const marks = view.lane_order.map((id) => [
    view.lanes[id].bill?.position, view.lanes[id].bill?.settled, view.lanes[id].sentence.code,
  ]);
  const key = [Object.keys(view.timeline).at(-1), view.caption.code, ...marks].join();
  const isNew = key !== changeKey;
  changeKey = key;
  return isNew;
}

// Of frames with traffic alone every other one is drawn, five a second: as fast as figures can be read. The last before
// a rest always is.
function drawInTurn() {
  clearTimeout(restTimer);
  restTimer = setTimeout(redraw, REST_MS);
  isTurn = !isTurn;
  if (isTurn) schedule();
}

// A frame that does not fit the view is a gap like any other: ask for the whole.
function onMessage(message) {
  gone.frame();
  if (isSecondHalf) drawFrame();   // a patch changes the view in place, and this half belongs to the view as it is
  try {
    receive(message);
  } catch (error) {
    console.warn("frame refused, asking for a snapshot", error);
    socket.askSnapshot(() => socket.askSnapshot(() => {}));
  }
}

function measureAgain() {
  sizes = null;
  redraw();
}

function redraw() {
  isForced = true;
  schedule();
}

past.attach({ take });
const controls = createControls({
  view: () => view, laneOf: scope.laneOf, redraw, past, thingAt,
  link: {
    read: () => ({ lane: document.querySelector(".lane[data-open]")?.dataset.lane }),
    show: ({ lane }) => laneOf.has(lane) && openLane(lane),
  },
});
const gone = createGone(controls.notice);
socket = openSocket(page.urls.socket, {
  onMessage,
  onState(state) {
    if (state === "open") freshness.opened();
    else freshness.closed();
    if (state === "full") controls.notice(say("notice.full"), { near: $("fresh") });
    gone.state(state);
    showFreshness();
  },
});
receive({ type: "snapshot", epoch: page.epoch, seq: page.seq, view });

// -- what the page itself does ----------------------------------------------------------------------------------------

// refused: it stays as it is
createDemo(page.demo, { view: () => view, submit: (order) => submit(page, order).catch(() => {}) });
// for tests, and for people who open the console
window.highwater = { view: () => view, page, drop: () => socket.drop() };
onLanguage(() => {
  $("announce").textContent = "";   // it was said in the other language, and is over
  redraw();
});
addEventListener("resize", measureAgain);
$("chart").addEventListener("take", writeSkew);
// What is wide enough changes without the window, too: a bar that opens, a font that comes late.
const watcher = new ResizeObserver(measureAgain);
watcher.observe($("stream"));
setInterval(showFreshness, 1000);

document.addEventListener("click", (event) => {
  const more = event.target.closest("[data-more]"), tab = event.target.closest("[data-tab]");
  const all = event.target.closest("[data-all-rows]");
  if (more) roster.show(more.dataset.more);
  if (all) showRows(all.dataset.allRows);
  if (tab) {
    event.preventDefault();
    openLane(tab.dataset.tab);
  }
});

// What a press or the focus is on.
function thingAt(target, event) {
  const root = target.closest("[data-lane]"), lane = root?.dataset.lane, picture = target.closest("[data-picture]");
  if (!lane) return null;
  if (!picture) {
    const thing = figureAt(target) ?? rowAt(target) ?? (event ? null : `lane:${lane}`);
    return thing && { lane, thing };
  }
  return { lane, thing: shapeAt(target, view.lanes[lane], placeIn(picture, event)) ?? `lane:${lane}` };
}

function wholeOf(root) {
  const lane = root?.dataset.lane ?? view.lane_order[0];
  return { lane, thing: `lane:${lane}` };
}

function openLane(id) {
  for (const lane of lanes) lane.root.toggleAttribute("data-open", lane.id === id);
  for (const [name, tab] of tabs) {
    if (name === id) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
  redraw();
}
openLane(view.lesson?.front ?? lanes[0].id);
