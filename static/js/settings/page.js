// A lab's settings: checked by the server while one types, made into a lab, copied as a text, or brought to a lab that
// runs.

import { onLanguage, page, say } from "../base/chrome.js";
import { Refusal, submit } from "../base/commands.js";
import { clearWhenChanged, showErrors } from "../base/field_errors.js";
import { createNotice } from "../base/notice.js";
import { refusalOf } from "../base/reasons.js";
import { send } from "../base/requests.js";
import { createLabBar } from "../frame/lab_bar.js";
import { createLanes } from "./lanes.js";
import { readForm } from "./read.js";

const CHECK_AFTER_MS = 350, SETTLES_MS = 500, SETTLES_TRIES = 40;
const $ = (id) => document.getElementById(id);
const form = $("settings"), notice = createNotice($("notice")), apply = $("apply"), byHand = $("copy-by-hand");
const lanes = createLanes({
  rows: $("lane-rows"), parts: $("lane-parts"), tabs: $("lane-tabs"), most: 8, onChange: changed,
  blanks: [...form.querySelectorAll("[data-add-lane]")],
});
let timer = 0, asked = 0, judged = null, isSettling = false;

const read = () => readForm(form, lanes.all(), page.workload);

// -- what the server says of it ---------------------------------------------------------------------------------------

function changed() {
  clearTimeout(timer);
  timer = setTimeout(check, CHECK_AFTER_MS);
}

async function check({ isFocused = false } = {}) {
  clearTimeout(timer);
  const request = read(), turn = (asked += 1);
  try {
    const answer = await send(page.urls.check, request);
    const ways = page.of ? await send(`${page.urls.labs}${page.of}/settings/`, request) : null;
    if (turn === asked) tell({ ...answer, ...ways, isRight: true }, {});
  } catch (error) {
    if (turn !== asked) return null;
    if (!(error instanceof Refusal) || !Object.keys(error.fields).length) return fail(error);
    tell({ isRight: false, count: Object.keys(error.fields).length }, error.fields, isFocused);
  }
  return judged;
}

function tell(found, fields, isFocused = false) {
  judged = found;
  form.dataset.checked = String(found.isRight);
  if (isFocused) reveal(fields);
  const homeless = showErrors(form, fields, { isFocused });
  if (isFocused && homeless.length) notice(homeless.join(" "), { near: $("make") });
  write();
}

// A wrong setting of a lane is behind that lane's tab.
function reveal(fields) {
  const lane = Object.keys(fields).map((name) => /^lanes\.(\d+)\./.exec(name)).find(Boolean);
  if (lane) lanes.show(Number(lane[1]));
}

function write() {
  if (!judged) return;
  const { isRight, count, parts, orders, rest } = judged;
  if (!isRight) $("judged").textContent = say("settings.new.wrong", { count });
  else if (!page.of) $("judged").textContent = say("settings.new.parts", { count: parts, most: page.parts_max });
  else {
    const said = [
      orders.length ? say("settings.panel.now", { count: orders.length }) : "",
      rest.length ? say("settings.panel.rest", { fields: rest.join(say("list.comma")) }) : "",
      orders.length && !page.owner ? say("settings.panel.others") : "",
    ];
    $("judged").textContent = said.filter(Boolean).join(" ") || say("settings.panel.none");
  }
  if (apply) apply.disabled = isSettling || !isRight || !orders.length || !page.owner;
}

function fail(error) {
  notice(refusalOf(error), { near: $("make") });
  return null;
}

// -- a lab of it, or its texts ----------------------------------------------------------------------------------------

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  $("make").disabled = true;
  try {
    const found = await check({ isFocused: true });
    if (!found?.isRight) return;
    const { id } = await send(page.urls.labs, read());
    location.assign(page.urls.lab.replace("{id}", id));
  } catch (error) {
    fail(error);
  } finally {
    $("make").disabled = false;
  }
});

apply?.addEventListener("click", async () => {
  apply.disabled = true;
  try {
    const found = await check({ isFocused: true });
    const to = { urls: { commands: `${page.urls.labs}${page.of}/commands/` }, csrf: page.csrf };
    for (const order of found?.orders ?? []) await submit(to, order);
    notice(say("settings.panel.applied"), { near: apply, kind: "done" });
  } catch (error) {
    fail(error);
  }
  await settle();
});

// Orders are stored at once and carried out a moment later: until then the same press would give them twice.
async function settle() {
  isSettling = true;
  for (let tries = 0; tries < SETTLES_TRIES; tries += 1) {
    await new Promise((done) => { setTimeout(done, SETTLES_MS); });
    if (!(await check())?.orders?.length) break;
  }
  isSettling = false;
  write();
}

form.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  byHand.hidden = true;
  const found = await check({ isFocused: true });
  if (!found?.isRight) return;
  const text = found.texts[button.dataset.copy];
  form.dataset.copied = button.dataset.copy;
  try {
    await navigator.clipboard.writeText(text);
    notice(say("settings.new.copied"), { near: button, kind: "done" });
  } catch {                                                       // no leave, or not a safe address
    byHand.hidden = false;
    byHand.querySelector("textarea").value = text;
    byHand.querySelector("textarea").select();
  }
});

// -- fields -----------------------------------------------------------------------------------------------------------

function showKind() {
  for (const box of form.querySelectorAll(".of-kind")) box.hidden = box.dataset.kindOf !== $("kind").value;
}

clearWhenChanged(form);
$("kind").addEventListener("change", showKind);
form.addEventListener("input", changed);
form.addEventListener("change", changed);
onLanguage(write);
if (page.frame) createLabBar({ notice, onNamed: () => {} });
showKind();
check();
