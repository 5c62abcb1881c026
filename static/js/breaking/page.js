// Break it for me: a promise about the lab goes to the server, its search is followed, what it found opens as a lab.

import { onLanguage, page, say } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";
import { createNotice } from "../base/notice.js";
import { refusalOf } from "../base/reasons.js";
import { ask, remove, send } from "../base/requests.js";
import { createLabBar } from "../frame/lab_bar.js";
import { createForm } from "./form.js";
import { isUnderWay, shareOf, stateOf, stepsOf } from "./outcome.js";

const POLL_MS = 700;
const $ = (id) => document.getElementById(id);
const element = $("break"), notice = createNotice($("notice")), form = createForm(element, page.form.lanes);
let search = { state: "none" }, timer = 0;

function draw() {
  const busy = isUnderWay(search), { code, params } = stateOf(search), { promise } = search;
  setText($("promised"), promise ? say(promise.code, promise.params) : "");
  $("state").dataset.say = code;
  setText($("state"), say(code, params));
  $("progress").hidden = !busy;
  if (busy) $("progress").value = shareOf(search);
  $("go").disabled = busy || !page.owner;
  $("cancel").hidden = !busy || !page.owner;
  $("no-proof").hidden = search.state !== "done" || search.is_broken;
  $("open").hidden = $("open-about").hidden = !search.is_broken;
  $("outcome").dataset.state = search.state;
  $("schedule").replaceChildren(...stepsOf(search).map((step) => {
    const row = document.createElement("li"), time = document.createElement("span");
    const what = document.createElement("span");
    row.toggleAttribute("data-broken", step.isBroken);
    time.textContent = `${step.seconds} ${say("second")}`;
    what.textContent = say(step.code, step.params);
    row.append(time, what);
    return row;
  }));
}

async function follow() {
  clearTimeout(timer);
  search = await ask(page.urls.search).catch(() => search);
  draw();
  if (isUnderWay(search)) timer = setTimeout(follow, POLL_MS);
}

async function begin() {
  clearErrors(element);
  try {
    search = await send(page.urls.search, form.read());
    draw();
    $("outcome").scrollIntoView({ block: "nearest" });
    timer = setTimeout(follow, POLL_MS);
  } catch (error) {
    const homeless = showErrors(element, error.fields ?? {});
    if (!error.fields || homeless.length) notice(homeless.join(" ") || refusalOf(error), { near: $("go") });
  }
}

async function cancel() {
  try {
    search = await remove(page.urls.search);
    draw();
  } catch (error) {
    notice(refusalOf(error), { near: $("cancel") });
  }
}

async function open() {
  $("open").disabled = true;
  try {
    const { id } = await send(`${page.urls.search}open/`, {});
    const address = `${page.urls.lab.replace("{id}", id)}${search.opens}`;
    location.assign(`${address}?${new URLSearchParams({ why: search.why })}`);
  } catch (error) {
    $("open").disabled = false;
    notice(refusalOf(error), { near: $("open") });
  }
}

element.addEventListener("submit", (event) => {
  event.preventDefault();
  begin();
});
$("cancel").addEventListener("click", cancel);
$("open").addEventListener("click", open);
clearWhenChanged(element);
form.fill(page.form.given);
createLabBar({ notice, onNamed: () => {} });
onLanguage(draw);
follow().then(() => {
  if (search.asked && !page.is_given) form.fill({ ...page.form.given, ...search.asked });
});
