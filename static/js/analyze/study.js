// One study: how far it is while it runs, then its ranking, its charts, and what can be done with it.

import { onLanguage, page, say, speak, words } from "../base/chrome.js";
import { createCopyLink } from "../base/copy_link.js";
import { createNotice } from "../base/notice.js";
import { placePopovers } from "../base/place.js";
import { refusalOf } from "../base/reasons.js";
import { keepRemark } from "../base/remark.js";
import { ask, send } from "../base/requests.js";
import { percent } from "../base/say.js";
import { feasibleWords } from "./advice.js";
import { createChart, tablesByKey } from "./chart.js";
import * as churn from "./charts/churn.js";
import { stepChoice, stepWords } from "./charts/consumers.js";
import * as heat from "./charts/heat.js";
import * as keys from "./charts/keys.js";
import * as lag from "./charts/lag.js";
import { writeLegend } from "./charts/legend.js";
import * as share from "./charts/share.js";
import { createDelete } from "./delete_study.js";
import { follow, isOver } from "./progress.js";
import { showProgress } from "./progress_panel.js";
import { createRanking } from "./ranking.js";
import { head, shortNames, strategyWords, suitsWords, unowned, verdictWords } from "./result.js";
import { createTakeCharts } from "./take_charts.js";
import { createWeights } from "./weights.js";

const $ = (id) => document.getElementById(id);
const notice = createNotice($("notice")), fail = (error, near) => notice(refusalOf(error), { near });
const askDelete = createDelete({ onGone: () => location.assign(page.urls.analyze) });
let study = page.study, result = null, ranking = null, verdict = null, feasibility = null, picked = null, step = 0;
let how = "connecting";

// -- how far it is ----------------------------------------------------------------------------------------------------

function showState() {
  const isDone = study?.state === "done";
  $("running").hidden = isDone || study.state === "failed" || study.state === "cancelled";
  $("ended").hidden = study.state !== "failed" && study.state !== "cancelled";
  $("result").hidden = !isDone;
  $("main").dataset.state = study.state;
  if (!$("running").hidden) showProgress(study);
  if (!$("ended").hidden) {
    speak($("ended-title"), `study.${study.state}`);
    speak($("ended-more"), study.is_fault ? "study.fault_more" : `study.${study.state}_more`);
    $("ended-reason").textContent = study.error ?? "";
  }
  const fresh = isOver(study) ? study.state : how;
  $("fresh").dataset.state = fresh === "polling" ? "behind" : fresh === "done" ? "live" : fresh;
  speak($("fresh-word"), `fresh.${fresh}`);
}

if (!isOver(study)) {
  const feed = follow(study.id, {
    onFull: () => notice(say("notice.full"), { near: $("fresh") }),
    onStudy(next, by) {
      if (next) study = next;
      how = by;
      // The server draws a finished study whole: headline, notes, the rows that could not be read, ranking.
      if (study.state === "done") location.reload();
      else showState();
    },
  });
  window.highwater = { drop: feed.drop };
  setInterval(() => $("running").hidden || showProgress(study), 1000);     // its time continues where nothing else does
}

$("cancel").addEventListener("click", async () => {
  $("cancel").disabled = true;
  speak($("cancel"), "study.cancelling");
  try {
    await send(`${page.urls.studies}${study.id}/cancel/`, {});
  } catch (error) {
    $("cancel").disabled = false;
    speak($("cancel"), "study.cancel");
    fail(error, $("cancel"));
  }
});


// -- its result -------------------------------------------------------------------------------------------------------

const writeRanking = createRanking($("ranking"), $("rank-row"), { onPick: pick });
const weights = createWeights($("weights"), {
  onRanking(next) {
    const wasFirst = ranking?.[0].id === picked;
    ({ ranking, verdict, feasibility } = next);
    if (wasFirst) picked = ranking[0].id;
    showResult();
  },
});
const charts = {
  share: createChart($("chart-share"), share), heat: createChart($("chart-heat"), heat, { onPick: pickCell }),
  churn: createChart($("chart-churn"), churn, { onPick: pickLine(churn) }), keys: createChart($("chart-keys"), keys),
  lag: createChart($("chart-lag"), lag, { onPick: pickLine(lag) }),
};
tablesByKey(Object.values(charts));
createTakeCharts(notice);

async function fetchResult() {
  $("result-wait").hidden = false;
  $("result-failed").hidden = true;
  try {
    const answer = await ask(`${page.urls.studies}${study.id}/result/`);
    result = answer;
    const ranked = page.ranking ? page : answer;
    ({ ranking, verdict, feasibility } = ranked);
    picked = ranking[0]?.id ?? null;
    step = Math.min(2, result.steps.length - 1);
    weights.set(ranked.weights, ranked.constraints);
    fillSteps();
    showResult();
  } catch (error) {
    console.warn("no result", error);
    $("result-failed").hidden = false;
  }
  $("result-wait").hidden = true;
}

function showResult() {
  const texts = head(result, ranking, words());
  $("headline").textContent = texts.title;
  $("facts").textContent = texts.facts;
  showFeasible();
  $("sure").textContent = verdictWords(result, verdict, words());
  $("sure").hidden = !$("sure").textContent;
  $("unowned").textContent = unowned(result, words());
  $("unowned").hidden = !$("unowned").textContent;
  document.title = `${texts.title} · Highwater`;
  writeRanking(result, ranking, picked);
  showUse();
  drawCharts();
  $("main").dataset.ranked = ranking.map(({ id }) => id).join(" ");
}

function showFeasible() {
  $("feasible").dataset.level = feasibility.level;
  $("feasible").replaceChildren(...feasibleWords(feasibility, words()).map((text) => {
    const line = document.createElement("p");
    line.textContent = text;
    return line;
  }));
}

function drawCharts() {
  const context = { result, order: ranking.map(({ id }) => id), picked, step, say, words: words() };
  const at = result.steps[step];
  $("share-step").textContent = $("lag-step").textContent = stepWords(at, say);
  $("step").value = String(step);
  $("step-back").disabled = step === 0;
  $("step-on").disabled = step === result.steps.length - 1;
  writeLegend($("share-legend"), $("legend-item"), context);
  $("keys-sub").textContent = result.hot_keys.length
    ? say("keys.sub", { share: percent(result.hot_keys[0].share, 2) })
    : "";
  $("lag-none").hidden = !lag.isEmpty(context);
  $("chart-lag").toggleAttribute("data-empty", lag.isEmpty(context));
  showUntaken(heat.untaken(context));
  for (const chart of Object.values(charts)) chart.draw(context);
}

function showUntaken(found) {
  $("heat-untaken").hidden = !found;
  if (!found) return;
  const names = shortNames(result.strategies, words()), comma = say("list.comma");
  $("heat-untaken").textContent = say("heat.untaken", {
    consumers: found.consumers.join(comma), strategies: found.strategies.map((id) => names.get(id)).join(comma),
  });
}

function showUse() {
  const strategy = result.strategies.find(({ id }) => id === picked);
  const { model, name } = strategyWords(strategy, words());
  $("use-of").textContent = `${model} ${name}`;
  $("use-suits").textContent = suitsWords(strategy, result.steps, words());
  $("use-suits").hidden = !$("use-suits").textContent;
  $("use-excluded").hidden = !ranking.some(({ id, excluded }) => id === picked && excluded.length);
  $("use").replaceChildren(...strategy.config.map(({ file, lines, for: versions }) => {
    const block = $("use-file").content.firstElementChild.cloneNode(true);
    block.querySelector("[data-file]").textContent = versions ? [file, versions].join(say("list.comma")) : file;
    block.querySelector("code").textContent = lines.join("\n");
    speak(block.querySelector("button"), "use.copy");   // a template's words do not change with the language
    block.querySelector("button").addEventListener("click", (event) => copy(lines.join("\n"), event.currentTarget));
    return block;
  }));
  $("use-none").hidden = strategy.config.length > 0;
  speak($("use-none"), strategy.document ? "use.document" : "use.none");
}

function pick(id) {
  picked = id;
  showResult();
}

function pickCell(context, point) {
  const cell = heat.picks(context, point);
  picked = cell.id ?? picked;
  choose(cell.step ?? step);
  showResult();
}

function pickLine(chart) {
  return (context, { curveNumber }) => pick(chart.lineAt(context, curveNumber) ?? picked);
}

function fillSteps() {
  $("step").replaceChildren(...result.steps.map((at) => new Option(stepChoice(at, say), String(at.step))));
}

function choose(next) {
  step = Math.max(0, Math.min(result.steps.length - 1, next));
  drawCharts();
}

$("step").addEventListener("change", () => choose(Number($("step").value)));
$("step-back").addEventListener("click", () => choose(step - 1));
$("step-on").addEventListener("click", () => choose(step + 1));
$("result-retry").addEventListener("click", fetchResult);

// -- what can be done with it -----------------------------------------------------------------------------------------

async function copy(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    notice(say("use.copied"), { near, kind: "done" });
  } catch {
    notice(text, { near, kind: "done" });              // no clipboard without https, or not allowed: then by hand
  }
}

createCopyLink($("share"), { notice, say });

placePopovers();
for (const button of document.querySelectorAll("[data-delete]")) {
  button.addEventListener("click", () => askDelete(study));
}

$("open").addEventListener("click", async (event) => {
  const near = event.currentTarget;
  near.disabled = true;
  speak($("open-word"), "study.opening");
  try {
    const { id, left_out: leftOut } = await send(`${page.urls.studies}${study.id}/open/`, {
      strategies: oneOfEachModel(),
    });
    keepRemark(id, leftOut);
    location.assign(page.urls.lab.replace("{id}", id));
  } catch (error) {
    fail(error, near);
    speak($("open-word"), "study.open");
    near.disabled = false;
  }
});

// The Stage has a lane a model: the picked strategy, and of the other models the best.
function oneOfEachModel() {
  const modelOf = new Map(result.strategies.map(({ id, model }) => [id, model])), chosen = new Map();
  for (const id of [picked, ...ranking.map((entry) => entry.id)]) {
    if (id && !chosen.has(modelOf.get(id))) chosen.set(modelOf.get(id), id);
  }
  return [...chosen.values()];
}

onLanguage(() => {
  showState();
  weights.say();
  if (!result) return;
  fillSteps();
  showResult();
});
showState();
if (study.state === "done") fetchResult();
