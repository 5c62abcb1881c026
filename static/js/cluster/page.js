// The cluster page: takes frames, draws at most once per animation frame, and turns presses, keys and strokes across
// links into commands.

import { onLanguage, page, say } from "../base/chrome.js";
import { setAttribute, setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { createRoving } from "../base/roving.js";
import { writeTable } from "../base/table.js";
import { createThrottle } from "../base/throttle.js";
import { draw } from "../drawing/shapes.js";
import { createFreshness } from "../feed/freshness.js";
import { createFrame } from "../frame/frame.js";
import { createFeed } from "../lane/feed.js";
import { writeLogLinks } from "../lane/log_links.js";
import { createOrders } from "../lane/orders.js";
import { createPast } from "../lane/past.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { createLessonStrip } from "../lesson/strip.js";
import { createWhy } from "../why/why.js";
import { createCanvas } from "./canvas.js";
import { createCards } from "./cards.js";
import { createDied, diedLine } from "./died.js";
import * as map from "./map.js";
import { heardBy } from "./names.js";
import { createOperator } from "./operator.js";
import { brokerOf } from "./partition.js";
import { createPartitionChoice } from "./partition_choice.js";
import * as producer from "./producer.js";
import { createSeries, rowsOf as samplesOf } from "./series.js";
import { createSizes } from "./sizes.js";
import { copiesTable, linksList, nodesTable, partitionsTable } from "./tables.js";
import { chosenTitle, chosenWords, verbsOf } from "./verbs.js";
import { chosenThing, thingAt } from "./why.js";
import { partitionShort, partitionWords, story, sub } from "./words.js";

const $ = (id) => document.getElementById(id);
const past = createPast();
const TWINS_EVERY_MS = 1000, MAP_EVERY_MS = 400, PHONE = 640;
const main = $("main"), freshness = createFreshness(), notice = createNotice($("notice"));
const still = matchMedia("(prefers-reduced-motion: reduce)"), lane = page.cluster.lane;
const isStill = () => still.matches || !view.playing;
const aroundMap = createRoving($("map"), '[role="button"]', ["Enter"]);
const sizeOf = createSizes(schedule);
const series = createSeries($("series"), page.urls.plotly), cards = createCards($("cards-panel"), $("cards"));
const writeDied = createDied($("died"));

const writeLesson = createLessonStrip(), mapDue = createThrottle(), twinsDue = createThrottle();
let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false, mapShown = null;
const query = new URLSearchParams(location.search);
let name = query.get("partition"), chosen = query.get("chosen");
let areLinksOpen = false;
let awaited = null;                                    // the first partition of a topic that was just ordered

const cluster = () => view.lanes[lane].cluster;
const canvases = [...document.querySelectorAll("[data-canvas]")].map((card) => {
  const id = card.dataset.canvas, svg = card.querySelector("svg");
  const made = createCanvas(svg, {
    isStill, onPress: (part, near) => (id === lane ? press(part, near) : goTo(id, part.part ?? null)),
    onStroke: (keys) => id === lane && cutOrHeal(keys, svg),
  });
  return { id, card, svg, ...made };
});

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(drawFrame);
}

// Whether a node, or the link of a key, is still there.
const isThere = (now, part) =>
  part === "controller" || part in now.links || part in now.clients || part.slice(part.indexOf("-") + 1) in now.brokers;

function drawFrame(isForced = false) {
  isDirty = false;
  const now = cluster();
  if (awaited in now.partitions) [name, awaited] = [awaited, null];
  if (!(name in now.partitions)) name = Object.keys(now.partitions)[0] ?? null;
  if (chosen !== null && !isThere(now, chosen)) chosen = null;
  document.body.toggleAttribute("data-still", isStill());
  setText($("sub"), sub(now, say));
  drawHead(now);
  for (const each of canvases) drawCanvas(each);
  mapDue(() => drawMap(cluster()), { everyMs: MAP_EVERY_MS, isForced: isForced === true || name !== mapShown });
  mapShown = name;
  writeDied(now, brokerOf(chosen, now.partitions[name]), name, say);
  verbs.write(verbsOf(now, chosen, say, areLinksOpen));
  setText($("verbs-title"), chosenTitle(chosen, say));
  setText($("verbs-about"), chosenWords(now, chosen, say));
  $("verbs-panel").toggleAttribute("data-chosen", chosen !== null);
  operator.write(now, name);
  drawProducer(now);
  cards.write(now.faults ?? [], say);
  frame.draw(isForced === true);
  why.write();
  setText($("series-title"), name === null ? "" : say("cluster.series", { partition: name }));
  writeLesson(view);
  twinsDue(() => drawTables(cluster()), { everyMs: TWINS_EVERY_MS, isForced: isForced === true });
  series(name === null ? [] : samplesOf(now.history, name), name ?? "", { say, isForced: isForced === true });
  main.dataset.seq = seq;
  feed.tell();
}

// The lane's own partition of that name where lanes stand side by side, else its first.
const nameIn = ({ partitions }) => (name in partitions ? name : Object.keys(partitions)[0] ?? null);

function drawHead(now) {
  choice.write(Object.keys(now.partitions), name);
  setText($("large-title"), name ?? "");
  const large = name === null ? null : now.partitions[name];
  setText($("large-short"), large ? partitionShort(large, say) : "");
  setText($("large-words"), large ? partitionWords(large, say) : "");
  setText($("controller-words"), say("cluster.hears", { brokers: heardBy(now).join(say("list.comma")) }));
  setAttribute($("controller-choice"), "aria-pressed", String(chosen === "controller"));
  if (large) writeLogLinks($("copy-logs"), { name, copies: large.copies, href: $("to-log").href, say });
}

function drawCanvas({ id, card, svg, draw: drawLane }) {
  const of = view.lanes[id], { width, height } = sizeOf(svg.parentElement), isOwn = id === lane;
  if (!width) return;
  const shown = nameIn(of.cluster), line = card.querySelector("[data-died]");
  if (line) setText(line, diedLine(of.cluster, brokerOf(isOwn ? chosen : null, of.cluster.partitions[shown]), shown,
    say));
  drawLane(view, of, { width, height, hasClients: innerWidth > PHONE }, {
    name: shown, chosen: isOwn ? chosen : null, shown: producerName(of.cluster, isOwn ? chosen : null), say,
  });
}

function drawMap(now) {
  const { width } = sizeOf($("map").parentElement);
  setAttribute($("map"), "height", map.height(Object.keys(now.partitions), width));
  setAttribute($("map"), "aria-label", say("cluster.map_label"));
  aroundMap(() => draw($("map"), map.layout(now, { width, chosen: name, say })));
  const words = Object.entries(now.counts).map(([state, count]) => `${state}/${count}/${page.language}`).join();
  if ($("legend").dataset.key === words) return;
  $("legend").dataset.key = words;
  const counted = Object.entries(now.counts).filter(([, count]) => count);
  $("legend").replaceChildren(...counted.map(([state, count]) => {
    const item = document.createElement("span"), mark = document.createElement("i");
    mark.className = state;
    item.append(mark, `${count} ${say(`cluster.state.${state}`)}`);
    return item;
  }));
}

// The producer that is chosen, else the lane's own.
const producerName = (now, part) => (part in now.producers ? part : Object.keys(now.producers)[0]);

function drawProducer(now) {
  const first = now.producers[producerName(now, chosen)];
  $("producer-panel").hidden = !first;
  if (!first) return;
  const { width } = sizeOf($("producer").parentElement);
  setAttribute($("producer"), "height", producer.height(first));
  setAttribute($("producer"), "aria-label", setText($("producer-words"), producer.words(first, say)));
  draw($("producer"), producer.layout(first, { width, say }));
}

function drawTables(now) {
  const write = (id, table, label) => writeTable($(id), { ...table, offsets: table.rows.map(() => null) }, label);
  write("nodes-twin", nodesTable(now, say), say("cluster.title"));
  write("map-twin", partitionsTable(now, say), say("cluster.map"));
  if (name !== null) write("copies-twin", copiesTable(now.partitions[name], now.brokers, say), name);
  const first = now.producers[producerName(now, chosen)];
  if (first) write("producer-twin", producer.table(first, say), say("cluster.producer"));
  const links = linksList(now, say);
  if ($("links-twin").textContent !== links.join("")) {
    $("links-twin").replaceChildren(
      ...links.map((textContent) => Object.assign(document.createElement("li"), { textContent })),
    );
  }
}

// -- what a person does -----------------------------------------------------------------------------------------------

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const order = (near, command) => orders.command(near, { lane, ...command });
const verbs = createVerbs($("verbs"), (verb, near) => {
  if (verb.order) order(near, verb.order);
  else if (verb.opens) {
    areLinksOpen = !areLinksOpen;
    drawFrame();
  } else choose(verb.chooses);
});
const operator = createOperator(
  $("operator"),
  { create_topic: $("create-topic"), add_partitions: $("add-partitions"), reassign: $("reassign") },
  {
    send: (command) => orders.send({ lane, ...command }), fail: orders.fail,
    look: (topic) => {
      awaited = topic;
    },
  },
);
const choice = createPartitionChoice($("partition"), look);

function choose(part) {
  [chosen, areLinksOpen] = [chosen === part ? null : part, false];
  drawFrame();                                          // at once: the next key is about what has just been chosen
}

// A part of the canvas was pressed.
function press(part, near) {
  if (part.acks !== undefined) order(near, { kind: "cluster_set_acks", args: { acks: Number(part.acks) } });
  else choose(part.part);
}

// Another lane's canvas was pressed: the page is about that lane from now on.
function goTo(other, part) {
  const address = new URLSearchParams(location.search);
  address.set("lane", other);
  if (part) address.set("chosen", part);
  location.assign(`?${address}`);
}

$("controller-choice").addEventListener("click", () => choose("controller"));
$("map").addEventListener("click", (event) => {
  const tile = event.target.closest("[data-partition]");
  if (tile) look(tile.dataset.partition);
});

function look(partitionName) {
  name = partitionName;
  const address = new URLSearchParams(location.search);
  address.set("partition", name);
  history.replaceState(null, "", `?${address}`);
  drawFrame(true);
}

function cutOrHeal(keys, near) {
  for (const key of keys.filter((one) => cluster().links[one].verbs.length)) {
    const verb = verbsOf(cluster(), key, say).find((one) => one.id === "heal_link" || one.id === "cut_link");
    if (verb) order(near, verb.order);
  }
}

const frame = createFrame({
  send: order, current: () => view, redraw: () => drawFrame(true), notice, lane, past,
  own: (spoken) => story(cluster(), spoken),
  link: {
    read: () => ({ partition: name, chosen }),
    show: (found) => ([name, chosen] = [found.partition ?? name, found.chosen ?? null]),
  },
});

// before the page's own keys: Escape closes what is in front first
const why = createWhy({
  current: () => view, past, chosen: () => chosenThing(lane, { name, chosen }, view.lanes[lane]),
  thingAt(target) {
    const at = target.closest("[data-canvas]")?.dataset.canvas ?? lane;
    return thingAt(target, at, nameIn(view.lanes[at].cluster));
  },
});
bindKeys(verbs.bindings);
bindKeys(operator.bindings);
bindKeys([
  { keys: ["arrowleft", "arrowright"], says: "keys.parts" },
  { keys: ["escape"], says: "keys.let_go", act: () => chosen !== null && (choose(chosen), true) },
]);

// -- frames -----------------------------------------------------------------------------------------------------------

const feed = createFeed({
  freshness, notice, past, near: $("verbs"), current: () => view,
  take(newView, newSeq) {
    [view, seq] = [newView, newSeq];
    schedule();
  },
});

onLanguage(() => drawFrame(true));
drawFrame(true);
feed.open();
