// The page of a RabbitMQ server: takes frames, draws at most once per animation frame, turns presses, forms and drags
// into orders, and asks the server where a message would go. No rule is worked out here.

import { onLanguage, page, say } from "../base/chrome.js";
import { fillSelect, setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { createRoving } from "../base/roving.js";
import { writeTable } from "../base/table.js";
import { createThrottle } from "../base/throttle.js";
import { draw } from "../drawing/shapes.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createClients } from "../lane/clients.js";
import { createFeed } from "../lane/feed.js";
import { createNaming, isFolded } from "../lane/fold.js";
import { createOrders } from "../lane/orders.js";
import { createPast } from "../lane/past.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { createLessonStrip } from "../lesson/strip.js";
import { createWhy } from "../why/why.js";
import { createAllowed } from "./allowed.js";
import { consumerRows, verbsOf } from "./consumers.js";
import { createDots } from "./dots.js";
import { createDrag } from "./drag.js";
import { createForms } from "./form_panel.js";
import { SERVER, serverVerbs } from "./forms.js";
import { layout } from "./graph.js";
import { nodesTable } from "./nodes_table.js";
import { byGrowth, queueRows } from "./queues.js";
import { ratesOf, seriesOf } from "./rates.js";
import { createPath } from "./path_panel.js";
import { createRows } from "./rows_table.js";
import { createSeries } from "./series.js";
import { createSent } from "./sent.js";
import { foldedOf, shapeOf, shownOf } from "./shown.js";
import { createTrace } from "./trace_panel.js";
import { createTry } from "./try_panel.js";
import { story, vhostOf } from "./vhosts.js";
import { chosenThing, thingAt } from "./why.js";
import { answerWords, graphWords, mayWords, waysTable } from "./words.js";

const $ = (id) => document.getElementById(id);
const past = createPast();
const TWINS_EVERY_MS = 1000, GRAPH_LEAST = 800, ANSWERS_KEPT = 5;
const main = $("main"), freshness = createFreshness(), notice = createNotice($("notice")), own = page.rabbitmq;
const { lane } = own, still = matchMedia("(prefers-reduced-motion: reduce)");
const series = createSeries($("series"), page.urls.plotly), writeLesson = createLessonStrip();
const twinsDue = createThrottle(), around = createRoving($("graph"));
const moveDots = createDots($("graph"));

let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false;
let vhost = null, user = null, chosen = null, program = null, tried = null, shape = "", order = null;
let answers = [], isOwn = false;

const laneNow = () => view.lanes[lane];
const panel = () => laneNow().rabbitmq;
const naming = createNaming();
const colorOf = (name) => laneNow().consumers[name]?.color ?? view.consumers[name]?.color ?? null;

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => drawFrame());
}

// The virtual host of the story, until a person does something on the page, and whoever publishes there.
function choices() {
  const { vhosts, users } = panel(), before = vhost;
  if (!(vhost in vhosts) || !isOwn) vhost = vhostOf(panel(), vhost);
  if (vhost !== before) [chosen, tried, user] = [null, null, null];
  const [publisher] = Object.values(vhosts[vhost].publishers);
  if (!(user in users)) user = publisher && publisher.user in users ? publisher.user : Object.keys(users)[0];
  fillSelect($("vhost"), Object.keys(vhosts).map((name) => [name, name]), vhost);
  fillSelect($("user"), Object.keys(users).map((name) => [name, name]), user);
}

function told(spoken) {
  const now = panel(), graph = now.vhosts[vhost], rates = now.is_running ? ratesOf(now, vhost) : {};
  const [what, means, rank] = story(now, graph, rates, spoken);
  return { what, means, rank };
}

function drawFrame(isForced = false) {
  isDirty = false;
  choices();
  const now = panel(), graph = now.vhosts[vhost], rates = now.is_running ? ratesOf(now, vhost) : {};
  if (chosen && !(chosen.name in graph[`${chosen.kind}s`])) chosen = null;
  if (program !== null && !(program in laneNow().consumers)) program = null;
  document.body.toggleAttribute("data-still", still.matches || !view.playing);
  document.body.toggleAttribute("data-down", !now.is_running);
  setText($("may"), mayWords(now, user, vhost, say));
  const exchanges = Object.keys(graph.exchanges);
  if (!exchanges.includes($("try-exchange").value)) $("try-exchange").value = "";
  fillSelect($("try-exchange"), exchanges.map((name) => [name, name || say("topology.default")]), firstExchange(graph));
  drawGraph(graph);
  setText($("no-queues"), say("topology.no_queues"));
  $("no-queues").hidden = Object.keys(graph.queues).length > 0;
  writeQueues(queueRows(graph, rates, chosen, say));
  writeConsumers(consumerRows(laneNow(), now, { chosen: program, vhost }, say));
  verbs.write(verbsOf(laneNow(), program, own.verbs, say));
  setText($("verbs-about"), verbsAbout());
  $("consume").hidden = program === null || ["crashed", "gone"].includes(laneNow().consumers[program].state) ||
    isReal(program);
  serverButtons.write(serverVerbs(now).map((id) => ({
    id, text: say(`topology.server.${id}`), about: say(`topology.server_about.${id}`),
  })));
  setText($("server-state"), serverWords(now));
  fillLists(graph);
  writeTrace(now, view.at_us);
  path.follow(now.paths, partOf(graph));
  forms.write();
  allowed.write({ users: now.users, user });
  tryPanel.writeWait();
  const answered = [vhost, user, $("try-exchange").value, exchanges, Object.keys(graph.bindings), now.users];
  tryPanel.follow(JSON.stringify(answered));
  drawSeries(now, graph, rates, isForced);
  frame.draw(isForced === true);
  writeClients();
  why.write();
  writeLesson(view);
  twinsDue(() => drawTwins(), {
    everyMs: TWINS_EVERY_MS, isForced: isForced || document.body.hasAttribute("data-twins"),
  });
  main.dataset.seq = seq;
  feed.tell();
}

// The exchange whose keys a person would restrict: the one that is tried, else the first topic exchange that is bound.
function topicExchange({ exchanges, bindings }, tried) {
  const topics = Object.keys(exchanges).filter((name) => exchanges[name].type === "topic");
  const isBound = (name) => Object.values(bindings).some(({ source }) => source === name);
  return topics.includes(tried) ? tried : (topics.find(isBound) ?? topics[0] ?? "");
}

// The chosen node, with the program that a publisher or consumer is.
const partOf = (graph) => chosen && { ...chosen, program: graph[`${chosen.kind}s`][chosen.name].name };

// What a key is tried on first: the exchange of a person's own that has most bindings.
function firstExchange(graph) {
  const current = $("try-exchange").value;
  if (current in graph.exchanges && $("try-exchange").dataset.vhost === vhost) return current;
  $("try-exchange").dataset.vhost = vhost;
  const bound = (name) => Object.values(graph.bindings).filter(({ source }) => source === name).length;
  const published = Object.values(graph.publishes).map(({ exchange }) => exchange);
  const isOwn = (name) => published.includes(name) || (name && !name.startsWith("amq."));
  const mine = Object.keys(graph.exchanges).filter(isOwn);
  return mine.reduce((best, name) => (best !== null && bound(best) >= bound(name) ? best : name), null) ?? "";
}

function drawGraph(graph) {
  const isTried = tryPanel.isTyped() && tried?.exchange === $("try-exchange").value;
  const named = isFolded(laneNow()) ? naming(lane, view, program).picture : null;
  const shownGraph = foldedOf(shownOf(graph, isTried ? [tried.exchange] : []), named);
  const next = vhost + shapeOf(shownGraph);
  if (next !== shape) order = null;
  shape = next;
  const width = Math.max(GRAPH_LEAST, Math.floor($("graph").parentElement.clientWidth));
  const matches = isTried ? new Set(tried.rows.filter((row) => row.is_match).map((row) => row.binding)) : null;
  const picture = layout(shownGraph, {
    width, colorOf, words: graphWords(say), chosen, order: order ?? undefined,
    tried: isTried ? { source: tried.exchange, matches } : null, lit: path.lit(),
  });
  order = picture.order;
  const svg = $("graph");
  svg.setAttribute("height", picture.height);
  svg.style.setProperty("width", `${width}px`);
  svg.setAttribute("aria-label", say("topology.graph_label", {
    exchanges: Object.keys(shownGraph.exchanges).length, queues: Object.keys(graph.queues).length,
    consumers: Object.keys(graph.consumers).length,
  }));
  around(() => draw(svg, picture.shapes));
  moveDots(shownGraph, panel().paths, picture.ways, { isStill: still.matches || !view.playing || document.hidden });
}

function serverWords({ is_running: isRunning, alarms, connections }) {
  if (!isRunning) return say("topology.server_down");
  const names = alarms.map((one) => say(`topology.resource.${one}`)).join(say("list.comma"));
  const count = Object.keys(connections).length;
  return alarms.length ? say("topology.server_alarm", { names, count }) : say("topology.server_up", { count });
}

const isReal = (name) => Boolean(laneNow().consumers[name].is_real);

function verbsAbout() {
  if (program === null) return say(laneNow().is_open ? "client.none_own" : "topology.choose");
  return say(isReal(program) ? "client.own_code" : "topology.chosen", { consumer: program });
}

function fillLists(graph) {
  const lists = { queues: Object.keys(graph.queues), exchanges: Object.keys(graph.exchanges).filter(Boolean) };
  lists.all = [...lists.queues, ...lists.exchanges];
  for (const [name, all] of Object.entries(lists)) {
    const list = $(`list-${name}`), key = JSON.stringify(all);
    if (list.dataset.key === key) continue;
    list.dataset.key = key;
    list.replaceChildren(...all.map((one) => new Option(one, one)));
  }
}

// Of the chosen queue, else of the one that grows most.
function drawSeries(now, graph, rates, isForced) {
  const name = chosen?.kind === "queue" ? chosen.name : byGrowth(graph, rates)[0]?.name;
  setText($("series-of"), name === undefined ? say("topology.no_queues") : say("topology.series_of", { queue: name }));
  $("series-wait").hidden = name === undefined;
  series(name === undefined ? [] : seriesOf(now.history, vhost, name), { say, key: `${vhost}\n${name}`, isForced });
}

function drawTwins() {
  const shownGraph = shownOf(panel().vhosts[vhost]);
  const write = (id, table, label) => writeTable($(id), { ...table, offsets: table.rows.map(() => null) }, label);
  write("nodes-twin", nodesTable(shownGraph, say), say("topology.nodes"));
  write("graph-twin", waysTable(shownGraph, say), say("topology.graph"));
}

function drawAnswers() {
  $("answers").replaceChildren(...answers.map((event) => {
    const { text, isBad } = answerWords(event, say);
    return Object.assign(document.createElement("li"), { textContent: text, className: isBad ? "bad" : "" });
  }));
}

// -- what a person does -----------------------------------------------------------------------------------------------

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const writeClients = createClients($, { orders, notice, current: () => ({ view, lane, panel: panel() }) });
const send = (command) => orders.send({ lane, ...command });
const sent = createSent({
  send,
  refuse: (event) => notice(say("notice.refused", { reason: event.data.words[page.language] }), { near: $("verbs") }),
});
const command = (near, given) => orders.command(near, { lane, ...given });
const context = () => ({ vhost, user });
const named = (names) => names.map((name) => [name, name]);
const choicesOf = (name) => ({
  types: named(own.types), users: named(Object.keys(panel().users)), vhosts: named(Object.keys(panel().vhosts)),
  settles: own.settles.map((one) => [one, say(`topology.settles.${one}`)]),
  destinations: ["queue", "exchange"].map((one) => [one, say(`topology.destination.${one}`)]),
})[name];

const verbs = createVerbs($("verbs"), (verb, near) => command(near, verb.order));
const serverButtons = createVerbs($("server"), ({ id }, near) => {
  const [kind, args] = SERVER[id];
  command(near, { kind: `rabbitmq_${kind}`, args });
});
// What a user may do now, so that a form begins with it. values: what is chosen already.
function knownOf(verb, values) {
  const of = { user, vhost, ...values }, known = panel().users[of.user] ?? {};
  const { permissions, topic_permissions: topics, tags = [] } = known;
  if (verb === "change_user") return { user: of.user, password: "", tags: tags.join(" ") };
  if (verb === "permissions") return { ...of, ...(permissions?.[of.vhost] ?? { configure: "", write: "", read: "" }) };
  if (verb !== "topic_permissions") return {};
  const exchange = of.exchange ?? topicExchange(panel().vhosts[of.vhost], $("try-exchange").value);
  return { ...of, exchange, ...(topics?.[of.vhost]?.[exchange] ?? { write: ".*", read: ".*" }) };
}
const forms = createForms($("orders"), $("order"), {
  kinds: own.verbs, sent, fail: orders.fail, choicesOf, context, knownOf, isPaused: () => !view.playing, say,
  language: () => page.language,
});
const allowed = createAllowed($, {
  url: own.allowed, operations: own.operations, context: () => ({ lane, vhost }), say,
});
const tryPanel = createTry($, {
  url: own.try, sent, fail: orders.fail, say, isPaused: () => !view.playing, language: () => page.language,
  context: () => ({
    lane, vhost, user, alternateOf: (name) => panel().vhosts[vhost].exchanges[name]?.alternate ?? "",
  }),
  show(found) {
    tried = found;
    schedule();
  },
});
const writeTrace = createTrace($, { send, fail: orders.fail, say });
const path = createPath($, {
  url: own.path, context: () => ({ lane, vhost }), show: schedule, say,
  typeOf: (exchange) => panel().vhosts[vhost].exchanges[exchange]?.type ?? null,
});
const headsOf = (columns) => columns.map((one) => say(`topology.head_of.${one}`));
const writeQueues = createRows($("queues"), {
  heads: () => headsOf(["queue", "kind", "ready", "unacked", "in", "acked", "consumers", "why"]),
  colorOf, onChoose: (name) => choose("queue", name),
});
const writeConsumers = createRows($("consumers"), {
  heads: () => headsOf(["consumer", "queue", "state", "prefetch", "unacked", "acked"]),
  colorOf,
  onChoose(name) {
    program = program === name ? null : name;
    drawFrame();
  },
});

function choose(kind, name) {
  chosen = chosen?.kind === kind && chosen.name === name ? null : { kind, name };
  if (chosen?.kind === "consumer") program = panel().vhosts[vhost].consumers[name]?.name ?? program;
  if (chosen?.kind === "exchange") {
    $("try-exchange").value = name;
    tried = null;
  }
  drawFrame();
}

$("graph").addEventListener("click", (event) => {
  const { part, way, message } = event.target.closest("[data-part],[data-way]")?.dataset ?? {};
  if (way) path.find(message === undefined ? { way } : { message });
  else if (part) choose(part.slice(0, part.indexOf(":")), part.slice(part.indexOf(":") + 1));
});
createDrag($("graph"), ({ source, kind, destination }) =>
  forms.open("bind", { source, destination, destination_type: kind, routing_key: $("try-key").value }));

$("consume-ack").append(...own.acks.map((one) => new Option(one, one)));
$("consume").addEventListener("submit", (event) => {
  event.preventDefault();
  const args = { ack: $("consume-ack").value };
  if ($("consume-prefetch").value !== "") args.prefetch = Number($("consume-prefetch").value);
  command($("consume"), { kind: "rabbitmq_consume", consumer: program, args });
});
for (const kind of ["click", "input"]) main.addEventListener(kind, () => { isOwn = true; }, { capture: true });
$("vhost").addEventListener("change", () => {
  [vhost, chosen, tried, user] = [$("vhost").value, null, null, null];
  path.clear();
  drawFrame(true);
});
$("user").addEventListener("change", () => {
  user = $("user").value;
  drawFrame(true);
});
$("edit-permissions").addEventListener("click", () => forms.open("permissions", knownOf("permissions", {})));
$("edit-topics").addEventListener("click", () => forms.open("topic_permissions", knownOf("topic_permissions", {})));
$("try-exchange").addEventListener("change", () => {
  tried = null;
  schedule();
});

const move = (steps) => {
  const { order: names } = laneNow();
  if (names.length) program = names[(names.indexOf(program) + steps + names.length) % names.length];
  drawFrame();
};
const frame = createFrame({
  send: command, current: () => view, redraw: () => drawFrame(true), notice, lane, past,
  own: told,
  link: {
    read: () => ({ vhost, program, chosen: chosen && `${chosen.kind}:${chosen.name}` }),
    show(found) {
      [vhost, isOwn, program] = [found.vhost ?? vhost, "vhost" in found || isOwn, found.program ?? null];
      const [, kind, name] = /^([^:]+):(.*)$/su.exec(found.chosen ?? "") ?? [];
      chosen = kind ? { kind, name } : null;
    },
  },
});
// before the page's own keys: Escape closes what is in front first
const ofHost = () => ({ vhost, graph: panel().vhosts[vhost] });
const why = createWhy({
  current: () => view, past, chosen: () => chosenThing(lane, { chosen, program, ...ofHost() }),
  thingAt: (target) => thingAt(target, lane, ofHost()),
});
bindKeys([
  { keys: ["/"], says: "topology.keys.routing_key", act: () => $("try-key").focus() },
  { keys: ["m"], says: "topology.keys.way", act: () => path.find({}) },
  { keys: ["["], says: "keys.previous_consumer", act: () => move(-1) },
  { keys: ["]"], says: "keys.next_consumer", act: () => move(1) },
  { keys: ["escape"], says: "keys.let_go", act: letGo },
]);
bindKeys(verbs.bindings);

function letGo() {
  if (chosen) choose(chosen.kind, chosen.name);
  else if (path.isOpen()) path.clear();
  else return false;
  return true;
}

// -- frames -----------------------------------------------------------------------------------------------------------

const feed = createFeed({
  freshness, notice, past, near: $("verbs"), current: () => view, hear: sent.hear,
  take(newView, newSeq, events) {
    [view, seq] = [newView, newSeq];
    const told = events.filter((event) => event.lane === lane && answerWords(event, say));
    if (told.length) {
      answers = [...told.reverse(), ...answers].slice(0, ANSWERS_KEPT);
      drawAnswers();
    }
    schedule();
  },
});

function speakChoices() {
  for (const option of $("consume-ack").options) option.textContent = say(`topology.ack.${option.value}`);
}

onLanguage(() => {
  speakChoices();
  drawAnswers();
  tryPanel.redraw();
  path.redraw();
  for (const select of document.querySelectorAll("select[data-key]")) select.dataset.key = "";
  drawFrame(true);
});
addEventListener("resize", schedule);
speakChoices();
drawFrame(true);
feed.open();
