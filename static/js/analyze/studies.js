// The Analyze page: the list of studies, and the form for a new one. Whatever the server refuses is said at its field,
// and nothing that was entered is lost.

import { onLanguage, page, say, speak } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";
import { createNotice } from "../base/notice.js";
import { refusalOf } from "../base/reasons.js";
import { send } from "../base/requests.js";
import { createDataStep } from "./data_step.js";
import { createDelete } from "./delete_study.js";
import { createHistoryStep } from "./history_step.js";
import { labTitles } from "./lab_titles.js";
import { createStrategiesStep } from "./strategies_step.js";
import { createStudyList } from "./study_list.js";
import { createWatchForm } from "./watch_form.js";

const NAME_MAX = 64;
const $ = (id) => document.getElementById(id);
const form = $("new"), notice = createNotice($("notice"));

function nameLabs() {
  for (const select of document.querySelectorAll("[data-labs]")) {
    const chosen = select.value;
    const titles = labTitles(page.offer.labs, say);
    select.replaceChildren(...page.offer.labs.map(({ id }, place) => new Option(titles[place], id)));
    if (chosen) select.value = chosen;
  }
}

nameLabs();

const fail = (error, near) => notice(refusalOf(error), { near });
const list = createStudyList({ onError: fail, onDelete: createDelete({ onGone: (id) => list.gone(id) }) });
const data = createDataStep(form, { onChange: summary });
const strategies = createStrategiesStep({ onChange: summary });
const history = createHistoryStep(form, { onChange: summary });
let hasReady = false;

// The foot speaks of entries that are not right yet: when none is marked any more, neither does it.
function hideSettled() {
  if (!form.querySelector("[aria-invalid]")) $("form-error").hidden = true;
}

function summary() {
  if (!hasReady) return;
  hideSettled();
  strategies.showCount();
  const count = strategies.read().length, changes = history.changes();
  $("form-summary").textContent =
    changes === null ? say("strategies.count", { count }) : say("new.summary", { strategies: count, changes });
}

function request() {
  const { elements } = form;
  return {
    name: elements.name.value.trim() || data.title().slice(0, NAME_MAX) || say("new.title"), source: data.read(),
    strategies: strategies.read(), history: history.read(), service: history.service(),
  };
}

function busy(isBusy) {
  $("begin").disabled = isBusy;
  speak($("begin-word"), isBusy ? "new.starting" : "new.start");
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearErrors(form);
  $("form-error").hidden = true;
  const wrong = strategies.wrong();
  if (Object.keys(wrong).length) return showWrong(wrong);
  busy(true);
  try {
    const { id } = await send(page.urls.studies, request());
    location.assign(page.urls.study.replace("{id}", id));
  } catch (error) {
    busy(false);
    if (!(error instanceof Refusal) || !Object.keys(error.fields).length) return fail(error, $("begin"));
    showWrong(strategies.placeErrors(error.fields));
  }
});

function showWrong(fields) {
  const homeless = showErrors(form, fields);
  $("form-error").hidden = false;
  $("form-error").textContent = [say("new.wrong"), ...homeless].join(" ");
}

clearWhenChanged(form);
for (const kind of ["input", "change"]) form.addEventListener(kind, hideSettled);
createWatchForm($("watch"));

onLanguage(() => {
  nameLabs();
  list.show();
  history.say();
  summary();
});

function fillFrom(earlier) {
  form.elements.name.value = earlier.name ?? "";
  if (earlier.source) data.fill(earlier.source);
  if (earlier.history) history.fill(earlier.history);
  for (const name of ["rate", "consumer_rate"]) {
    if (earlier.service?.[name]) form.elements[name].value = earlier.service[name];
  }
}

if (page.request && !page.request.live) fillFrom(page.request);
hasReady = true;
strategies.set(page.request?.strategies ?? page.offer.default);
data.showKind();
history.showKind();
list.show();
document.body.dataset.ready = "";
