// A live study: windows as they are closed, at most one refresh a second, and how old the newest is.

import { onLanguage, page, say, speak, words } from "../base/chrome.js";
import { createNotice } from "../base/notice.js";
import { refusalOf } from "../base/reasons.js";
import { ask, send } from "../base/requests.js";
import { createChart, tablesByKey } from "./chart.js";
import { chartOf, gather } from "./charts/windows.js";
import { createDelete } from "./delete_study.js";
import { follow, isOver } from "./progress.js";
import { createTakeCharts } from "./take_charts.js";

const REFRESH_MS = 1000, POLL_MS = 2000, OLD_MS = 5000, KEPT_MAX = 4000;
const BEFORE = ["starting_spark", "first_window", "no_window"], BEHIND_S = 5, SAME_S = 1;
const PILLS = { queued: "queued", waiting: "queued", lab_paused: "paused" };
const $ = (id) => document.getElementById(id);
const notice = createNotice($("notice")), remove = createDelete({ onGone: () => location.assign(page.urls.analyze) });
// The server draws the charts that this source can fill.
const measures = [...document.querySelectorAll(".chart-card")].map(({ id }) => id.replace("chart-", ""));
const charts = new Map(measures.map((measure) => [measure, createChart($(`chart-${measure}`), chartOf(measure))]));
let study = page.study, rows = [], version = 0, how = "connecting", heardAt = null, drawnAt = -Infinity, timer = 0;
tablesByKey([...charts.values()]);
createTakeCharts(notice);

function take(more) {
  if (!more.length) return;
  const known = new Map(rows.map((row) => [`${row.start_us} ${row.lane}`, row]));
  for (const row of more) known.set(`${row.start_us} ${row.lane}`, row);
  rows = [...known.values()].sort((a, b) => a.start_us - b.start_us).slice(-KEPT_MAX);
  heardAt = Date.now();
  schedule();
}

function schedule() {
  clearTimeout(timer);
  const wait = drawnAt + REFRESH_MS - performance.now();
  if (wait > 0) timer = setTimeout(draw, wait);
  else draw();
}

function draw() {
  drawnAt = performance.now();
  const windows = gather(rows);
  for (const chart of charts.values()) chart.draw({ windows, say, words: words() });
  showCount("late");
  showCount("damaged");
  showUntold(windows);
  $("main").dataset.windows = String(windows.starts.length);
  showState();
}

// What is in no window, since the study began; windows of before this was counted have no such figure.
function showCount(name) {
  const count = Math.max(0, ...rows.map((row) => row[name] ?? 0));
  $(name).hidden = !count;
  if (count) speak($(name), `live.${name}`, "say", { [name]: count });
}

// A measure may have its chart and still no figure: a folder without its checkpoint.
function showUntold({ starts, lanes, of }) {
  for (const measure of measures) {
    const none = $(`${measure}-none`);
    const isTold = starts.some((start) => lanes.some((lane) => (of(start, lane)?.[measure] ?? null) !== null));
    if (!none) continue;
    none.hidden = isTold || !starts.length;
    $(`chart-${measure}`).toggleAttribute("data-empty", !none.hidden);
  }
}

// A window may come a moment before the word of it.
function doing() {
  const { progress } = study;
  return rows.length && BEFORE.includes(progress.stage) ? { ...progress, stage: "streaming" } : progress;
}

function pillOf(age) {
  if (isOver(study)) return study.state;
  if (how === "disconnected") return how;
  const { stage, behind_s: behind } = doing();
  if (PILLS[stage]) return PILLS[stage];
  if (age === null) return "connecting";
  return age > OLD_MS || behind > BEHIND_S ? "behind" : "live";
}

// What the study does, as its worker tells: before the first window in place of the charts, then beside the newest.
function showState() {
  const age = heardAt === null ? null : Date.now() - heardAt, isEnded = isOver(study), pill = pillOf(age);
  const { stage, behind_s: behind } = doing();
  $("fresh").dataset.state = pill;
  speak($("fresh-word"), `fresh.${pill}`);
  $("newest").textContent = age === null || isEnded ? "" : say("live.newest", { age_us: Math.round(age / 1000) * 1e6 });
  $("doing").hidden = isEnded || !rows.length;
  if (stage !== "streaming" || behind === null) speak($("doing"), `stage.${stage}`);
  else speak($("doing"), behind > SAME_S ? "live.behind" : "live.up_to_date", "say", { behind_s: behind });
  $("main").dataset.stage = stage;
  $("stop").hidden = isEnded || !study.mine;
  $("main").querySelector("[data-delete]").hidden = !isEnded || !study.mine;
  $("live-wait").hidden = rows.length > 0 || isEnded;
  speak($("live-wait"), `stage.${stage}`);
  $("live-error").hidden = !study.error;
  $("live-error").textContent = study.error ?? "";
}

// Also what the socket told before this page listened; and all of it while the socket is closed.
async function catchUp() {
  try {
    const answer = await ask(`${page.urls.windows}?after=${version}`);
    ({ version } = answer);
    take(answer.rows);
  } catch (error) {
    console.warn("no windows", error);
  }
}

follow(study.id, {
  onFull: () => notice(say("notice.full"), { near: $("fresh") }),
  onStudy(next, by) {
    if (next) study = next;
    how = by;
    showState();
  },
  onWindows: take,
});
setInterval(() => how !== "live" && !isOver(study) && catchUp(), POLL_MS);
setInterval(showState, 1000);
$("stop").addEventListener("click", async (event) => {
  const near = event.currentTarget;
  near.disabled = true;
  try {
    study = await send(`${page.urls.studies}${study.id}/cancel/`, {});
  } catch (error) {
    notice(refusalOf(error), { near });
  }
  near.disabled = false;
  showState();
});
$("main").querySelector("[data-delete]").addEventListener("click", () => remove(study));
onLanguage(draw);
draw();
catchUp();
