// The page of a consumer group: takes frames, draws at most once per animation frame, and turns presses and keys into
// commands.

import { onLanguage, page, say } from "../base/chrome.js";
import { createCodePane } from "../base/code_pane.js";
import { readComparison, startComparison } from "../base/commands.js";
import { setTerm, setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { createRoving } from "../base/roving.js";
import { NONE, clock, number } from "../base/say.js";
import { writeTable } from "../base/table.js";
import { createThrottle } from "../base/throttle.js";
import { draw } from "../drawing/shapes.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createFeed } from "../lane/feed.js";
import { createNaming, isFolded as isCrowd, restWords } from "../lane/fold.js";
import { logAddress } from "../lane/log_links.js";
import { createOrders } from "../lane/orders.js";
import { overloadWords } from "../lane/overload.js";
import { createPast } from "../lane/past.js";
import { createRoster } from "../lane/roster.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { createLessonStrip } from "../lesson/strip.js";
import { createWhy } from "../why/why.js";
import { createAtPartition } from "./at_partition.js";
import { createByPattern } from "./by_pattern.js";
import { createComparison, ownRow } from "./comparison.js";
import { EXAMPLE } from "./example.js";
import * as grid from "./grid.js";
import * as machine from "./machine.js";
import { COORDINATOR, createMembers, inOrder, rowsOf, stillChosen } from "./members.js";
import { createMessage } from "./message.js";
import { createMore } from "./more.js";
import { othersTable } from "./others.js";
import { moment } from "./rows.js";
import { layout as sequence, needed } from "./sequence.js";
import { membersTable, messagesTable, partitionsTable, statesList } from "./tables.js";
import { lagsOf } from "./trend.js";
import { chosenWords, verbsOf } from "./verbs.js";
import { chosenThing, thingAt } from "./why.js";
import { epochWords, findingsOf, gridWords, ownState, story, sub } from "./words.js";

const $ = (id) => document.getElementById(id);
const past = createPast();
const TALL = 580, TALL_PHONE = 520, SHORT = 300, LEAST_WIDE = 260, TWINS_EVERY_MS = 1000, GRID_EVERY_MS = 250;
const MANY = 24, OFFSETS_TOPIC = "__consumer_offsets";
const main = $("main"), picture = $("sequence"), freshness = createFreshness(), notice = createNotice($("notice"));
const pass = machine.createPast();
const still = matchMedia("(prefers-reduced-motion: reduce)"), { lane, machines, own_off: isOwnOff } = page.groups;
const around = createRoving(picture, '[role="button"]', ["Enter", " "]);
const writeMessage = createMessage($("message"), {
  title: $("message-title"), about: $("message-about"), code: $("message-code"), times: $("message-times"),
  asked: $("message-asked"), answered: $("message-answered"), askedHead: $("message-asked-head"),
  answeredHead: $("message-answered-head"),
});

const moreMembers = createMore(picture.parentElement, $("sequence-more"), (count) =>
  say("groups.more_members", { count }),
);
const moreFigures = createMore($("grid").parentElement, $("grid-more"), (count) =>
  say("groups.more_figures", { count }),
);
const writeLesson = createLessonStrip(), gridDue = createThrottle(), twinsDue = createThrottle();
let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false;
let tall = 0, consumer = null, chosen = null, isFolded = true, looked = null, kept = null;

const group = () => ({ ...view.lanes[lane].group, also: view.lanes[lane].group_topics });
const health = () => view.lanes[lane].group_health;
const isPhone = () => innerWidth <= 640;
// no width at all while tables are shown in its place
const roomOf = (svg) => Math.max(LEAST_WIDE, Math.floor(svg.parentElement.clientWidth));

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => drawFrame());
}

// The log in which the group's coordinator keeps it: on the broker that leads that partition.
function linkOffsets({ coordinator, offsets_partition: partition }) {
  const link = $("to-offsets");
  link.hidden = coordinator === null || partition === null;
  if (link.hidden) return;
  const href = logAddress($("to-log").href, { broker: coordinator, topic: OFFSETS_TOPIC, partition });
  if (link.href !== href) link.href = href;
}

function drawFrame(isForced = false) {
  isDirty = false;
  const now = group();
  chosen = stillChosen(chosen, consumer, now);
  consumer = now.members[chosen]?.consumer ?? null;
  document.body.toggleAttribute("data-still", still.matches || !view.playing);
  document.body.dataset.protocol = now.protocol;
  setText($("sub"), sub(now, say));
  linkOffsets(now);
  drawSequence(now);
  drawStates(now);
  drawMembers(now);
  drawFindings(now);
  own.write();
  gridDue(() => drawGrid(group()), {
    everyMs: GRID_EVERY_MS, isForced: isForced || Object.keys(now.partitions).length <= MANY,
  });
  drawMessage(now);
  frame.draw(isForced === true);
  why.write();
  writeLesson(view);
  twinsDue(() => {
    drawTables(group());
    drawOthers(group());
  }, { everyMs: TWINS_EVERY_MS, isForced });
  main.dataset.seq = seq;
  feed.tell();
}

function drawOthers(now) {
  const isAlone = Object.keys(now.groups ?? {}).length === 0;
  $("others-panel").hidden = isAlone;
  if (!isAlone) writeTable($("others"), othersTable(now, health()?.lag ?? null, say), say("groups.others"));
}

function drawSequence(now) {
  const shown = {
    consumers: view.consumers, available: roomOf(picture), isPhone: isPhone(), isFolded, atUs: view.at_us, say,
    named: namedNow(),
  };
  // It grows with what is said, and never shrinks: what stands below would jump.
  const isLow = document.body.hasAttribute("data-projector") && innerHeight <= 800;
  tall = Math.max(tall, Math.min(isPhone() ? TALL_PHONE : TALL, Math.max(SHORT, needed(now, shown))));
  const height = isLow ? SHORT : tall;                     // a low room has the newest messages, in larger letters
  // In the past there may be less than what is there now: it stands at the top.
  const drawn = past.isLooking() && !isLow ? Math.min(tall, Math.max(SHORT, needed(now, shown))) : height;
  const made = sequence(now, { ...shown, height: drawn, chosen: looked ?? kept });
  picture.style.setProperty("width", `${made.width}px`);
  picture.setAttribute("height", height);
  picture.setAttribute("aria-label", say("groups.sequence_label"));
  around(() => draw(picture, made.shapes));
  moreMembers(made.columns);
  const count = made.others.length;
  $("sequence-others").hidden = !setText($("sequence-others"), count ? say("groups.others_column", { count }) : "");
}

// Of a crowd: those in the list, and those that the Stage's picture names.
function namedNow() {
  if (!isCrowd(view.lanes[lane])) return [];
  const { rows, picture } = naming(lane, view, consumer);
  return [...new Set([...rows, ...picture])];
}

function drawGrid(now) {
  const svg = $("grid");
  const made = grid.layout(now, {
    members: inOrder(now, view.consumers), consumers: view.consumers, available: roomOf(svg), isPhone: isPhone(),
    atUs: view.at_us, health: health(), lags: lagsOf(health()), say,
  });
  svg.setAttribute("height", grid.height(now));
  svg.style.setProperty("width", `${made.width}px`);
  svg.setAttribute(
    "aria-label",
    setText(
      $("grid-words"),
      gridWords(now, health(), say, {
        lags: lagsOf(health()), overload: overloadWords(view.lanes[lane], view.workload.rate, say),
      }),
    ),
  );
  draw(svg, made.shapes);
  moreFigures(made.figures);
}

function drawStates(now) {
  const known = machines[now.protocol], svg = $("machine"), past = pass(known, now.state);
  svg.setAttribute("height", machine.height(known));
  svg.setAttribute(
    "aria-label",
    now.state === null ? say("groups.unknown") : say("groups.state_now", { state: now.state }),
  );
  draw(svg, machine.layout(known, now.state, { width: roomOf(svg), past, say }));
  if (past.length && view.playing) setTimeout(schedule, 600);
  const figures =
    now.protocol === "consumer"
      ? [
          ["group_epoch", now.generation, false],
          [
            "assignment_epoch", now.assignment_epoch,
            now.assignment_epoch !== null && now.assignment_epoch < now.generation,
          ],
          ["member_epoch", spread(now), isSpread(now)],
        ]
      : [["generation", now.generation, false]];
  const key = JSON.stringify([figures, page.language]);
  if ($("epochs").dataset.key !== key) {
    $("epochs").dataset.key = key;
    $("epochs").replaceChildren(...figures.map(([code, value, isBehind]) => {
      const box = document.createElement("div");
      box.className = isBehind ? "behind" : "";
      const word = Object.assign(document.createElement("span"), {
        className: "s m", textContent: say(`groups.${code}`),
      });
      setTerm(word, code);
      box.append(
        Object.assign(document.createElement("b"), {
          textContent: value === null ? NONE : typeof value === "number" ? number(value) : value,
        }),
        word,
      );
      return box;
    }));
  }
  setText($("epoch-words"), epochWords(now, say));
}

// The members' epochs, from the lowest to the highest; without -2, which says that a static member is away.
function spread(now) {
  const epochs = Object.values(now.members).map(({ epoch }) => epoch).filter((epoch) => epoch !== null && epoch >= 0);
  const low = Math.min(...epochs), high = Math.max(...epochs);
  return epochs.length ? (low === high ? number(low) : `${number(low)}–${number(high)}`) : "–";
}

const isSpread = (now) => Object.values(now.members).some(({ epoch }) => epoch !== null && epoch < now.generation);

function drawMembers(now) {
  const own = view.lanes[lane], listed = isCrowd(own) ? naming(lane, view, consumer).rows : own.order;
  // A program that the lane has forgotten is counted nowhere else.
  const isListed = (name) => listed.includes(name) || !(name in own.consumers);
  writeMembers(rowsOf(now, view.consumers, say, isListed), chosen, say);
  $("all-consumers").hidden = !setText($("all-consumers"), restWords(own, listed, say));
  roster.write();
  const member = now.members[chosen];
  byPattern.write(member?.verbs.includes("group_subscribe") ? member : null);
  writeVerbs();
  writeAtPartition(now, chosen);
  setText(
    $("at-partition-of"),
    member?.partition_verbs?.length
      ? say("groups.at_partition_of", { member: member.consumer })
      : say("groups.at_partition"),
  );
  setText($("verbs-about"), chosenWords(now, chosen, say));
}

const writeVerbs = () => verbs.write(verbsOf(group(), view.lanes[lane].cluster, chosen, say, byPattern.isOpen()));

function drawFindings(now) {
  const found = findingsOf(now, health(), view.at_us, say), key = JSON.stringify([found, page.language]);
  const list = $("findings");
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const rows = found.length ? found : [{ text: say("groups.finding.none"), until: "", cure: "" }];
  list.replaceChildren(...rows.map(({ text, until, cure }) => {
    const item = document.createElement("li");
    item.append(text);
    for (const [className, more] of [["m", until], ["cure", cure]]) {
      if (!more) continue;
      item.append(
        /[。）]$/.test(item.textContent) ? "" : " ",
        Object.assign(document.createElement("span"), { className, textContent: more }),
      );
    }
    return item;
  }));
}

// What is pointed at, else what was pressed last, as long as it is in the chart.
function drawMessage(now) {
  const at = looked ?? kept, dot = at === null ? null : picture.querySelector(`[data-exchange="${at}"]`);
  writeMessage(at === null ? null : now.exchanges[at] ?? null, dot, now, moment, say);
}

function drawTables(now) {
  const write = (id, table, label) => writeTable($(id), { ...table, offsets: table.rows.map(() => null) }, label);
  write("sequence-twin", messagesTable(now, say), say("groups.sequence"));
  write("members-twin", membersTable(now, view.consumers, view.at_us, say), say("groups.members"));
  write("grid-twin", partitionsTable(now, health(), lagsOf(health()), say), say("groups.grid"));
  const states = statesList(machines[now.protocol], now.state, say);
  if ($("machine-twin").textContent !== states.join("")) {
    $("machine-twin").replaceChildren(
      ...states.map((textContent) => Object.assign(document.createElement("li"), { textContent })),
    );
  }
}

// -- what a person does -----------------------------------------------------------------------------------------------

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const order = (near, command) => orders.command(near, { lane, ...command });
const press = (verb, near) =>
  verb.order === null ? byPattern.press(group().members[chosen]) : order(near, verb.order);
const verbs = createVerbs($("verbs"), press);
const byPattern = createByPattern($("by-pattern"), $("verbs"), {
  send: (one) => orders.send({ lane, ...one }, $("by-pattern")), fail: orders.fail, onShow: () => writeVerbs(),
});
const writeAtPartition = createAtPartition($("at-partition"), {
  send: (one) => orders.send({ lane, ...one }, $("at-partition")), fail: orders.fail, say,
});
const writeMembers = createMembers($("members"), choose);
const naming = createNaming(), roster = createRoster($("roster"), {
  current: () => view, selectedOf: () => consumer,
  onSelect(_lane, name) {
    chosen = inOrder(group(), view.consumers).find(([, member]) => member.consumer === name)?.[0] ?? null;
    drawFrame();
  },
});
$("all-consumers").addEventListener("click", () => roster.show(lane));

function choose(key) {
  chosen = chosen === key ? null : key;
  drawFrame();                                          // at once: the next key is about whom has just been chosen
}

const exchangeOf = (target) => target.closest?.("[data-exchange]")?.dataset.exchange ?? null;
function look(number_) {
  if (looked === number_) return;
  looked = number_;
  schedule();
}
picture.addEventListener("pointerover", (event) => look(exchangeOf(event.target)));
picture.addEventListener("pointerleave", () => look(null));
// On its box: a drawing that listens for the focus itself becomes its own tab stop in Chromium.
picture.parentElement.addEventListener("focusin", (event) => look(exchangeOf(event.target)));
picture.parentElement.addEventListener("focusout", () => look(null));
picture.addEventListener("click", (event) => {
  const number_ = exchangeOf(event.target);
  if (number_ === null && kept === null) return;
  kept = kept === number_ ? null : number_;
  schedule();
});

function fold() {
  isFolded = !isFolded;
  $("fold").setAttribute("aria-pressed", String(isFolded));
  drawFrame(true);
}

const frame = createFrame({
  send: order, current: () => view, redraw: () => drawFrame(true), notice, lane, past,
  own: (spoken) => story(group(), spoken),
  link: {
    read: () => ({ chosen, unfolded: isFolded ? "" : "1" }),
    show(found) {
      chosen = found.chosen ?? null;
      if (found.unfolded && isFolded) fold();
    },
  },
});
$("fold").addEventListener("click", fold);

// before the page's own keys: Escape closes what is in front first
const why = createWhy({
  current: () => view, past, chosen: () => chosenThing(lane, group(), chosen),
  thingAt: (target) => thingAt(target, lane, group()),
});
bindKeys([
  ...Array.from({ length: 9 }, (_, place) => ({
    keys: [String(place + 1)], act: () => chooseByNumber(place + 1), ...(place ? {} : { says: "groups.keys.member" }),
  })),
  { keys: ["c"], says: "groups.keys.coordinator", act: () => choose(COORDINATOR) },
  { keys: ["f"], says: "groups.fold", act: fold },
  { keys: ["escape"], says: "keys.let_go", act: letGo },
]);
bindKeys(verbs.bindings);

function letGo() {
  if (chosen === null && kept === null) return false;
  [chosen, kept] = [null, null];
  schedule();
  return true;
}

function chooseByNumber(place) {
  const found = inOrder(group(), view.consumers)[place - 1];
  if (found) choose(found[0]);
}

// -- frames -----------------------------------------------------------------------------------------------------------

const feed = createFeed({
  freshness, notice, past, near: $("verbs"), current: () => view,
  take(newView, newSeq) {
    [view, seq] = [newView, newSeq];
    schedule();
  },
});

const comparison = createComparison(
  { button: $("compare"), words: $("compare-words"), table: $("compare-table") },
  {
    read: () => readComparison(page), start: () => startComparison(page), onRefused: orders.fail, say, clock,
    own: () => ownRow(group(), view.lanes[lane].algorithm),
  },
);

const own = createCodePane(
  { source: $("own-source"), run: $("own-run"), back: $("own-back"), words: $("own-words") },
  {
    deploy: (source, near) => orders.send({ lane, kind: "group_assignor", args: { source } }, near),
    example: EXAMPLE, onRefused: orders.fail, state: () => ownState(view.lanes[lane], say),
    offWords: isOwnOff ? () => say("groups.own.off") : null,
  },
);

onLanguage(() => {
  drawFrame(true);
  comparison.draw();
});
addEventListener("resize", schedule);
drawFrame(true);
feed.open();
