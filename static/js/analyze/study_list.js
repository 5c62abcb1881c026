// The visitor's studies, newest first, each with how far it is; asked for again while one of them is under way.

import { page, say, speak } from "../base/chrome.js";
import { ask, send } from "../base/requests.js";
import { wholePart } from "./progress_part.js";

const POLL_MS = 2000;
const $ = (id) => document.getElementById(id);
const isUnderWay = ({ state }) => state === "queued" || state === "running";

// onDelete(study): asks whether, and deletes.
export function createStudyList({ onError, onDelete }) {
  const list = $("studies"), template = $("study-row");
  let studies = page.studies, most = Number(list.dataset.shown), timer = 0;

  function show() {
    const rows = new Map([...list.children].map((row) => [row.dataset.study, row])), shown = studies.slice(0, most);
    for (const [id, row] of rows) if (!shown.some((study) => study.id === id)) row.remove();
    shown.forEach((study, place) => {
      const row = rows.get(study.id) ?? make(study);
      write(row, study);
      if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
    });
    $("studies-none").hidden = studies.length > 0;
    $("studies-more").hidden = studies.length <= most;
    if (studies.length > most) speak($("studies-more"), "studies.more", "say", { count: studies.length });
    clearTimeout(timer);
    if (studies.some(isUnderWay)) timer = setTimeout(poll, POLL_MS);
  }

  function make(study) {
    const row = template.content.firstElementChild.cloneNode(true), cancel = row.querySelector("[data-cancel]");
    row.dataset.study = study.id;
    // a template's words do not change with the language
    speak(cancel, "studies.cancel");
    speak(row.querySelector("[data-delete]"), "studies.delete");
    row
      .querySelector("[data-delete]")
      .addEventListener("click", () => onDelete(studies.find(({ id }) => id === study.id)));
    cancel.addEventListener("click", async () => {
      cancel.disabled = true;
      try {
        await send(`${page.urls.studies}${study.id}/cancel/`, {});
        await poll();
      } catch (error) {
        onError(error, cancel);
      }
      cancel.disabled = false;
    });
    return row;
  }

  function write(row, study) {
    const link = row.querySelector("a"), cancel = row.querySelector("[data-cancel]");
    const bar = row.querySelector("progress"), error = row.querySelector(".bad");
    const part = study.state === "running" && !study.live ? wholePart(study.progress) : null;
    row.dataset.state = study.state;
    link.href = page.urls.study.replace("{id}", study.id);
    link.textContent = study.name || study.id;
    cancel.hidden = !isUnderWay(study);
    cancel.setAttribute("aria-label", say("studies.cancel_named", { name: study.name }));
    row.querySelector("[data-delete]").hidden = isUnderWay(study);
    row.querySelector("[data-delete]").setAttribute("aria-label", say("studies.delete_named", { name: study.name }));
    const texts = [
      say(study.live && study.state === "running" ? "studies.live" : `state.${study.state}`), ...sizes(study),
      study.created_at.slice(0, 16).replace("T", " "),
    ];
    row.querySelector(".line").textContent = texts.join(" · ");
    bar.hidden = !isUnderWay(study) || study.live;
    bar.setAttribute("aria-label", say("study.progress"));
    if (part === null) bar.removeAttribute("value");
    else bar.value = part;
    error.hidden = !study.error;
    error.textContent = study.error ?? "";
  }

  function sizes({ summary }) {
    if (!summary) return [];
    return [
      ...(summary.records ? [say("studies.records", { records: summary.records })] : []),
      ...(summary.strategies ? [say("studies.strategies", { strategies: summary.strategies })] : []),
    ];
  }

  async function poll() {
    try {
      ({ studies } = await ask(page.urls.studies));
    } catch {
      timer = setTimeout(poll, POLL_MS);
      return;
    }
    show();
  }

  // Out of sight at once; what the server has is asked for after it.
  function gone(id) {
    studies = studies.filter((study) => study.id !== id);
    show();
    poll();
  }

  // Another tab may have started or deleted one.
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && poll());
  $("studies-more").addEventListener("click", () => {
    most = Infinity;
    show();
  });
  return { show, gone };
}
