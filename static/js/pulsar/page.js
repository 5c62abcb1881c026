// The page of a Pulsar subscription: takes frames, draws at most once per animation frame, turns presses and keys into
// orders, and asks the server "what if". No rule is worked out here.

import { onLanguage, page, say, speak } from "../base/chrome.js";
import { fillSelect, setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { writeTable } from "../base/table.js";
import { createThrottle } from "../base/throttle.js";
import { chip } from "../drawing/chip.js";
import { draw } from "../drawing/shapes.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createFeed } from "../lane/feed.js";
import { createNaming, isFolded, restWords } from "../lane/fold.js";
import { createOrders } from "../lane/orders.js";
import { lastChange } from "../lane/sentence.js";
import { createPast } from "../lane/past.js";
import { createRoster } from "../lane/roster.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { createLessonStrip } from "../lesson/strip.js";
import { createWhy } from "../why/why.js";
import * as batches from "./batches.js";
import { createConsumers, rows as consumerRows } from "./consumers.js";
import * as cursor from "./cursor.js";
import { createEditor } from "./editor_panel.js";
import * as ladder from "./ladder.js";
import { createNewcomer, knowsLevels } from "./newcomer.js";
import { createRules } from "./rules.js";
import { NAMED_MOST, createSeries, rowsOf } from "./series.js";
import { createSpacePanel } from "./space_panel.js";
import { drainingTable, handedTable, othersTable, spaceTable } from "./tables.js";
import { chosenWords, verbsOf } from "./verbs.js";
import { createAsker, lines } from "./what_if.js";
import { chosenThing, thingAt } from "./why.js";
import { rulesWords, spaceTitle, story } from "./words.js";

const $ = (id) => document.getElementById(id);
const past = createPast();
const TWINS_EVERY_MS = 1000, WIDE_LEAST = 240, DRAINING_ROWS = 12;
const main = $("main"), freshness = createFreshness(), notice = createNotice($("notice")), lane = page.pulsar.lane;
const still = matchMedia("(prefers-reduced-motion: reduce)"), series = createSeries($("series"), page.urls.plotly);

const writeLesson = createLessonStrip(), twinsDue = createThrottle();
let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false;
let ladderTall = 0, batchesTall = 0, batchesKind = "", chosen = null, answer = null, askedFor = "", levelFor = "";
let partition = null;

const laneNow = () => view.lanes[lane];
const colorOf = (name) => laneNow().consumers[name]?.color ?? view.consumers[name]?.color ?? null;

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => drawFrame());
}

function drawFrame(isForced = false) {
  isDirty = false;
  const now = laneNow();
  if (chosen !== null && !(chosen in now.consumers)) chosen = null;
  document.body.toggleAttribute("data-still", still.matches || !view.playing);
  setText($("sub"), rulesWords(now, say));
  rules.write(now);
  space.write(now);
  drawBatches(now);
  drawLadder(now);
  drawCursor(now);
  const listed = isFolded(now) ? naming(lane, view, chosen).rows : now.order;
  writeConsumers(consumerRows(now, chosen, say, listed), say);
  $("all-consumers").hidden = !setText($("all-consumers"), restWords(now, listed, say));
  roster.write();
  $("nobody").hidden = now.order.length > 0;
  verbs.write(verbsOf(now, chosen, page.pulsar.verbs, say));
  $("more").hidden = chosen === null || ["crashed", "gone"].includes(now.consumers[chosen].state);
  setText($("verbs-about"), chosenWords(now, chosen, say));
  setText($("said"), lastChange(now, view, say));
  newcomer.write(now);
  drawLevel(now);
  drawAnswer(now);
  editor.write(now);
  drawDraining(now);
  drawBeside(now);
  frame.draw(isForced === true);
  why.write();
  writeLesson(view);
  // Who looks at the tables sees the numbers of the words beside them; who hears them is not flooded.
  twinsDue(() => drawTables(laneNow()), {
    everyMs: TWINS_EVERY_MS, isForced: isForced || document.body.hasAttribute("data-twins"),
  });
  setText($("series-many"), now.order.length > NAMED_MOST ? say("subscription.series_many", { most: NAMED_MOST }) : "");
  series(rowsOf(view, lane), { say, colorOf, isForced });
  main.dataset.seq = seq;
  feed.tell();
}

// The picture grows with the longest batch so far and does not shrink, so that what stands below keeps still.
function drawBatches({ pulsar }) {
  const known = pulsar.batches;
  $("batches-panel").hidden = !known;
  if (!known) return;
  const width = Math.max(WIDE_LEAST, Math.floor($("batches").parentElement.clientWidth));
  if (batchesKind !== known.kind) [batchesKind, batchesTall] = [known.kind, 0];
  batchesTall = Math.max(batchesTall, batches.tall(known, width));
  $("batches").setAttribute("height", batchesTall);
  $("batches").style.setProperty("width", `${width}px`);
  setText($("batches-kind"), batches.kind(known, say));
  for (const part of document.querySelectorAll("#batches-panel .owners")) part.hidden = !known.has_owners;
  $("batches").setAttribute("aria-label", setText($("batches-words"), batches.words(known, say)));
  setText($("batches-acks"), batches.ackWords(known, say));
  draw($("batches"), batches.layout(known, { width, colorOf, say }));
}

function drawLadder({ pulsar: { again } }) {
  $("ladder-panel").hidden = !again;
  if (!again) return;
  const width = Math.max(WIDE_LEAST, Math.floor($("ladder").parentElement.clientWidth));
  ladderTall = Math.max(ladderTall, ladder.tall(again));
  $("ladder").setAttribute("height", ladderTall);
  $("ladder").style.setProperty("width", `${width}px`);
  $("ladder").setAttribute("aria-label", setText($("ladder-words"), ladder.words(again, say)));
  draw($("ladder"), ladder.layout(again, { width, colorOf, say }));
}

function drawCursor(now) {
  const { cursors } = now.pulsar, names = Object.keys(cursors);
  if (!(partition in cursors)) [partition] = names;
  fillSelect(
    $("partition"),
    names.map((name) => [name, name === "-1" ? say("subscription.no_partition") : name]),
    partition,
  );
  $("partition-choice").hidden = names.length < 2;
  const place = now.pulsar.topics ? "subscription.topic" : "subscription.partition";
  if ($("partition-word").dataset.say !== place) speak($("partition-word"), place);
  fillSelect(
    $("seek-by"),
    ["entry", "time"].map((by) => [by, say(`subscription.seek_by.${by}`)]),
    $("seek-by").value || "entry",
  );
  setText($("seek-kept"), say("subscription.seek_kept", cursors[partition]));
  const one = cursors[partition], width = Math.max(WIDE_LEAST, Math.floor($("strip").parentElement.clientWidth));
  $("strip").setAttribute("height", cursor.TALL);
  $("strip").style.setProperty("width", `${width}px`);
  $("strip").setAttribute(
    "aria-label",
    setText($("cursor-words"), now.pulsar.exists ? cursor.words(one, say) : say("subscription.no_cursor")),
  );
  draw($("strip"), now.pulsar.exists ? cursor.layout(one, { width, order: now.order, colorOf, say }) : []);
  const key = ["acked", "unacked", "again", "unread"].map((kind) => [kind, say(`subscription.key.${kind}`)]);
  if ($("strip-key").dataset.key !== page.language) {
    $("strip-key").dataset.key = page.language;
    $("strip-key").replaceChildren(...key.map(([kind, text]) => {
      const item = document.createElement("span"), mark = document.createElement("i");
      mark.className = kind;
      item.append(mark, text);
      return item;
    }));
  }
}

// The level that the chosen consumer has, where levels decide anything.
function drawLevel(now) {
  $("level").hidden = !knowsLevels(now);
  const key = `${chosen} ${now.pulsar.consumers[chosen]?.priority ?? 0}`;
  if (key === levelFor) return;
  levelFor = key;
  $("level-value").value = now.pulsar.consumers[chosen]?.priority ?? 0;
}

function drawAnswer(now) {
  const key = JSON.stringify([now.pulsar.holders, now.pulsar.failover?.order, now.algorithm, now.order, page.language]);
  if (key !== askedFor) {
    askedFor = key;
    asker.soon();
  }
}

function showAnswer(found, problem) {
  answer = found;
  const now = laneNow();
  const rowsOf = found
    ? lines(found, now, say)
    : problem
      ? [[say("subscription.answer.not"), problem, null, null]]
      : [];
  $("answer").replaceChildren(...rowsOf.flatMap(([word, text, name]) => {
    const [term, value] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = word;
    value.textContent = text;
    const color = colorOf(name);
    if (color !== null) value.prepend(chip(color));      // who has not joined yet has none
    return [term, value];
  }));
  if (found?.slot !== null && found?.slot !== undefined && $("ask-key").value) space.lookAt(found.slot);
  schedule();
}

function drawDraining({ pulsar }) {
  const { draining } = pulsar;
  $("draining-panel").hidden = !draining;
  if (!draining) return;
  setText(
    $("draining-words"),
    say("subscription.draining_words", { count: draining.count, drained: draining.drained }),
  );
  const table = drainingTable(
    { slots: Object.fromEntries(Object.entries(draining.slots).slice(0, DRAINING_ROWS)) },
    say,
  );
  $("draining").hidden = !table.rows.length;
  writeTable($("draining"), { ...table, offsets: table.rows.map(() => null) }, say("subscription.draining"));
  const left = draining.count - table.rows.length;
  $("draining-left").hidden = !left;
  setText($("draining-left"), say("subscription.draining_left", { count: left }));
}

// What is on the topic beside the lab's own subscription, and how its producer fares.
function drawBeside({ pulsar: { subscriptions, producer } }) {
  const table = othersTable(subscriptions, say);
  $("others-panel").hidden = !table.rows.length;
  if (table.rows.length) {
    writeTable($("others"), { ...table, offsets: table.rows.map(() => null) }, say("subscription.others"));
  }
  $("receipts-panel").hidden = !producer;
  if (!producer) return;
  setText($("receipts-words"), say("subscription.receipts_words", producer));
  $("receipts-lost").hidden = !producer.loses_answers;
}

function drawTables(now) {
  const write = (id, table, label) => writeTable($(id), { ...table, offsets: table.rows.map(() => null) }, label);
  write("space-twin", spaceTable(now, say), spaceTitle(now.pulsar, now.picture, say));
  $("handed-twin").hidden = !now.pulsar.handed.length;
  write("handed-twin", handedTable(now, say), say("subscription.handed"));
  if (now.pulsar.again) write("ladder-twin", ladder.table(now.pulsar.again, say), say("subscription.ladder"));
  if (now.pulsar.batches) write("batches-twin", batches.table(now.pulsar.batches, say), say("subscription.batches"));
  write("cursor-twin", cursor.table(now.pulsar.cursors, say), say("subscription.cursor"));
}

// -- what a person does -----------------------------------------------------------------------------------------------

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const order = (near, command) => orders.command(near, { lane, ...command });
const naming = createNaming(), roster = createRoster($("roster"), {
  current: () => view, selectedOf: () => chosen,
  onSelect(_lane, name) {
    chosen = name;
    drawFrame();
  },
});
$("all-consumers").addEventListener("click", () => roster.show(lane));
const verbs = createVerbs($("verbs"), (verb, near) => order(near, verb.order));
const space = createSpacePanel({
  current: laneNow, chosen: () => chosen, askedSlot: () => (answer?.key ? answer.slot : null), colorOf,
  isStill: () => still.matches, redraw: schedule,
});
const writeConsumers = createConsumers($("consumers"), choose);
const rules = createRules(
  {
    types: $("types"), rule: $("rule"), order: $("order"), ruleChoice: $("rule-choice"), orderChoice: $("order-choice"),
    about: $("rule-about"),
  },
  { kinds: page.pulsar.verbs, order, say },
);
const newcomer = createNewcomer($, { order, toRanges: () => editor.openFor("") });
const editor = createEditor($, {
  url: page.pulsar.ranges, lane, kinds: page.pulsar.verbs, order, say, colorOf, newcomer,
});
const asker = createAsker({
  url: page.pulsar.key, inputs: [$("ask-key"), $("ask-name")], show: showAnswer,
  params: () => ({ lane, key: $("ask-key").value, name: $("ask-name").value.trim() }),
});
$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  asker.ask();
});
// What is asked of the chosen consumer with a number: to seek its subscription to an entry or a moment, and its
// priority level.
const byNumber = (form, kind, args) => {
  $(form).addEventListener("submit", (event) => {
    event.preventDefault();
    if (chosen !== null) order($(form), { kind, consumer: chosen, args: args() });
  });
};
byNumber("seek", "pulsar_seek", () =>
  $("seek-by").value === "time" ? { time_us: Number($("seek-to").value) * 1e6 } : { entry: Number($("seek-to").value) },
);
byNumber("level", "pulsar_priority", () => ({ level: Number($("level-value").value) }));
$("partition").addEventListener("change", () => {
  partition = $("partition").value;
  drawFrame(true);
});

function choose(name) {
  chosen = chosen === name ? null : name;
  drawFrame();                                          // at once: the next key is about whom has just been chosen
}

const move = (steps) => {
  const { order: names } = laneNow();
  if (names.length) chosen = names[(names.indexOf(chosen) + steps + names.length) % names.length];
  drawFrame();
};

const frame = createFrame({
  send: order, current: () => view, redraw: () => drawFrame(true), notice, lane, past,
  own: (spoken) => story(laneNow(), view.workload.rate, spoken),
  link: {
    read: () => ({ chosen, partition }),
    show: (found) => ([chosen, partition] = [found.chosen ?? null, found.partition ?? partition]),
  },
});
// before the page's own keys: Escape closes what is in front first
const why = createWhy({
  current: () => view, past, chosen: () => chosenThing(lane, chosen),
  thingAt: (target, event) => thingAt(target, event, lane, laneNow(), partition),
});
bindKeys([
  { keys: ["["], says: "keys.previous_consumer", act: () => move(-1) },
  { keys: ["]"], says: "keys.next_consumer", act: () => move(1) },
  { keys: ["n"], says: "subscription.newcomer", act: newcomer.open },
  { keys: ["+", "="], says: "subscription.lens_in", act: space.zoomIn },
  { keys: ["-"], says: "subscription.lens_out", act: space.zoomOut },
  { keys: ["escape"], says: "keys.let_go", act: () => chosen !== null && (choose(chosen), true) },
]);
bindKeys(verbs.bindings);

// -- frames -----------------------------------------------------------------------------------------------------------

const feed = createFeed({
  freshness, notice, past, near: $("verbs"), current: () => view,
  take(newView, newSeq) {
    [view, seq] = [newView, newSeq];
    schedule();
  },
});

onLanguage(() => {
  if (answer) showAnswer(answer, "");
  drawFrame(true);
});
addEventListener("resize", schedule);
drawFrame(true);
feed.open();
