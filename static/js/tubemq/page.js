// The page of a TubeMQ group: takes frames, draws at most once per animation frame, turns presses and forms into
// orders. No rule is worked out here.

import { onLanguage, page, say } from "../base/chrome.js";
import { createCodePane } from "../base/code_pane.js";
import { fillSelect, setAttribute, setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { createRoving } from "../base/roving.js";
import { inTurn, seconds } from "../base/say.js";
import { writeTable } from "../base/table.js";
import { createTabs } from "../base/tabs.js";
import { createThrottle } from "../base/throttle.js";
import { draw } from "../drawing/shapes.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createFeed } from "../lane/feed.js";
import { createOrders } from "../lane/orders.js";
import { createPast } from "../lane/past.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { createLessonStrip } from "../lesson/strip.js";
import { createWhy } from "../why/why.js";
import * as brokers from "./brokers.js";
import { orderOf } from "./calls.js";
import { createCalls } from "./calls_panel.js";
import * as difference from "./difference.js";
import { EXAMPLE } from "./example.js";
import * as first from "./first_record.js";
import { FORMS } from "./forms.js";
import { createOrders as createForms } from "./orders_panel.js";
import { verbsOf } from "./verbs.js";
import { chosenThing, thingAt } from "./why.js";
import {
  brokerWords, clientTable, differenceWords, foldedWords, isServed, ownState, partitionTable, queryTable, ruleWords,
  story, unreadOf, whyWords,
} from "./words.js";

const $ = (id) => document.getElementById(id);
const past = createPast();
const TWINS_EVERY_MS = 1000, LEAST = 300;
const main = $("main"), freshness = createFreshness(), notice = createNotice($("notice")), own = page.tubemq;
const { lane } = own, writeLesson = createLessonStrip(), twinsDue = createThrottle();
const still = matchMedia("(prefers-reduced-motion: reduce)");
const tabs = createTabs($("tabs"), () => drawFrame(true));
const pictures = { difference, brokers }, around = {};
for (const name in pictures) around[name] = createRoving($(name));

let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false;
let client = null, partition = null;

const laneNow = () => view.lanes[lane];
const panel = () => laneNow().tubemq;
const colorOf = (name) => laneNow().consumers[name]?.color ?? view.consumers[name]?.color ?? null;

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => drawFrame());
}

function told(spoken) {
  const [what, means, rank] = story(panel(), view.at_us, spoken);
  return { what, means, rank };
}

function drawFrame(isForced = false) {
  isDirty = false;
  const now = panel(), { at_us: atUs } = view, names = inTurn(Object.keys(now.clients));
  if (!(client in now.clients)) client = names[0] ?? null;
  if (!(partition in now.partitions)) partition = null;
  document.body.toggleAttribute("data-still", still.matches || !view.playing);
  drawRule(now);
  const columns = differenceWords(now, atUs, say);
  drawPicture("difference", now, { words: columns, atUs, selected: client });
  drawHeads(columns);
  drawPicture("brokers", now, { words: brokerWords(now, atUs, say) });
  const { folded } = difference.rowsOf(now.clients, client);
  setText($("folded"), foldedWords(now, folded, say));
  $("folded").hidden = !folded.length;
  if (!$("panel-first").hidden) drawFirst();
  fillSelect($("client"), names.map((name) => [name, name]), client ?? "");
  calls.write(client === null ? null : now.clients[client], Object.keys(now.partitions), client);
  drawWhy(now, atUs);
  verbs.write(verbsOf(laneNow(), client, say));
  forms.write();
  if (ownRule) ownRule.write();
  tabs.offer("tab-own", Boolean(ownRule) && !isServed(now));
  $("served").hidden = !isServed(now);
  $("calls").hidden = $("hint").hidden = $("legend").hidden = isServed(now);
  setText($("difference-title"), say(isServed(now) ? "balance.each_served" : "balance.each"));
  setText($("verbs-about"), client === null ? say("balance.choose") : say("balance.chosen", { consumer: client }));
  frame.draw(isForced === true);
  why.write();
  writeLesson(view);
  twinsDue(() => drawTwins(now, atUs), {
    everyMs: TWINS_EVERY_MS, isForced: isForced || document.body.hasAttribute("data-twins"),
  });
  main.dataset.seq = seq;
  feed.tell();
}

function drawPicture(name, now, given) {
  const svg = $(name), width = widthOf(svg);
  const { shapes, height } = pictures[name].layout(now, { width, colorOf, chosen: partition, ...given });
  size(svg, width, height);
  setAttribute(svg, "aria-label", say(`balance.label.${name}`, {
    clients: Object.keys(now.clients).length, brokers: Object.keys(now.brokers).length,
  }));
  around[name](() => draw(svg, shapes));
}

// As wide as the rows under them, which a scroll bar may narrow.
function drawHeads(words) {
  const width = widthOf($("difference")), { shapes, height } = difference.heads({ width, words });
  size($("difference-heads"), width, height);
  draw($("difference-heads"), shapes);
}

const widthOf = (svg) => Math.max(LEAST, Math.floor(svg.parentElement.clientWidth));

function size(svg, width, height) {
  svg.setAttribute("height", height);
  svg.style.setProperty("width", `${width}px`);
}

// The lane's rules as a switch; the one that holds in words.
function drawRule(now) {
  setText($("formula"), ruleWords(now, say));
  setAttribute($("formula"), "title", ruleWords(now, say));
  const { algorithms, algorithm } = laneNow(), box = $("rules");
  const key = JSON.stringify([algorithms, algorithm, page.language]);
  box.hidden = algorithms.length < 2;
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...algorithms.map(({ id }) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: say(`tubemq.${id}`), title: say(`tubemq.${id}.about`) });
    button.dataset.rule = id;
    button.setAttribute("aria-pressed", String(id === algorithm));
    return button;
  }));
}

// The clients of this lane and of the lab's other TubeMQ lanes.
function lanesOf() {
  const ids = view.lane_order.filter((id) => view.lanes[id].tubemq);
  return ids.map((id) => ({
    id, label: ids.length > 1 ? id : "", waits: first.waits(view.lanes[id].tubemq.clients),
  }));
}

const BOUND = [
  ["cycle", own.cycle_us], ["loser", own.heartbeat_us], ["report", own.heartbeat_us], ["gainer", own.heartbeat_us],
];
const units = () => ({ millisecond: say("millisecond"), second: say("second"), minute: say("minute") });
const firstWords = () => ({
  seconds: (us) => (us === 0 ? `0 ${say("second")}` : seconds(us, units())),
  waiting: (us) => say("balance.waiting", { left_us: Math.max(1, us) }),
  bound: say("balance.bound"),
  atMost: (us) => say("balance.at_most", { left_us: us, most_us: own.event_cycles * own.cycle_us }),
  wait: (what) => say(`balance.wait.${what}`),
  part: (what, us) => say("balance.wait_part", { what: say(`balance.wait.${what}`), part_us: us }),
  apart: (what, us) => say("balance.wait_apart", { what: say(`balance.wait.${what}`), part_us: us }),
  total: BOUND.reduce((sum, [, us]) => sum + us, 0),
});

function drawFirst() {
  const svg = $("first"), width = widthOf(svg);
  const bound = { parts: BOUND.map(([part, us]) => [say(`balance.wait.${part}`), us]) };
  const { shapes, height } = first.layout(lanesOf(), { width, colorOf, bound, words: firstWords() });
  size(svg, width, height);
  setAttribute(svg, "aria-label", say("balance.label.first"));
  draw(svg, shapes);
}

// Of the chosen partition; without one, of the first that is not read.
function drawWhy(now, atUs) {
  const keys = Object.keys(now.partitions), shown = partition ?? unreadOf(now)[0]?.[0] ?? keys[0] ?? "";
  fillSelect($("unread-partition"), keys.map((key) => [key, key]), shown);
  setText($("unread"), shown ? whyWords(now, shown, now.partitions[shown].unread, atUs, say) : "");
}

function drawTwins(now, atUs) {
  const write = (id, table, label) => writeTable($(id), { ...table, offsets: table.rows.map(() => null) }, label);
  write("difference-twin", clientTable(now, atUs, say), say("balance.each"));
  write("brokers-twin", partitionTable(now, atUs, say), say("balance.servers"));
  write("query", queryTable(now, say), say("balance.tab.query"));
  write("first-twin", first.table(lanesOf(), { words: firstWords(), say }), say("balance.tab.first"));
}

// -- what a person does -----------------------------------------------------------------------------------------------

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const command = (near, given) => orders.command(near, { lane, ...given });
const verbs = createVerbs($("verbs"), (verb, near) => command(near, verb.order));
const calls = createCalls($("calls"), $("call"), $("call-answer"), {
  say, fail: orders.fail, canCall: () => client !== null && "tubemq_call" in own.verbs && !isServed(panel()),
  send: (call, args) => orders.send({ lane, ...orderOf(client, call, args) }),
});

const named = (names) => names.map((name) => [name, name]);
const forms = createForms((verb) => $(FORMS[verb].isOfClient ? "client-orders" : "cluster-orders"), $("order"), {
  kinds: own.verbs, fail: orders.fail, say,
  send: (verb, args, near) => {
    const { kind, isOfClient } = FORMS[verb];
    return orders.send({ kind, lane, args, ...(isOfClient ? { consumer: client } : {}) }, near);
  },
  choicesOf: (kind) => ({
    broker: () => named(Object.keys(panel().brokers)),
    master: () => Object.keys(panel().masters).map((name, place) => [String(place + 1), name]),
    partition: () => [["", say("balance.any")], ...named(Object.keys(panel().partitions))],
  })[kind](),
  isOffered: (verb) => isOfferedNow(verb),
});

// What would be refused in any case is not offered.
function isOfferedNow(verb) {
  const now = panel(), known = now.clients[client], offline = Object.values(now.brokers).map(({ state }) => state);
  const masters = Object.values(now.masters), isUp = ({ condition }) => condition === "running";
  if (FORMS[verb].isOfClient && (!known || isServed(now) || known.state === "crashed")) return false;
  return {
    by_rule: () => known.by_hand, confirm: () => known.unconfirmed.length > 0,
    online: () => offline.includes("offline"),
    failover: () => masters.length > 1 && masters.every(isUp),
    master_offline: () => masters.some(isUp), master_online: () => !masters.every(isUp),
    from_max: () => !isServed(now),
  }[verb]?.() ?? true;
}

const ownRule = "tubemq_rule" in own.verbs && createCodePane(
  { source: $("own-source"), run: $("own-run"), back: $("own-back"), words: $("own-words") },
  {
    deploy: (source, near) => orders.send({ kind: "tubemq_rule", lane, args: { source } }, near),
    example: EXAMPLE, onRefused: orders.fail, state: () => ownState(panel().rule, say),
    offWords: own.own_off ? () => say("balance.own.off") : null,
  },
);

function choose(key) {
  partition = partition === key ? null : key;
  drawFrame();
}

for (const name in pictures) $(name).addEventListener("click", (event) => {
  const { part } = event.target.closest("[data-part]")?.dataset ?? {};
  if (!part) return;
  const [what, ...rest] = part.split("/");
  if (what !== "broker") [client] = rest;
  choose(rest.at(-1));
});
$("rules").addEventListener("click", (event) => {
  const { rule } = event.target.closest("[data-rule]")?.dataset ?? {};
  if (rule && rule !== laneNow().algorithm) command(event.target, { kind: "set_algorithm", args: { algorithm: rule } });
});
$("client").addEventListener("change", () => {
  client = $("client").value;
  drawFrame();
});
$("unread-partition").addEventListener("change", () => {
  partition = $("unread-partition").value;
  drawFrame();
});

const move = (steps) => {
  const names = inTurn(Object.keys(panel().clients));
  if (names.length) client = names[(names.indexOf(client) + steps + names.length) % names.length];
  drawFrame();
};
const frame = createFrame({
  send: command, current: () => view, redraw: () => drawFrame(true), notice, lane, past,
  own: told,
  link: {
    read: () => ({ client, partition, tab: tabs.chosen() }),
    show(found) {
      [client, partition] = [found.client ?? client, found.partition ?? null];
      tabs.open(found.tab);
    },
  },
});
// before the page's own keys: Escape closes what is in front first
const why = createWhy({
  current: () => view, past, chosen: () => chosenThing(lane, { partition, client }),
  thingAt: (target) => thingAt(target, lane, panel()),
});
bindKeys([
  { keys: ["["], says: "balance.keys.previous", act: () => move(-1) },
  { keys: ["]"], says: "balance.keys.next", act: () => move(1) },
  { keys: ["escape"], says: "keys.let_go", act: () => partition !== null && (choose(partition), true) },
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

onLanguage(() => drawFrame(true));
addEventListener("resize", schedule);
drawFrame(true);
feed.open();
