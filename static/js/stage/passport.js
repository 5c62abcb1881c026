// A record's passport: where it went in each lane and when, in a window of its own. Asked for by its number, or by a
// key, of which it is the newest one; up to the moment that the page shows.

import { onLanguage, page, say, words } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { clock, number } from "../base/say.js";
import { isOvertaken, moments, reasonOf } from "../frame/trial.js";
import { laneName } from "../lane/name.js";
import { render, stepWords } from "./way.js";

const $ = (id) => document.getElementById(id);
const WIDTH = 592, WIDTH_PHONE = 310;

export function createPassport({ current, past }) {
  const dialog = $("passport-dialog"), form = $("passport-form"), ask = moments("passport", page.urls.passport, past);
  let told = null;

  async function put(given) {
    told = null;
    write("", true);
    try {
      told = await ask(given);
      write();
    } catch (error) {
      if (!isOvertaken(error)) write(reasonOf(error) || say("notice.failed", { status: error.status ?? 0 }));
    }
  }

  // given: { key }, or {} for a record that was sent half a minute ago.
  function open(given) {
    if (!dialog.open) dialog.showModal();
    form.what.value = given.key ?? "";
    form.record.value = "";
    put(given);
  }

  function write(error = "", isWorking = false) {
    $("passport-working").hidden = !isWorking;
    setText($("passport-error"), error);
    $("passport-error").hidden = !error;
    $("passport-told").hidden = told === null;
    if (told === null) return;
    const view = current(), colored = (id) =>
      Object.fromEntries(Object.values(view.lanes[id].consumers).map(({ name, color }) => [name, color]));
    const lanes = view.lane_order.filter((id) => told.lanes[id])
      .map((id) => ({ id, name: laneName(id, view, say), colors: colored(id) }));
    setText($("passport-line"), say("way.line", {
      record: told.record, key: told.key ?? say("route.keyless"), clock: clock(told.sent_us),
      until: clock(told.until_us),
    }));
    form.record.value = number(told.record).replaceAll("\u202f", "");
    const width = innerWidth <= 640 ? WIDTH_PHONE : WIDTH;
    $("way").setAttribute("width", width);
    render($("way"), told, lanes, { width, words: words() });
    $("passport-lanes").replaceChildren(...lanes.flatMap(({ id, name }) => {
      const term = Object.assign(document.createElement("dt"), { textContent: name });
      const textContent = stepWords(told.lanes[id], told.sent_us, say).join(say("list.comma"));
      return [term, Object.assign(document.createElement("dd"), { textContent })];
    }));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const byKey = event.submitter?.value === "key";
    put(byKey ? { key: form.what.value } : { record: form.record.value });
  });
  dialog.addEventListener("click", ({ target }) => target.closest("[data-close]") && dialog.close());
  onLanguage(() => write());
  return { open };
}
