// The panel of a study that waits or runs: its stages, the one under way with what is done of it, rows, rate, tasks and
// time.

import { page, say, speak, words } from "../base/chrome.js";
import { NONE, number, seconds } from "../base/say.js";
import { STAGES, wholePart } from "./progress_part.js";

const BEFORE = ["queued", "preparing", "starting_spark"];
const $ = (id) => document.getElementById(id);

export function showProgress({ state, progress, started_at: startedAt, worker, mine }) {
  const isQueued = state === "queued", { stage } = progress, at = STAGES.indexOf(stage);
  speak($("running-title"), isQueued ? "study.queued" : "study.running");
  if (!worker) speak($("running-more"), "study.no_worker");
  else if (isQueued) speak($("running-more"), "study.queued_more", "say", { place: progress.place ?? 1 });
  else speak($("running-more"), "study.running_more");
  $("running-more").toggleAttribute("data-warning", !worker);
  const before = BEFORE.includes(stage) || stage === "cancelling";
  $("before").hidden = !before;
  if (before) speak($("before"), `stage.${stage}`);
  for (const item of $("stages").children) {
    const place = STAGES.indexOf(item.dataset.stage);
    const mark = at < 0 ? "later" : place < at ? "over" : place === at ? "now" : "later";
    item.dataset.mark = mark;
    if (mark === "now") item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
    item.querySelector("[data-done]").textContent =
      mark === "now" && progress.total > 1 ? say("study.of", { done: progress.done, total: progress.total }) : "";
  }
  const bar = $("bar"), part = wholePart(progress);
  if (part === null) bar.removeAttribute("value");
  else bar.value = part;
  const figures = {
    rows: progress.rows ? number(progress.rows) : NONE,
    rate: !progress.rows || progress.rows_per_s === null ? NONE : number(Math.round(progress.rows_per_s)),
    tasks: progress.tasks_total === null ? NONE : `${number(progress.tasks_done)}/${number(progress.tasks_total)}`,
    time: startedAt ? seconds(Math.max(0, Math.round((Date.now() - new Date(startedAt)) / 1000)) * 1e6, words()) : NONE,
  };
  for (const [name, text] of Object.entries(figures)) $(`progress-${name}`).textContent = text;
  $("cancel").hidden = !mine;
  document.title =
    part === null
      ? `${say(isQueued ? "study.queued" : "study.running")} · Highwater`
      : `${Math.floor(part * 100)} % · ${page.study.name}`;
}
