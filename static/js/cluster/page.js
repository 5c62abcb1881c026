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
import { createCards } from "./cards.js";
import { createCuts, cutsBetween } from "./cuts.js";
import { crossed, linkLines } from "./links.js";
import * as map from "./map.js";
import { columnsOf, layout as network } from "./network.js";
import { createOperator } from "./operator.js";
import { geometry, layout as copies } from "./partition.js";
import * as producer from "./producer.js";
import { createSeries, rowsOf as samplesOf } from "./series.js";
import { copiesTable, linksList, nodesTable, partitionsTable } from "./tables.js";
import { chosenTitle, chosenWords, verbsOf } from "./verbs.js";
import { createWidths } from "./widths.js";
import { FLIES_MS, SLOW, createFlights, flightOf, flown, held as onWire, waysOf } from "./wire.js";
import { partitionWords, story, sub } from "./words.js";

const $ = (id) => document.getElementById(id);
const past = createPast();
const SVG = "http://www.w3.org/2000/svg", TALL = 600, TALL_LEAST = 440, TALL_PHONE = 520, ROUND = 250;
const TWINS_EVERY_MS = 1000, MAP_EVERY_MS = 400, STROKE_LEAST = 14;
const main = $("main"), picture = $("picture"), freshness = createFreshness(), notice = createNotice($("notice"));
const still = matchMedia("(prefers-reduced-motion: reduce)"), lane = page.cluster.lane;
const drawing = picture.appendChild(document.createElementNS(SVG, "g"));
const overlay = picture.appendChild(document.createElementNS(SVG, "g"));
const isStill = () => still.matches || !view.playing, flights = createFlights(overlay, isStill);
const showCuts = createCuts(overlay, () => still.matches);
const aroundPicture = createRoving(drawing, '[role="button"]', ["Enter"]);
const aroundMap = createRoving($("map"), '[role="button"]', ["Enter"]);
const widthOf = createWidths(schedule);
const series = createSeries($("series"), page.urls.plotly), cards = createCards($("cards-panel"), $("cards"));

const writeLesson = createLessonStrip(), mapDue = createThrottle(), twinsDue = createThrottle();
let view = JSON.parse($("view").textContent), seq = page.seq, isDirty = false, grid = null, lines = [], place = null;
let before = null, flownAt = -Infinity, mapShown = null;
let name = new URLSearchParams(location.search).get("partition"), chosen = null;
let awaited = null;                                    // the first partition of a topic that was just ordered

const cluster = () => view.lanes[lane].cluster;
const heldBy = (now) => Object.keys(now.partitions[name]?.copies ?? {});
// Who reads the large partition: of the lane's own topic the group's member.
function readerOf(now) {
  if (name === null || map.topicOf(name) !== now.topic) return null;
  return view.lanes[lane].picture.partitions[name.slice(name.lastIndexOf("-") + 1)]?.owner ?? null;
}
const linksShown = (now) => ({
  held: heldBy(now), chosen, leader: now.partitions[name]?.leader ?? null, reader: readerOf(now),
});

// -- drawing ----------------------------------------------------------------------------------------------------------

function schedule() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(drawFrame);
}

function drawFrame(isForced = false) {
  isDirty = false;
  const now = cluster();
  if (awaited in now.partitions) [name, place, before, awaited] = [awaited, null, null, null];
  if (!(name in now.partitions)) name = Object.keys(now.partitions)[0] ?? null;
  if (
    chosen !== null &&
    !(chosen in now.links) &&
    !(chosen in now.clients) &&
    !(chosen.slice(chosen.indexOf("-") + 1) in now.brokers)
  ) {
    chosen = null;
  }
  document.body.toggleAttribute("data-still", isStill());
  setText($("sub"), sub(now, say));
  drawPicture(now);
  mapDue(() => drawMap(cluster()), { everyMs: MAP_EVERY_MS, isForced: isForced === true || name !== mapShown });
  mapShown = name;
  verbs.write(verbsOf(now, chosen, say));
  setText($("verbs-title"), chosenTitle(chosen, say));
  setText($("verbs-about"), chosenWords(now, chosen, say));
  operator.write(now, name);
  drawProducer(now);
  cards.write(now.faults ?? [], say);
  frame.draw(isForced === true);
  setText($("series-title"), name === null ? "" : say("cluster.series", { partition: name }));
  writeLesson(view);
  twinsDue(() => drawTables(cluster()), { everyMs: TWINS_EVERY_MS, isForced: isForced === true });
  series(name === null ? [] : samplesOf(now.history, name), name ?? "", { say, isForced: isForced === true });
  main.dataset.seq = seq;
  feed.tell();
}

function drawPicture(now) {
  const box = picture.parentElement;
  const height = innerWidth <= 640 ? TALL_PHONE : Math.min(TALL, Math.max(TALL_LEAST, innerHeight - ROUND));
  const shown = linksShown(now), ends = Object.values(now.partitions[name]?.copies ?? {}).map(({ end }) => end);
  const width = grid?.width;
  grid = columnsOf(now, widthOf(box), shown.held, Math.max(0, ...ends), shown.reader);
  if (grid.width !== width) flights.clear();
  picture.style.setProperty("width", `${grid.width}px`);
  setAttribute(picture, "height", height);
  setAttribute(picture, "aria-label", say("cluster.picture", { partition: name ?? "" }));
  const isSlow = !view.playing || view.speed <= SLOW, ways = isSlow && name !== null ? waysOf(now, name) : [];
  lines = linkLines(now, grid, { ...shown, busy: ways.map(({ key }) => key) });
  const shapes = network(now, grid, lines, { say, ...shown });
  if (name !== null) {
    const large = now.partitions[name];
    setText($("large-title"), name);
    setText($("large-words"), partitionWords(large, say));
    writeLogLinks($("copy-logs"), { name, copies: large.copies, href: $("to-log").href, say });
    place = geometry(large, grid, height, place);
    shapes.push(...copies(name, large, grid, place, { brokers: now.brokers, say }));
    shapes.push(...onWire(now, grid, lines, ways, { atUs: view.at_us, say }));
    showChanges(large);
  }
  aroundPicture(() => draw(drawing, shapes));
}

// What has changed since the last frame, in motion: dots for fetches and answers, and what a truncation cut off.
function showChanges(large) {
  const was = before?.name === name ? before.partition : null, at = performance.now();
  before = { name, partition: structuredClone(large) };
  showCuts(cutsBetween(was, large), { grid, place, say });
  if (view.speed <= SLOW || at - flownAt < FLIES_MS) return;
  const dots = flown(was, large, say).map((dot) => flightOf(dot, lines)).filter((dot) => dot !== null);
  if (!dots.length) return;
  flownAt = at;
  flights.add(dots);
}

function drawMap(now) {
  const width = widthOf($("map").parentElement);
  setAttribute($("map"), "height", map.height(Object.keys(now.partitions), width));
  setAttribute($("map"), "aria-label", say("cluster.map_label"));
  aroundMap(() => draw($("map"), map.layout(now, { width, chosen: name, say })));
  const words = Object.entries(now.counts).map(([state, count]) => `${state}/${count}/${page.language}`).join();
  if ($("legend").dataset.key === words) return;
  $("legend").dataset.key = words;
  $("legend").replaceChildren(...Object.entries(now.counts).map(([state, count]) => {
    const item = document.createElement("span"), mark = document.createElement("i");
    mark.className = state;
    item.append(mark, `${count} ${say(`cluster.state.${state}`)}`);
    return item;
  }));
}

// The producer that is chosen, else the lane's own.
const producerShown = (now) => now.producers[chosen] ?? Object.values(now.producers)[0];

function drawProducer(now) {
  const first = producerShown(now);
  $("producer-panel").hidden = !first;
  if (!first) return;
  const width = widthOf($("producer").parentElement);
  setAttribute($("producer"), "height", producer.height(first));
  setAttribute($("producer"), "aria-label", setText($("producer-words"), producer.words(first, say)));
  draw($("producer"), producer.layout(first, { width, say }));
}

function drawTables(now) {
  const write = (id, table, label) => writeTable($(id), { ...table, offsets: table.rows.map(() => null) }, label);
  write("nodes-twin", nodesTable(now, say), say("cluster.title"));
  write("map-twin", partitionsTable(now, say), say("cluster.map"));
  if (name !== null) write("copies-twin", copiesTable(now.partitions[name], now.brokers, say), name);
  const first = producerShown(now);
  if (first) write("producer-twin", producer.table(first, say), say("cluster.producer"));
  const links = linksList(now, say);
  if ($("links-twin").textContent !== links.join("")) {
    $("links-twin").replaceChildren(
      ...links.map((textContent) => Object.assign(document.createElement("li"), { textContent })),
    );
  }
}

// The browser lays a drawing out again even where a value is written that was there.
// -- what a person does -----------------------------------------------------------------------------------------------

const orders = createOrders({ isStopped: () => Boolean(page.stopped || view.feed?.failed), notice, past });
const order = (near, command) => orders.command(near, { lane, ...command });
const verbs = createVerbs($("verbs"), (verb, near) => order(near, verb.order));
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

function choose(part) {
  chosen = chosen === part ? null : part;
  drawFrame();                                          // at once: the next key is about what has just been chosen
}

drawing.addEventListener("click", (event) => {
  const part = event.target.closest("[data-broker], [data-link], [data-client]");
  if (part) choose(part.dataset.part);
});
$("map").addEventListener("click", (event) => {
  const tile = event.target.closest("[data-partition]");
  if (tile) look(tile.dataset.partition);
});

function look(partitionName) {
  [name, place, before] = [partitionName, null, null];
  flights.clear();
  const address = new URLSearchParams(location.search);
  address.set("partition", name);
  history.replaceState(null, "", `?${address}`);
  drawFrame(true);
  showLeader();
}

// Where the columns do not fit, the leader's is the one to see first.
function showLeader() {
  const box = picture.parentElement, leader = cluster().partitions[name]?.leader;
  if (grid.columns[leader] !== undefined) box.scrollLeft = grid.columns[leader] - box.clientWidth / 2;
}

// A stroke that begins beside everything and crosses a link cuts it; one that crosses a cut link heals it.
let stroke = null;
picture.addEventListener("pointerdown", (event) => {
  if (
    event.button ||
    (event.pointerType === "touch" && event.isPrimary === false) ||
    event.target.closest("[data-broker], [data-client]")
  ) {
    return;
  }
  stroke = { from: pointOf(event), line: null };
});
picture.addEventListener("pointermove", (event) => {
  if (!stroke) return;
  const [x, y] = pointOf(event), [fx, fy] = stroke.from;
  if (!stroke.line && Math.hypot(x - fx, y - fy) < STROKE_LEAST) return;
  stroke.line ??= overlay.appendChild(Object.assign(document.createElementNS(SVG, "path"), {}));
  stroke.line.setAttribute("class", "stroke");
  stroke.line.setAttribute("d", `M${fx} ${fy}L${x} ${y}`);
});
addEventListener("pointerup", (event) => {
  const drawn = stroke;
  stroke = null;
  if (!drawn?.line) return;
  drawn.line.remove();
  for (const key of crossed(lines, drawn.from, pointOf(event)).filter((one) => cluster().links[one].verbs.length)) {
    const verb = verbsOf(cluster(), key, say).find((one) => one.id === "heal_link" || one.id === "cut_link");
    if (verb) order(picture, verb.order);
  }
  // The click that ends a stroke chooses nothing. There is none where what the stroke began on is gone: then the next
  // click is a person's own.
  const swallow = (click) => click.stopPropagation();
  addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", swallow, { capture: true }));
});

function pointOf(event) {
  const { left, top } = picture.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

const frame = createFrame({
  send: order, current: () => view, redraw: () => drawFrame(true), notice, lane, past,
  own: (spoken) => story(cluster(), spoken),
  link: {
    read: () => ({ partition: name, chosen }),
    show: (found) => ([name, chosen] = [found.partition ?? name, found.chosen ?? null]),
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
showLeader();
feed.open();
