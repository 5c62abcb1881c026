// The code that ran: the last run of one of the lane's algorithms at the moment shown, line by line. Who looks back or
// rests sees the run of that moment; while the lab runs, "Last run" asks again.

import { onLanguage, page, say } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { refusalOf } from "../base/reasons.js";
import { ask } from "../base/requests.js";
import { clock } from "../base/say.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createFeed } from "../lane/feed.js";
import { createOrders } from "../lane/orders.js";
import { createPast } from "../lane/past.js";
import { createWhy } from "../why/why.js";
import { linesOf, resultAt, variablesAt } from "./steps.js";

const $ = (id) => document.getElementById(id);
const RESTS_MS = 300;
const main = $("main"), notice = createNotice($("notice")), past = createPast(), { lane, api } = page.code;
const isChosen = (id) => [...$("of").options].some(({ value }) => value === id);

let view = JSON.parse($("view").textContent), seq = page.seq, run = null, at = 0, timer = 0, asked = 0, shownKey = "";

const wanted = new URLSearchParams(location.search).get("of");
if (isChosen(wanted)) $("of").value = wanted;

// -- asking -----------------------------------------------------------------------------------------------------------

function keepAddress() {
  const query = new URLSearchParams({ lane, of: $("of").value });
  history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`);
}

async function read() {
  clearTimeout(timer);
  const turn = (asked += 1), moment = past.isShown() ? past.place() : {}, query = new URLSearchParams({
    lane, of: $("of").value, look: past.look, ...moment,
  });
  main.setAttribute("aria-busy", "true");
  if (!run) setText($("when"), say("why.working"));
  try {
    const answer = await ask(`${api}?${query}`);
    if (turn !== asked) return;
    const isSame = run && run.id === answer.id && run.call?.at_us === answer.call?.at_us;
    run = answer;
    if (!isSame) at = 0;
    draw();
  } catch (error) {
    if (turn !== asked || error.fields?.look) return;
    if (run) notice(refusalOf(error), { near: $("again") });
    else setText($("when"), refusalOf(error));
  } finally {
    if (turn === asked) main.removeAttribute("aria-busy");
  }
}

// The moment that stays: of the past, or of a lab that rests.
function follow() {
  const place = past.isShown() ? past.place() : null;
  const key = place ? `${place.at_us} ${place.position}` : view.playing ? shownKey : `${view.at_us}`;
  if (key === shownKey) return;
  shownKey = key;
  clearTimeout(timer);
  timer = setTimeout(read, RESTS_MS);
}

// -- showing ----------------------------------------------------------------------------------------------------------

function draw() {
  if (!run) return;
  const { source, call } = run;
  setText($("source-title"), source.name);
  setText($("file"), `${source.file}:${source.lines[0].number}`);
  document.querySelector(".ran").toggleAttribute("data-none", call === null);
  setText($("when"), call
    ? say("code.ran", { time: clock(call.at_us), lane: $("of").selectedOptions[0].textContent })
    : run.since_us === 0 ? say("code.never") : say("code.none", { time: clock(run.since_us) }));
  drawLines(source, call);
  if (call) drawStep();
}

function drawLines({ lines }, call) {
  const ran = call ? linesOf(call) : new Set();
  $("lines").replaceChildren(...lines.map(({ number, parts }) => {
    const item = document.createElement("li"), code = document.createElement("code");
    item.dataset.line = number;
    item.toggleAttribute("data-ran", ran.has(number));
    code.append(...parts.map(([className, textContent]) =>
      Object.assign(document.createElement("span"), { className, textContent })));
    item.append(Object.assign(document.createElement("span"), { textContent: String(number) }), code);
    return item;
  }));
}

function drawStep() {
  const { call } = run, { steps } = call;
  at = Math.max(0, Math.min(at, steps.length - 1));
  Object.assign($("at"), { max: steps.length, value: at + 1 });
  const place = say("code.place", { at: at + 1, count: steps.length });
  setText($("place"), place);
  $("at").setAttribute("aria-valuetext", place);
  $("step-before").disabled = at === 0;
  $("step-after").disabled = at === steps.length - 1;
  for (const item of $("lines").children) {
    const isNow = Number(item.dataset.line) === steps[at].line;
    item.toggleAttribute("data-now", isNow);
    if (isNow) {
      item.setAttribute("aria-current", "step");
      reveal(item);
    } else item.removeAttribute("aria-current");
  }
  $("values").tBodies[0].replaceChildren(...variablesAt(call, at).map(({ name, value, isChanged }) => {
    const row = document.createElement("tr");
    row.toggleAttribute("data-changed", isChanged);
    const text = Object.assign(document.createElement("span"), { className: "v", textContent: value, title: value });
    row.insertCell().textContent = name;
    row.insertCell().append(text);
    return row;
  }));
  setText($("result"), resultAt(call, at, say));
}

// Within the box of lines alone: the page stays where it is.
function reveal(item) {
  const box = $("source"), top = item.offsetTop - $("lines").offsetTop, room = box.clientHeight - 2 * item.offsetHeight;
  if (top < box.scrollTop + item.offsetHeight || top > box.scrollTop + room) box.scrollTop = top - room / 2;
}

function go(by) {
  if (!run?.call) return false;
  at += by;
  drawStep();
  return true;
}

$("step-before").addEventListener("click", () => go(-1));
$("step-after").addEventListener("click", () => go(1));
$("at").addEventListener("input", () => go(Number($("at").value) - 1 - at));
$("again").addEventListener("click", read);
$("of").addEventListener("change", () => {
  [run, at] = [null, 0];
  keepAddress();
  read();
});
$("chosen").addEventListener("submit", (event) => event.preventDefault());

// -- frames -----------------------------------------------------------------------------------------------------------

function drawFrame(isForced = false) {
  frame.draw(isForced);
  why.write();
  main.dataset.seq = seq;
  feed.tell();
  follow();
}

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const frame = createFrame({
  send: orders.command, current: () => view, redraw: () => drawFrame(true), notice, lane, past,
  link: {
    read: () => ({ of: $("of").value, step: String(at) }),
    show: (found) => {
      if (isChosen(found.of)) $("of").value = found.of;
      at = Number(found.step) || 0;
    },
  },
});
const why = createWhy({
  current: () => view, past, thingAt: () => null, chosen: () => ({ lane, thing: `lane:${lane}` }),
});
bindKeys([
  { keys: ["["], says: "code.keys.before", act: () => go(-1) },
  { keys: ["]"], says: "code.keys.after", act: () => go(1) },
]);
const feed = createFeed({
  freshness: createFreshness(), notice, past, near: $("play"), current: () => view,
  take(newView, newSeq) {
    [view, seq] = [newView, newSeq];
    drawFrame();
  },
});
onLanguage(() => {
  draw();
  drawFrame(true);
});
drawFrame(true);
feed.open();
read();
