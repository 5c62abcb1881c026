// The form for a live study: a lab, or a Kafka log that grows on the server.

import { page } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, showErrors } from "../base/field_errors.js";
import { reasonOf } from "../base/reasons.js";
import { send } from "../base/requests.js";
import { createFolderBrowser } from "./folder_browser.js";

const NAME_MAX = 64;
const $ = (id) => document.getElementById(id);

export function createWatchForm(form) {
  const folder = createFolderBrowser(form.querySelector("[data-folder]"), {
    onlyLogs: true,
    onChange: (chosen) => {
      $("watch-from").hidden = !chosen;
      show();
    },
  });
  const kind = () => form.elements.watch.value, noLabs = !page.offer.labs.length;

  function show() {
    for (const panel of form.querySelectorAll("[data-watch]")) panel.hidden = panel.dataset.watch !== kind();
    form.elements.lab.closest(".field").hidden = noLabs;
    form.querySelector("[data-no-labs]").hidden = !noLabs;
    if (kind() === "folder" && folder && !folder.isOpen()) folder.open(null);
    $("watch-start").disabled = kind() === "lab" ? noLabs : !folder?.chosen();
    $("watch-error").hidden = true;
  }

  function request() {
    const lab = form.elements.lab;
    if (kind() === "lab") {
      return { name: lab.selectedOptions[0].text.slice(0, NAME_MAX), source: { kind: "lab", lab: lab.value } };
    }
    const { name } = folder.chosen(), topic = folder.topic(), title = topic ? `${name}, ${topic}` : name;
    // The server's clock, as the page learned it: a browser's may be minutes off.
    const now = Math.round(page.offer.now_ms + performance.now());
    return {
      name: title.slice(-NAME_MAX),
      source: {
        kind: "folder", name, format: "kafka_log", topic,
        ...(form.elements.watch_from.value === "now" ? { from_ms: now } : {}),
      },
    };
  }

  form.addEventListener("change", ({ target }) => target.name === "watch" && show());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form);
    $("watch-error").hidden = true;
    $("watch-start").disabled = true;
    try {
      const { id } = await send(page.urls.studies, { live: true, ...request() });
      location.assign(page.urls.study.replace("{id}", id));
    } catch (error) {
      const homeless =
        error instanceof Refusal && Object.keys(error.fields).length
          ? showErrors(form, error.fields)
          : [reasonOf(error)];
      $("watch-error").hidden = !homeless.length;
      $("watch-error").textContent = homeless.join(" ");
      $("watch-start").disabled = false;
    }
  });
  show();
}
