// The Labs page: a new lab, another name in place, deletion with undo. The rows are the server's.

import { onLanguage, page, say, speak } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";
import { labTitle } from "../base/lab_title.js";
import { createNotice } from "../base/notice.js";
import { refusalOf } from "../base/reasons.js";
import { change, remove, send, sendBytes, sendText } from "../base/requests.js";
import { labForClients } from "../lane/clients_lab.js";

const MARGIN_S = 2;      // an undo that is pressed must still arrive in time
const $ = (id) => document.getElementById(id);
const notice = createNotice($("notice")), labs = new Map(page.labs.map((lab) => [lab.id, lab]));
const urlOf = (id) => `${page.urls.labs}${id}/`;
const titleOf = (lab) => labTitle(lab, say);
const rowOf = (id) => $("labs").querySelector(`tr[data-lab="${CSS.escape(id)}"]`);
const tell = (code, params) => { $("told").textContent = say(code, params); };

function write(lab) {
  const row = rowOf(lab.id), name = titleOf(lab);
  row.querySelector("[data-name]").textContent = name;
  for (const act of ["rename", "delete"]) {
    row.querySelector(`[data-${act}]`)?.setAttribute("aria-label", say(`labs.${act}_named`, { name }));
  }
}

// -> what was refused at a field is shown there; anything else is a notice near the control.
function fail(error, form, near) {
  if (form && error instanceof Refusal && Object.keys(error.fields).length) {
    const homeless = showErrors(form, error.fields);
    if (!homeless.length) return;
  }
  notice(refusalOf(error), { near });
}

// -- a new one --------------------------------------------------------------------------------------------------------

$("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.currentTarget, name = $("name").value.trim();
  clearErrors(form);
  $("begin").disabled = true;
  try {
    const { id } = await send(page.urls.labs, name ? { name } : {});
    location.assign(page.urls.lab.replace("{id}", id));
  } catch (error) {
    fail(error, form, $("begin"));
    $("begin").disabled = false;
  }
});
$("for-clients")?.addEventListener("click", async ({ currentTarget: near }) => {
  near.disabled = true;
  try {
    await labForClients(page.clients);
  } catch (error) {
    fail(error, null, near);
    near.disabled = false;
  }
});
addEventListener("pageshow", () => {
  // somebody who comes back wants another one
  for (const button of document.querySelectorAll("#new button, #open button")) button.disabled = false;
});

// -- one from a file --------------------------------------------------------------------------------------------------

$("open").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.currentTarget, [file] = $("file").files;
  clearErrors(form);
  if (!file) return showErrors(form, { file: [say("labs.no_file")] });
  $("open-run").disabled = true;
  try {
    const { id } = await openRun(file);
    location.assign(page.urls.lab.replace("{id}", id));
  } catch (error) {
    fail(error, form, $("open-run"));
    $("open-run").disabled = false;
  }
});
clearWhenChanged($("open"));

// One of real clients is bytes, and is called as its file is.
const OF_CLIENTS = ".highwater", NAME_MAX = 64;
async function openRun(file) {
  if (!file.name.endsWith(OF_CLIENTS)) {
    return sendText(page.urls.open, await file.slice(0, page.run_bytes_max + 1).text());
  }
  const name = new URLSearchParams({ name: file.name.slice(0, -OF_CLIENTS.length).slice(0, NAME_MAX) });
  return sendBytes(`${page.urls.open}?${name}`, file.slice(0, page.clients_bytes_max + 1));
}

// -- another name -----------------------------------------------------------------------------------------------------

function rename(row) {
  const lab = labs.get(row.dataset.lab), link = row.querySelector("[data-name]"), acts = row.querySelector(".acts");
  const form = $("rename").content.firstElementChild.cloneNode(true), input = form.elements.name;
  speak(form.querySelector("[data-save]"), "labs.save");
  speak(form.querySelector("[data-cancel]"), "labs.cancel");
  input.setAttribute("aria-label", say("labs.name_of", { name: titleOf(lab) }));
  input.value = titleOf(lab);
  link.before(form);
  link.hidden = acts.hidden = true;
  input.select();

  function close() {
    form.remove();
    link.hidden = acts.hidden = false;
    row.querySelector("[data-rename]").focus();
  }

  form.querySelector("[data-cancel]").addEventListener("click", close);
  form.addEventListener("keydown", ({ key }) => key === "Escape" && close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form);
    try {
      lab.name = (await change(urlOf(lab.id), { name: input.value })).name;
      write(lab);
      close();
      tell("labs.renamed", { name: lab.name });
    } catch (error) {
      fail(error, form, input);
    }
  });
}

// -- deletion and undo ------------------------------------------------------------------------------------------------

async function drop(row) {
  const lab = labs.get(row.dataset.lab), button = row.querySelector("[data-delete]");
  button.disabled = true;
  try {
    offerUndo(row, lab, (await remove(urlOf(lab.id))).undo_s);
  } catch (error) {
    if (error.status === 404) leave(row, row);                // deleted in another tab
    else fail(error, null, button);
  }
  button.disabled = false;
}

function offerUndo(row, lab, undoS) {
  const offer = $("undo").content.firstElementChild.cloneNode(true), undo = offer.querySelector("[data-undo]");
  const name = titleOf(lab);
  const words = () => {
    offer.querySelector("[data-told]").textContent = say("labs.deleted", {
      name: titleOf(lab), count: Math.round(undoS),
    });
    undo.setAttribute("aria-label", say("labs.undo_named", { name: titleOf(lab) }));
  };
  offer.dataset.of = lab.id;
  speak(undo, "labs.undo");
  words();
  onLanguage(words);
  row.replaceWith(offer);
  undo.focus();
  tell("labs.deleted", { name, count: Math.round(undoS) });
  const over = () => {
    leave(offer, row);
    tell("labs.gone", { name: titleOf(lab) });
  };
  const timer = setTimeout(over, Math.max(1, undoS - MARGIN_S) * 1000);
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    offer.remove();
  });
  undo.addEventListener("click", async () => {
    clearTimeout(timer);
    undo.disabled = true;
    try {
      await send(`${urlOf(lab.id)}restore/`, {});
      offer.replaceWith(row);
      row.querySelector("[data-delete]").focus();
      tell("labs.back", { name: titleOf(lab) });
    } catch (error) {
      if (error.status === 404) return over();
      undo.disabled = false;
      notice(refusalOf(error), { near: undo });
    }
  });
}

// A row leaves; focus inside it moves to a neighbour.
function leave(place, row) {
  const isHeld = place.contains(document.activeElement);
  const neighbour = place.nextElementSibling ?? place.previousElementSibling;
  place.remove();
  labs.delete(row.dataset.lab);
  if (isHeld) {
    (neighbour?.querySelector("[data-delete], [data-undo]") ?? neighbour?.querySelector("a") ?? $("name")).focus();
  }
}

$("labs")?.addEventListener("click", ({ target }) => {
  const row = target.closest("tr");
  if (target.closest("[data-rename]")) rename(row);
  else if (target.closest("[data-delete]")) drop(row);
});

onLanguage(() => {
  for (const lab of labs.values()) if (rowOf(lab.id)) write(lab);
});
