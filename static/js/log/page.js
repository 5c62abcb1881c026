// The log page: holds the folder that the server sent, asks again as the lab writes, and turns what a person does into
// readings.

import { onLanguage, page, say, speak, words } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { createRoving } from "../base/roving.js";
import { clock, number, sentences } from "../base/say.js";
import { writeTable } from "../base/table.js";
import { toggleTables } from "../lane/transport.js";
import { createTakeMenus } from "../take/menu.js";
import { isFinal, notTaken, placeOf, placeWords } from "./address.js";
import { SETTINGS, createApi } from "./api.js";
import { createBatchView } from "./batch_view.js";
import * as compaction from "./compaction.js";
import * as folderPicture from "./folder.js";
import { instant, mebibytes, size } from "./format.js";
import { createLookup } from "./lookup.js";
import { isBelow } from "./offsets.js";
import { entryAt } from "./places.js";
import { choices, createTexts, isText, replicaWords, writeSelect } from "./replica.js";
import { createSettings } from "./settings_form.js";
import { cleanTable, folderTable } from "./tables.js";
import { createUpload } from "./upload.js";
import { createWatch } from "./watch.js";
import { behind, isOld, isUnfinished, remarks, settingsLine, sub, turning } from "./words.js";

const $ = (id) => document.getElementById(id);
const FOLDER_LEAST = 640, CLEAN_LEAST = 560, TURNINGS_SHOWN = 3, EPOCH_MS = 1e11, AGAIN_MS = 500;
const REPLICA_AGAIN_MS = 1000, CLEAN_APART_MS = 10_000, CLEAN_AGAIN_MS = 2000;
const main = $("main"), query = new URLSearchParams(location.search), notice = createNotice($("notice"));

let folder = JSON.parse($("folder-data").textContent), clean = null, asked = 0, isAsking = false, againTimer = 0;
// it was asked for while a reading was under way
let isGrownAgain = false;
let cleanAt = -Infinity;
// what was looked up is to be looked up in the new folder; or something else, for it is of another log
let isLookupDue = false, isOtherLog = false;
// Settings of the address count where the server took them.
const chosen = {
  lane: query.get("lane"), ...placeOf(folder, query),
  settings: Object.fromEntries(
    SETTINGS.filter((name) => query.get(name) === String(folder.settings[name])).map((name) => [name, query.get(name)]),
  ),
};
let defaults = Object.keys(chosen.settings).length ? null : folder.settings;
const moment = () => watch?.moment() ?? {};
const api = createApi(page.log.api, () => chosen, moment);
// what was last answered for: where a choice that is refused goes back to
let shown = placeNow();

function placeNow() {
  return { broker: chosen.broker, topic: chosen.topic, partition: chosen.partition };
}

// -- the folder -------------------------------------------------------------------------------------------------------

const aroundFolder = createRoving($("folder")), folderBox = $("folder").parentElement;
let isAtEnd = true;                                     // the active segment is looked at, and stays in sight
folderBox.addEventListener("scroll", () => {
  isAtEnd = folderBox.scrollLeft + folderBox.clientWidth >= folderBox.scrollWidth - 8;
});

function drawFolder() {
  const width = Math.max(FOLDER_LEAST, Math.floor(folderBox.clientWidth));
  const funnelTo = document.querySelector(".left").clientWidth;
  $("folder").style.setProperty("width", `${width}px`);
  aroundFolder(() =>
    folderPicture.render($("folder"), folder, { width, say, words: words(), funnelTo, ...lookup.ofFolder() }),
  );
  if (isAtEnd) folderBox.scrollLeft = folderBox.scrollWidth;
  $("folder").dataset.seq = main.dataset.seq = folder.end_offset;
}

function drawWords() {
  $("title").textContent = folder.folder;
  document.title = `${folder.folder} · Highwater`;
  $("sub").textContent = sub(folder, say);
  $("replica").textContent = replicaWords(folder, say);
  $("replica").hidden = !folder.replica;
  drawChoices();
  $("folder-behind").textContent = behind(folder, say, words());
  $("folder").setAttribute("aria-label", say("log.folder_label", { folder: folder.folder }));
  writeTable($("folder-twin"), folderTable(folder, say), say("log.folder"));
  const files = [...folder.segments.flatMap((segment) => segment.files), ...folder.other_files];
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  $("files-words").textContent = say("log.files", { count: files.length, size: size(bytes) });
  // of the broker: beside this folder
  const above = (folder.top_files ?? []).map((file) => ({ ...file, name: `../${file.name}` }));
  const rows = [...files, ...above].map(({ name, bytes: count }) => [name, number(count)]);
  writeTable($("files"), { head: [say("log.file_name"), say("log.file_bytes")], rows, offsets: rows.map(() => null) });
  texts.write(rows.map(([name]) => name).filter(isText));
  drawTurning();
  $("damage").replaceChildren(
    ...remarks(folder, say).map(([textContent, isDamage]) =>
      Object.assign(document.createElement("li"), { textContent, className: isDamage ? "wrong" : "m" }),
    ),
  );
  if (!$("settings-line")) return;
  $("settings-line").replaceChildren(
    ...settingsLine(folder, words()).map((text) =>
      Object.assign(document.createElement("span"), { textContent: text }),
    ),
  );
}

function drawChoices() {
  const lists = choices(folder, say);
  writeSelect($("broker"), lists.broker, chosen.broker ?? "");
  writeSelect($("topic"), lists.topic, folder.topic ?? "");
  writeSelect($("partition"), lists.partition, String(folder.partition));
}

function drawTurning() {
  if (!$("turning")) return;                            // nobody saw how files came to be that were opened
  $("turning").parentElement.hidden = Boolean(folder.is_past);   // it is listed only while somebody looks on
  const newest = folder.turning.slice(-TURNINGS_SHOWN).reverse();
  const texts = newest.map((event) => [
    event.at_ms > EPOCH_MS ? instant(event.at_ms).slice(11, 21) : clock(event.at_ms * 1000), turning(event, say),
  ]);
  const list = texts.length ? texts : [["", say("log.turning_none")]];
  if ($("turning").textContent === list.flat().join("")) return;
  $("turning").replaceChildren(...list.map(([time, text]) => {
    const item = document.createElement("li"), when = document.createElement("span");
    when.className = "n m";
    when.textContent = time;
    item.append(...(time ? [when] : []), text);
    return item;
  }));
}

function take(answer) {
  folder = answer;
  // Where no broker was asked for, the server may have chosen one: the page stays with it.
  if (chosen.broker === null && (folder.broker ?? null) !== null) chosen.broker = String(folder.broker);
  shown = placeNow();
  settings?.write(folder.settings, folder.settings_shown, folder.settings_fixed);
  drawWords();
  drawFolder();
  address();
  askAgain();
  const isThere =
    isBelow(folder.start_offset, folder.end_offset) && (isOtherLog || !isUnfinished(folder) || lookup.isWithin(folder));
  if (lookup.isIdle()) lookup.begin(query);
  else if (isLookupDue && isThere) lookup[isOtherLog ? "begin" : "again"]();
  else lookup.folderCame({ isDue: isLookupDue });
  if (isThere) isLookupDue = isOtherLog = false;
  $("steps").toggleAttribute("data-old", isLookupDue || lookup.isRefused());
}

// There is more to come though a paused lab sends no frame. Of a lab that stopped nothing does.
function askAgain() {
  clearTimeout(againTimer);
  if (isUnfinished(folder)) againTimer = setTimeout(grown, AGAIN_MS);
  else if (isOld(folder) && $("fresh")?.dataset.state !== "stopped") againTimer = setTimeout(grown, REPLICA_AGAIN_MS);
}

// Of a moment of the past the files are written a little later: until then those of the one before stand, pale.
async function refresh() {
  const turn = (asked += 1);
  const answer = await api.folder();
  if (turn !== asked) return;
  const isWaiting = answer.is_past && answer.replica === null;
  main.toggleAttribute("data-waits", isWaiting);
  if (isWaiting) soon();
  else take(answer);
}

// Called by the feed. While a reading is under way the next one waits for it; a page that nobody sees asks for nothing.
async function grown() {
  isGrownAgain = isAsking;
  if (isAsking || document.hidden) return;
  isAsking = true;
  try {
    await refresh();
    if (performance.now() - cleanAt > CLEAN_APART_MS) readClean();
  } catch (error) {
    if (isFinal(error)) return leave();
    // the folder is being written, or the server is away: the pill says which
    soon();
  } finally {
    isAsking = false;
    if (isGrownAgain) grown();
  }
}

function soon() {
  clearTimeout(againTimer);
  againTimer = setTimeout(grown, AGAIN_MS);
}

// There is no such place, or no more: what the server shows without one is always there. Where none was asked for, the
// lab itself is gone, which the pill says.
async function leave() {
  const left = placeWords(chosen);
  if (!left) return;
  Object.assign(chosen, { broker: null, topic: null, partition: null });
  isLookupDue = isOtherLog = true;
  texts.close();
  try {
    await refresh();
    notHere(left);
    readClean();
  } catch {
    soon();
  }
}

function notHere(what) {
  notice(say("log.not_here", { what, folder: folder.folder }), { near: $("broker") });
}

function address() {
  const params = new URLSearchParams();
  for (const name of ["lane", "broker", "topic", "partition"]) {
    if (chosen[name] !== null) params.set(name, chosen[name]);
  }
  for (const [name, value] of Object.entries(chosen.settings)) params.set(name, value);
  for (const [name, value] of Object.entries(lookup.params())) params.set(name, value);
  const text = params.toString();
  history.replaceState(null, "", text ? `?${text}` : location.pathname);
}

// -- look-up and batch ------------------------------------------------------------------------------------------------

const batchView = createBatchView({ say, speak, onOpen: openBatch });
const lookup = createLookup({
  api, say, speak, onFault: fail, folder: () => folder, timestamp: () => batchView.firstTimestamp(),
  onBatch: (batch) => batchView.show(batch),
  onDrawn() {
    drawFolder();
    address();
  },
});

const texts = createTexts($("texts"), { api, say, onFault: fail });

async function openBatch(place) {
  try {
    batchView.show(await api.batch(place));
  } catch (error) {
    fail(error, $("batch-next"));
  }
}

function fail(error, near) {
  if (error instanceof Refusal && error.message) notice(say("notice.refused", { reason: error.message }), { near });
  else if (error instanceof Refusal) notice(say("notice.failed", { status: error.status }), { near });
  else notice(say("notice.unreachable"), { near });
}

// -- compaction -------------------------------------------------------------------------------------------------------

const aroundClean = createRoving($("clean-picture"), "[data-record]");
for (const kind of ["pointerover", "focusin"]) {
  $("clean-picture").addEventListener(kind, ({ target }) => target.matches("[data-record]") && tellRecord(target));
}

function tellRecord(tile) {
  $("clean-picture").querySelector(".told")?.classList.remove("told");
  tile?.classList.add("told");
  $("clean-key").textContent = tile ? tile.getAttribute("aria-label") : say("log.clean_hint");
}

// A worker tries a round of the cleaner on a copy; until it has, the page asks again.
async function readClean() {
  const turn = cleanAt = performance.now(), answer = await api.clean().catch(() => null);
  if (turn !== cleanAt) return;
  if (answer?.reason === "preparing") {
    setTimeout(() => turn === cleanAt && readClean(), CLEAN_AGAIN_MS);
    return;
  }
  clean = answer;
  drawClean();
}

function drawClean() {
  const isThere = Boolean(clean?.log && clean.before.length);
  const isDamaged = !isThere && clean?.reason === "damaged" && clean.stopped_at !== undefined;
  $("clean").hidden = !isThere && !isDamaged;
  $("clean").toggleAttribute("data-none", isDamaged);
  if (isDamaged) {
    speak($("clean-title"), "log.clean", "say", { folder: folder.folder });
    $("clean-words").textContent = compaction.stoppedWords(clean, say);
  }
  if (!isThere) return;
  // A lab's clean view is of its compacted topic; an opened folder's is of itself, under the name it was opened by.
  const name = folder.kind === "lab" ? `${clean.log.topic}-${clean.log.partition}` : folder.folder;
  speak($("clean-title"), "log.clean", "say", { folder: name });
  const box = $("clean-picture").parentElement;
  const width = Math.max(CLEAN_LEAST, compaction.least(clean), Math.floor(box.clientWidth));
  $("clean-picture").style.setProperty("width", `${width}px`);
  $("clean-picture").setAttribute("aria-label", say("log.clean_label"));
  aroundClean(() => compaction.render($("clean-picture"), clean, { width, say }));
  $("clean-picture").dataset.seq = clean.before.at(-1).offset;
  writeTable($("clean-twin"), cleanTable(clean, say), say("log.clean_label"));
  $("clean-words").textContent = sentences(compaction.cleanWords(clean, say));
  tellRecord($("clean-picture").querySelector(".told"));
}

// -- choosing, settings, opening a file -------------------------------------------------------------------------------

for (const name of ["broker", "topic", "partition"]) {
  $(name)?.addEventListener("change", async () => {
    const opened = folder.partitions.find(
      ({ partition, log }) => log && name === "partition" && String(partition) === $(name).value,
    );
    if (opened) return location.assign(page.log.page.replace("{id}", opened.log));
    chosen[name] = $(name).value || null;
    // A broker's topics are others than the lane's own two.
    if (name === "broker" && (chosen.broker === null) !== (shown.broker === null)) {
      chosen.topic = chosen.partition = null;
    }
    if (name === "topic") chosen.partition = null;
    try {
      isLookupDue = isOtherLog = true;                  // the worker may only now begin to write it
      texts.close();
      await refresh();
      readClean();
    } catch (error) {
      Object.assign(chosen, shown);
      isLookupDue = isOtherLog = false;
      drawChoices();
      fail(error, $(name));
    }
  });
}

const settings = $("settings") && createSettings($("settings"), {
  say, defaults: () => defaults, onFault: fail,
  async onApply(values) {
    const answer = await createApi(page.log.api, () => ({ ...chosen, settings: values }), moment).folder();
    asked += 1;                                         // what is still under way was asked with the settings before
    chosen.settings = values;
    if (!Object.keys(values).length) defaults = answer.settings;
    // other settings, another folder: the worker begins it with the first record
    isLookupDue = true;
    take(answer);
    readClean();
  },
});

$("settings-open")?.addEventListener("click", () => {
  const isOpen = $("settings").hidden;
  $("settings").hidden = !isOpen;
  $("settings-open").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) $("settings").querySelector("input").focus();
});

const upload = createUpload($("open-dialog"), { page, say, onLanguage });
$("open").addEventListener("click", () => $("open-dialog").showModal());
$("open-dialog").querySelector("[data-close]").addEventListener("click", () => $("open-dialog").close());
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (!$("open-dialog").open) $("open-dialog").showModal();
    if (kind === "drop" && !event.defaultPrevented && event.dataTransfer.files.length) {
      upload.take(event.dataTransfer.files);
    }
  });
}

// -- what the page itself does ----------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const part = event.target.closest("svg [data-offset], .twin [data-offset]");
  if (part) lookup.at(part.matches(".seg-box") && event.detail ? pointedAt(part, event.clientX) : part.dataset.offset);
});

// A pointer in a segment means the bytes below it; the keyboard means the segment.
function pointedAt(box, x) {
  const { left, width } = box.getBoundingClientRect(), base = box.dataset.offset;
  const segment = folder.segments.find(({ base_offset, state }) => String(base_offset) === base && state !== "deleted");
  return segment ? entryAt(segment, (x - left) / width) : base;
}

// The lab's clock moves on from here as on its other pages; an opened log has none.
const watch = $("view") && createWatch({
  lane: page.log.lane, partition: () => String(folder.partition),
  replica: () => ({ topic: folder.topic, broker: chosen.broker }), onGrown: grown, onTables: tablesCame, notice,
});

// A part of a picture, a button or a link keeps these keys for itself.
const atLookup = (act) => ({ target }) =>
  !target.closest("[role='button'], button, a, summary, [tabindex='0']:not([data-noun])") && (act(), true);

bindKeys([
  { keys: ["r"], says: "log.keys.run", act: atLookup(lookup.toggle) },
  { keys: ["arrowleft"], says: "log.keys.back", act: atLookup(lookup.back) },
  { keys: ["arrowright"], says: "log.keys.next", act: atLookup(lookup.next) },
]);
if (!watch) {
  bindKeys([{ keys: ["t"], says: "keys.tables", act: () => toggleTables(tablesCame) }]);
  const title = () => $("title").textContent.trim();
  createTakeMenus({
    root: main, about: () => ({ lab: title(), clock: null, said: { about: title() } }), onFail: notice,
  });
}

// The focus goes from a row to its picture, which the tables replaced until then.
function tablesCame() {
  const row = document.activeElement.closest(".twin-box");
  redraw();                                             // a hidden picture has no size to be drawn to
  if (!document.body.hasAttribute("data-twins")) row?.parentElement.querySelector(".pic [tabindex='0']")?.focus();
}

function redraw() {
  $("open-about").textContent = say("log.open_about", { size: mebibytes(page.log.bytes_max) });
  drawWords();
  lookup.redraw();
  drawFolder();
  batchView.redraw();
  drawClean();
}

onLanguage(redraw);
addEventListener("resize", redraw);
redraw();
askAgain();
watch?.open();
lookup.begin(query);
readClean();
if (notTaken(folder, query)) notHere(notTaken(folder, query));
