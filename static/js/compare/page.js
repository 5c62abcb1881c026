// The lanes of a lab beside each other, or the same lanes of two labs, at one moment: pictures as on the Stage, and
// below each what it has cost by then. No rule is worked out here.

import { onLanguage, page, say, words } from "../base/chrome.js";
import { fillSelect, setText } from "../base/dom.js";
import { createNotice } from "../base/notice.js";
import { ask } from "../base/requests.js";
import { clock } from "../base/say.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { labelOf, lettered } from "../lane/branch_names.js";
import { createFeed } from "../lane/feed.js";
import { laneName } from "../lane/name.js";
import { createOrders } from "../lane/orders.js";
import { createPast } from "../lane/past.js";
import { SHORT, TALL } from "../lane/pictures/size.js";
import { createWhy } from "../why/why.js";
import { FIGURES, SUMS, differenceOf, inOrderOf, rows, textOf, valueOf } from "./bill.js";
import { createColumn } from "./column.js";
import { createCompanion } from "./companion.js";
import { thingIn } from "./why.js";

const $ = (id) => document.getElementById(id);
const LOW = matchMedia("(max-height: 800px) and (min-width: 641px)");   // as in compare.css
const { lanes: ids, ends_us: endsUs } = page.compared, { beside } = page, isOwn = endsUs !== null;
const main = $("main"), freshness = createFreshness(), notice = createNotice($("notice")), past = createPast();
const labs = beside ? 2 : 1, columns = new Map(), shownFigures = beside ? SUMS : FIGURES;

let branches = [];
let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false, sort = "given", chosen = null;

for (const id of ids) {
  const column = createColumn(id, $("column"), {
    labs, onSort: (figure) => sortBy(sort === figure ? "given" : figure), onRows: () => drawFrame(true),
  });
  for (const event of ["pointerdown", "focusin"]) column.root.addEventListener(event, () => choose(id));
  columns.set(id, column);
  $("columns").append(column.root);
}
const companion = beside && createCompanion({ start: beside.view, url: beside.urls.past, changed: schedule });

function sortBy(figure) {
  sort = figure;
  schedule();
}

// Of which lane "Why?" and the projector speak: the last one that was pressed, else the first.
function choose(id) {
  chosen = id;
  for (const [each, { root }] of columns) root.toggleAttribute("data-chosen", each === id);
}

const chosenLane = () => chosen ?? inOrderOf(ids, sort, (id) => view.lanes[id])[0];

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => drawFrame());
}

// What the two labs are called: branches of one another as their tabs say it.
// isShort: at the head of a column, a branch is its letter.
function names(isShort = false) {
  const label = (id, title) => {
    const row = branches.find((each) => each.id === id);
    if (!row || branches.length < 2) return title;
    return isShort ? row.letter || say("branches.first_short") : labelOf(row, branches, page.language, say);
  };
  return [label(page.lab, $("lab-name").textContent), label(beside.lab, beside.title)];
}

async function nameBranches() {
  branches = lettered((await ask(page.urls.branches)).branches);
  drawFrame(true);
}

// What a lane is called here: a comparison's by its way, another lab's by its rule.
function nameOf(id) {
  const { model, algorithm } = view.lanes[id], way = id.startsWith(`${model}-`) ? id.replace("-", ".") : "";
  const code = [`way.${way}`, way, `${model}.${algorithm}`].find((each) => each in words());
  const kind = isOwn ? say(`model.${model}`) : laneName(id, view, say);
  return { name: say(code), about: say(`${code}.about`), kind };
}

function costsOf(id, found, pair) {
  const place = ids.indexOf(id);
  return found.map(({ figure, values, best }) => {
    const own = values[place], others = pair ? pair.map((lane) => (lane ? valueOf(lane, figure) : null)) : [own];
    const texts = others.map((value) => textOf(figure, value, words()));
    return {
      figure, label: say(`compared.${figure}`), about: say(`compared.${figure}.about`), isSorted: sort === figure,
      texts: pair ? [...texts, companion.isSame() ? differenceOf(figure, others, words()) : ""] : texts,
      best: !pair && best[place],
    };
  });
}

function drawFrame(isForced = false) {
  isDirty = false;
  companion?.follow(view.at_us);
  const other = companion?.view() ?? null, found = rows(ids.map((id) => view.lanes[id]), shownFigures);
  const height = beside || LOW.matches ? SHORT : TALL;
  const order = inOrderOf(ids, sort, (id) => view.lanes[id]);
  order.forEach((id, place) => {
    const column = columns.get(id), pair = beside ? [view.lanes[id], other.lanes[id] ?? null] : null;
    column.write({
      ...nameOf(id), lanes: pair ?? [view.lanes[id]], height, at: [view.at_us, other?.at_us], say,
      words: words(), lit: why.litOf(id), isForced,
      captions: beside ? names() : [], costs: costsOf(id, found, pair),
      heads: [say("compared.bill"), ...(beside ? [...names(true), say("compared.difference")] : [nameOf(id).name])],
    });
    const there = $("columns").children[place];
    if (there !== column.root) $("columns").insertBefore(column.root, there ?? null);
  });
  fillSelect($("sort"), ["given", ...shownFigures].map((figure) => [
    figure, say(figure === "given" ? "compared.sort.given" : `compared.${figure}`),
  ]), sort);
  setText($("course"), courseWords());
  $("both").hidden = !beside;
  if (beside) setText($("both"), say("compared.beside", { one: names()[0], other: names()[1] }));
  frame.draw(isForced);
  why.write();
  main.dataset.seq = seq;
  feed.tell();
}

// How far a comparison has come, or that the other lab has come less far.
function courseWords() {
  if (companion?.isShort()) {
    return say("compared.short", { name: names()[1], clock: clock(companion.view().at_us) });
  }
  const now = past.now() ?? view;
  return isOwn && now.playing ? say("compared.running", { now: clock(now.at_us), end: clock(endsUs) }) : "";
}

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const frame = createFrame({
  send: orders.command, current: () => view, redraw: () => drawFrame(true), notice, past,
  link: { read: () => ({ sort: sort === "given" ? "" : sort }), show: (given) => sortBy(given.sort ?? "given") },
});

const why = createWhy({
  current: () => view, past, thingAt, onLight: schedule,
  chosen: () => ({ lane: chosenLane(), thing: `lane:${chosenLane()}` }),
});

function thingAt(target, event) {
  const lane = target.closest("[data-lane]")?.dataset.lane;
  const thing = lane && thingIn(target, lane, view.lanes[lane], event);
  return thing ? { lane, thing } : null;
}

$("sort").addEventListener("change", ({ target }) => sortBy(target.value));

const feed = createFeed({
  freshness, notice, past, near: $("sort"), current: () => view,
  take(newView, newSeq) {
    [view, seq] = [newView, newSeq];
    schedule();
  },
});

// Two labs are compared at a moment to which both have come.
if (beside && beside.view.at_us < view.at_us && !past.isLooking()) past.seek({ at_us: beside.view.at_us });
onLanguage(() => drawFrame(true));
addEventListener("resize", schedule);
drawFrame(true);
feed.open();
if (beside) nameBranches().catch(() => {});              // they keep their titles
