// Two finished studies side by side: what differs, the ranking of both, and the shares and churn of each on axes that
// both share.

import { onLanguage, page, say, words } from "../base/chrome.js";
import { fillCells } from "../base/dom.js";
import { ask } from "../base/requests.js";
import { NONE } from "../base/say.js";
import { createChart, tablesByKey } from "./chart.js";
import * as churn from "./charts/churn.js";
import { stepWords } from "./charts/consumers.js";
import { writeLegend } from "./charts/legend.js";
import * as share from "./charts/share.js";
import { bothRanked, COMPARED, differences, oneScale, RANKED } from "./comparison.js";
import { el } from "./el.js";
import { createTakeCharts } from "./take_charts.js";

const $ = (id) => document.getElementById(id), SIDES = ["a", "b"];
let results = null;
const charts = SIDES.map((side) => ({
  share: createChart($(`chart-share-${side}`), share), churn: createChart($(`chart-churn-${side}`), churn),
}));
tablesByKey(charts.flatMap((pair) => Object.values(pair)));
createTakeCharts();

async function start() {
  try {
    results = await Promise.all(page.sides.map(({ id }) => ask(`${page.urls.studies}${id}/result/`)));
  } catch (error) {
    console.warn("no result", error);
    $("result-failed").hidden = false;
    return;
  } finally {
    $("result-wait").hidden = true;
  }
  show();
}

function show() {
  const [a, b] = results, rows = differences(a, b, { say, words: words() });
  $("same").hidden = rows.length > 0;
  $("differs").hidden = rows.length === 0;
  $("differs-rows").replaceChildren(...rows.map((texts) => {
    const row = el("tr");
    fillCells(row, texts, "td");
    return row;
  }));
  $("both").replaceChildren(...bothRanked(a, b, words()).map(rankRow));
  const contexts = results.map((result) => {
    const order = result.ranking.map(({ id }) => id);
    return { result, order, picked: order[0], step: Math.min(2, result.steps.length - 1), say, words: words() };
  });
  const scales = { share: oneScale(contexts.map(share.extent)), churn: oneScale(contexts.map(churn.extent)) };
  contexts.forEach((context, place) => {
    $(`share-${SIDES[place]}-step`).textContent = stepWords(context.result.steps[context.step], say);
    writeLegend($(`share-${SIDES[place]}-legend`), $("legend-item"), context);
    for (const [name, chart] of Object.entries(charts[place])) chart.draw({ ...context, scale: scales[name] });
  });
  $("main").dataset.compared = "";
}

function rankRow({ name, a, b, difference }) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    ...cells(a, RANKED, "compare.only_b"),
    ...cells(b, RANKED, "compare.only_a"),
    ...cells(difference, COMPARED),
  );
}

// One group of columns, or one cell over all of them where a study lacks the strategy.
function cells(texts, parts, missing = null) {
  if (!texts) {
    return [
      missing
        ? el("td", { class: "m s side", colspan: String(parts.length), say: missing })
        : el("td", { class: "m r side", colspan: String(parts.length) }, NONE),
    ];
  }
  return parts.map((part, index) => {
    const stood =
      part === "pause" && texts.stood
        ? el("span", { class: "s m stood", title: say("rank.stood") }, texts.stood)
        : null;
    return el("td", { class: index ? "n r" : "n r side" }, texts[part], stood);
  });
}

onLanguage(() => results && show());
start();
