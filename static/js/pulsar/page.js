// The page of a Pulsar subscription: takes frames, draws at most once per animation frame, turns presses and keys into
// orders, and asks the server "what if". No rule is worked out here.

import { onLanguage, page, say, speak } from "../base/chrome.js";
import { createNotice } from "../base/notice.js";
import { clock, number, percent } from "../base/say.js";
import { writeTable } from "../base/table.js";
import { createThrottle } from "../base/throttle.js";
import { draw } from "../drawing/shapes.js";
import { fingerprint } from "../drawing/slices.js";
import { createFreshness } from "../feed/freshness.js";
import { createFeed } from "../lane/feed.js";
import { createOrders } from "../lane/orders.js";
import { lastChange } from "../lane/sentence.js";
import { createTransport, onKeys } from "../lane/transport.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { createLessonStrip } from "../lesson/strip.js";
import * as batches from "./batches.js";
import { chip, createConsumers, rows as consumerRows } from "./consumers.js";
import * as cursor from "./cursor.js";
import { createEditor } from "./editor_panel.js";
import * as ladder from "./ladder.js";
import * as lens from "./lens.js";
import { createNewcomer, knowsLevels } from "./newcomer.js";
import * as ranges from "./ranges.js";
import * as ring from "./ring.js";
import * as round from "./round.js";
import { createRules } from "./rules.js";
import { NAMED_MOST, createSeries, rowsOf } from "./series.js";
import { windowOf } from "./space.js";
import * as standbys from "./standbys.js";
import { drainingTable, handedTable, othersTable, spaceTable } from "./tables.js";
import { chosenWords, verbsOf } from "./verbs.js";
import { createAsker, lines } from "./what_if.js";
import { handedWords, headline, rulesWords, spaceTitle, spaceWords } from "./words.js";

const $ = (id) => document.getElementById(id);
const TWINS_EVERY_MS = 1000, RING_MOST = 440, BESIDE_LEAST = 210, RING_BESIDE = 330, WIDE_LEAST = 240, LENS_STEP = 2;
const LENS_START = 24, HANDED_SHOWN = 6, HAND_MS = 1600, DRAINING_ROWS = 12;
const main = $("main"), freshness = createFreshness(), notice = createNotice($("notice")), lane = page.pulsar.lane;
const still = matchMedia("(prefers-reduced-motion: reduce)"), series = createSeries($("series"), page.urls.plotly);

const writeLesson = createLessonStrip(), twinsDue = createThrottle();
let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false, bandsAt = "", bands = [], handAt = null;
let ladderTall = 0, batchesTall = 0, batchesKind = "", chosen = null, answer = null, askedFor = "", levelFor = "";
let partition = null, at = null, span = null, size = 0;

const rig = () => view.rigs[lane];
const colorOf = (name) => rig().consumers[name]?.color ?? view.consumers[name]?.color ?? null;

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => drawFrame());
}

function drawFrame(isForced = false) {
  isDirty = false;
  const now = rig();
  if (chosen !== null && !(chosen in now.consumers)) chosen = null;
  document.body.toggleAttribute("data-still", still.matches || !view.playing);
  setText($("title"), headline(now, view.workload.rate, say));
  setText($("sub"), rulesWords(now, say));
  rules.write(now);
  drawSpace(now);
  drawBatches(now);
  drawLadder(now);
  drawCursor(now);
  writeConsumers(consumerRows(now, chosen, say), say);
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
  drawTransport();
  writeLesson(view);
  // Who looks at the tables sees the numbers of the words beside them; who hears them is not flooded.
  twinsDue(() => drawTables(rig()), {
    everyMs: TWINS_EVERY_MS, isForced: isForced || document.body.hasAttribute("data-twins"),
  });
  setText($("series-many"), now.order.length > NAMED_MOST ? say("subscription.series_many", { most: NAMED_MOST }) : "");
  series(rowsOf(view, lane), { say, colorOf, isForced });
  main.dataset.seq = seq;
  feed.tell();
}

function drawSpace(now) {
  const { picture, pulsar } = now, isSpace = "space" in picture;
  setText($("space-title"), spaceTitle(pulsar, picture, say));
  setText($("space-words"), spaceWords(now, say));
  $("space").toggleAttribute("hidden", !isSpace);
  $("lens-box").hidden = $("handed-box").hidden = !isSpace;
  $("table-box").hidden = !pulsar.failover;
  $("round").toggleAttribute("hidden", isSpace || Boolean(pulsar.failover));
  main.querySelector(".space-pics").toggleAttribute("data-long", !isSpace && now.order.length > 16);
  if (isSpace) return drawHashes(now);
  bandsAt = "";
  const wide = spaceWide();
  if (pulsar.failover) {
    const svg = $("standbys"), width = Math.max(wide, standbys.wide(pulsar.failover, wide));
    svg.style.setProperty("width", `${width}px`);
    svg.setAttribute("height", standbys.tall(pulsar.failover));
    svg.setAttribute("aria-label", spaceWords(now, say));
    draw(svg, standbys.layout(pulsar, { width: wide, colorOf, chosen, say }));
    return;
  }
  $("round").setAttribute("height", round.tall(picture));
  $("round").setAttribute("aria-label", spaceWords(now, say));
  $("round").style.setProperty("width", `${wide}px`);
  draw(
    $("round"),
    round.layout(picture, pulsar.consumers, { width: wide, colorOf, permitsMost: pulsar.queue_size, chosen, say }),
  );
}

// The width of a picture within its panel. Before the first layout a panel has none: then as much as a small phone
// shows.
const spaceWide = () => Math.max(WIDE_LEAST, Math.floor($("space-title").parentElement.clientWidth));

function drawHashes(now) {
  const { picture, pulsar } = now, isRing = picture.kind === "ring", wide = spaceWide();
  if (at === null || at >= picture.space) at = Math.floor(picture.space / 2);
  if (span === null || span > picture.space) span = picture.space / LENS_START;
  const window = windowOf(at, span, picture.space), svg = $("space"), slot = answer?.key ? answer.slot : null;
  const isBeside = wide >= RING_BESIDE + BESIDE_LEAST;
  size = !isRing ? wide : Math.min(RING_MOST, isBeside ? wide - BESIDE_LEAST : wide);
  if (isRing) main.querySelector(".space-pics").dataset.ring = isBeside ? "beside" : "alone";
  else delete main.querySelector(".space-pics").dataset.ring;
  const cuts = [picture.now, picture.before].map(fingerprint);
  const key = [...cuts, picture.names, size, page.language, picture.kind].join("/");
  if (key !== bandsAt) {
    bands = isRing ? ring.bands(picture, colorOf, size) : ranges.bands(picture, colorOf, size, say);
    bandsAt = key;
  }
  const draining = Object.keys(pulsar.draining?.slots ?? {}).map(Number);
  const live = Object.values(pulsar.consumers).filter(({ connected }) => connected).length;
  const middle = [
    [number(live), "big b"], [say("picture.on_ring"), ""],
    [
      say("picture.unacked", {
        unacked: Object.values(pulsar.consumers).reduce((sum, { unacked, former }) => sum + unacked + former, 0),
      }),
      "m",
    ],
  ];
  svg.setAttribute("width", size);
  svg.setAttribute("height", isRing ? size : ranges.TALL);
  svg.setAttribute("aria-label", `${spaceTitle(pulsar, picture, say)}. ${spaceWords(now, say)}`);
  draw(svg, [
    ...bands,
    ...(isRing
      ? ring.marks(picture, size, { lens: window, slot, draining, lines: middle })
      : ranges.marks(picture, size, { lens: window, slot, draining, number })),
  ]);
  showHanding(now);
  $("lens").style.setProperty("width", `${wide}px`);
  $("lens").setAttribute("aria-label", setText($("lens-words"), `${number(window.from)}..${number(window.to - 1)}`));
  draw(
    $("lens"),
    lens.layout(picture, { window, width: wide, colorOf, slot, draining: pulsar.draining?.slots ?? {}, say }),
  );
  $("lens-at").value = Math.round((at / picture.space) * 1000);
  $("lens-out").disabled = span >= picture.space;
  $("lens-in").disabled = span <= 16;
  drawHanded(now);
}

// A change of owners is shown in motion once: what was given grows out of its former owner into its new one.
function showHanding({ picture }) {
  const key = picture.before ? `${fingerprint(picture.now)}/${fingerprint(picture.before)}` : "";
  if (handAt === key) return;
  const isFirst = handAt === null;                      // what had happened before the page was there
  handAt = key;
  if (isFirst || still.matches) return;
  const svg = $("space");
  svg.removeAttribute("data-handing");
  svg.getBoundingClientRect();                          // so that the same motion begins anew
  svg.setAttribute("data-handing", "");
  setTimeout(() => handAt === key && svg.removeAttribute("data-handing"), HAND_MS);
}

function drawHanded({ pulsar, picture, bill }) {
  const shown = pulsar.handed.slice(0, HANDED_SHOWN), texts = shown.map((row) => handedWords(row, picture.space, say));
  if (pulsar.handed.length > shown.length) {
    texts.push(say("subscription.handed_more", { count: pulsar.handed.length - shown.length }));
  }
  if (texts.length && bill?.space_moved) {
    texts.unshift(say("subscription.handed_all", { part: percent(bill.space_moved, 1) }));
  }
  if (!texts.length) texts.push(say(picture.before ? "subscription.handed_nothing" : "subscription.handed_none"));
  fillList($("handed"), texts.map((text) => [text, false]));
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
  const now = rig();
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
  if (found?.slot !== null && found?.slot !== undefined && $("ask-key").value) at = found.slot;
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

function drawTransport() {
  speak($("play"), view.playing ? "pause" : "play", "sayLabel");
  $("play-icon").setAttribute("href", view.playing ? "#v-pause" : "#v-play");
  $("step").disabled = view.playing;
  for (const button of document.querySelectorAll("[data-speed]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.speed) === view.speed));
  }
  setText($("clock"), clock(view.at_us));
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return text;
}

function fillList(list, texts) {
  const key = JSON.stringify(texts);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...texts.map(([textContent, isBad]) =>
      Object.assign(document.createElement("li"), { textContent, className: isBad ? "bad" : "" }),
    ),
  );
}

function fillSelect(select, options, value) {
  const key = JSON.stringify(options);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...options.map(([id, text]) => new Option(text, id)));
    // also while it has the focus: new options forget which one was chosen
    select.value = value;
  }
  if (select.value !== value && document.activeElement !== select) select.value = value;
}

// -- what a person does -----------------------------------------------------------------------------------------------

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice });
const order = (near, command) => orders.command(near, { lane, ...command });
const verbs = createVerbs($("verbs"), (verb, near) => order(near, verb.order));
const writeConsumers = createConsumers($("consumers"), choose);
const rules = createRules(
  {
    types: $("types"), rule: $("rule"), order: $("order"), ruleChoice: $("rule-choice"), orderChoice: $("order-choice"),
    about: $("rule-about"),
  },
  { kinds: page.pulsar.verbs, order, say, fillSelect },
);
const newcomer = createNewcomer($, { order, toRanges: () => editor.openFor("") });
const editor = createEditor($, {
  url: page.pulsar.ranges, lane, kinds: page.pulsar.verbs, order, say, colorOf, fillSelect, fillList, newcomer,
});
const asker = createAsker({
  url: page.pulsar.key, inputs: [$("ask-key"), $("ask-name")], show: showAnswer,
  params: () => ({ rig: lane, key: $("ask-key").value, name: $("ask-name").value.trim() }),
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
  const { order: names } = rig();
  if (names.length) chosen = names[(names.indexOf(chosen) + steps + names.length) % names.length];
  drawFrame();
};

// The lens goes where the pointer is on the ring or the line, while it is pressed.
let isHeld = false;
$("space").addEventListener("pointerdown", (event) => {
  if (event.button) return;
  isHeld = true;
  $("space").setPointerCapture(event.pointerId);
  follow(event);
});
$("space").addEventListener("pointermove", (event) => isHeld && follow(event));
addEventListener("pointerup", () => { isHeld = false; });
addEventListener("pointercancel", () => { isHeld = false; });

function follow(event) {
  const { left, top } = $("space").getBoundingClientRect(), { picture } = rig();
  const point = [event.clientX - left, event.clientY - top];
  const slot = picture.kind === "ring" ? ring.slotAt(point, picture, size) : ranges.slotAt(point, picture, size);
  if (slot === null) return;
  at = slot;
  schedule();
}

$("lens-at").addEventListener("input", () => {
  at = Math.min(rig().picture.space - 1, Math.floor((Number($("lens-at").value) / 1000) * rig().picture.space));
  schedule();
});
const zoom = (factor) => {
  if (!("space" in rig().picture)) return;
  span = Math.max(16, Math.min(rig().picture.space, span * factor));
  schedule();
};
$("lens-in").addEventListener("click", () => zoom(1 / LENS_STEP));
$("lens-out").addEventListener("click", () => zoom(LENS_STEP));

const transport = createTransport({ send: order, current: () => view, redraw: () => drawFrame(true) });
const keys = {
  ...transport, "[": () => move(-1), "]": () => move(1), "+": () => zoom(1 / LENS_STEP), "=": () => zoom(1 / LENS_STEP),
  "-": () => zoom(LENS_STEP), n: newcomer.open,
};

onKeys((event) => {
  const own = keys[event.key.toLowerCase()], verb = own ? null : verbs.byKey(event.key);
  if (event.key === "Escape" && chosen !== null) choose(chosen);
  else if (own) own();
  else if (verb) order($("verbs"), verb.order);
  else return false;
  return true;
});

// -- frames -----------------------------------------------------------------------------------------------------------

const feed = createFeed({
  freshness, notice, near: $("verbs"), current: () => view,
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
