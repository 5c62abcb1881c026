// The order to make a capsule of this run: which page, which part; then how far it is, and the file.

import { onLanguage, page, say } from "../base/chrome.js";
import { fillSelect, setText } from "../base/dom.js";
import { clearErrors, showErrors } from "../base/field_errors.js";
import { refusalOf } from "../base/reasons.js";
import { ask, send } from "../base/requests.js";
import { number, percent } from "../base/say.js";

const $ = (id) => document.getElementById(id);
const AGAIN_MS = 400, SECOND_US = 1e6;
const SECONDS = /^\d{1,7}(?:[.,]\d{1,6})?$/;

// Microseconds of what is typed as seconds; null where that is no number.
export const typed = (text) =>
  (SECONDS.test(text.trim()) ? Math.round(Number(text.trim().replace(",", ".")) * SECOND_US) : null);

// An end is kept within the run: what is shown is cut to tenths of a second.
export const shownSeconds = (us) => String(Math.floor(us / 1e5) / 10);

// until(): how far the run goes. lane: of the page, null on the Stage. -> open()
export function createCapsule({ until, lane }) {
  const dialog = $("capsule-dialog"), form = $("capsule-form"), url = page.urls.capsules;
  let run = 0, made = null, end = "";                    // end: as the form was opened with it

  function writeForm() {
    const pages = page.frame.tabs.filter(({ plays }) => plays).map(({ id }) => [id, say(`frame.${id}`)]);
    fillSelect(form.page, pages, form.page.value || page.item);
    if (made) setText($("capsule-file"), say("capsule.save", { size: number(Math.ceil(made.bytes / 1000)) }));
  }

  function open() {
    run += 1;
    made = null;
    clearErrors(form);
    write({});
    writeForm();
    form.page.value = page.item;
    [form.from.value, form.until.value] = ["0", end = shownSeconds(until())];
    dialog.showModal();
  }

  function write({ working = "", error = "" }) {
    $("capsule-working").hidden = !working;
    $("capsule-error").hidden = !error;
    $("capsule-made").hidden = made === null;
    setText($("capsule-working"), working);
    setText($("capsule-error"), error);
    form.querySelector(".go").disabled = working !== "";
  }

  async function make(event) {
    event.preventDefault();
    run += 1;
    made = null;
    clearErrors(form);
    const part = { from_us: typed(form.from.value), until_us: typed(form.until.value) };
    const wrong = Object.entries(part).filter(([, us]) => us === null);
    if (wrong.length) {
      const told = Object.fromEntries(wrong.map(([name]) => [name, [say("capsule.seconds")]]));
      return showErrors(form, told);
    }
    const own = lane !== null && form.page.value === page.item ? { lane } : {};
    if (form.until.value === end) delete part.until_us;  // all of it: the lab may have gone on
    return follow(run, { page: form.page.value, ...own, ...part });
  }

  async function follow(mine, asked) {
    write({ working: say("capsule.waiting") });
    try {
      let found = await send(url, asked);
      while (found.state === "waiting" || found.state === "running") {
        await new Promise((done) => setTimeout(done, AGAIN_MS));
        if (mine !== run) return;
        found = await ask(`${url}${found.id}/`);
        const code = found.state === "waiting" ? "capsule.waiting" : "capsule.working";
        if (mine === run) write({ working: say(code, { share: percent(found.share) }) });
      }
      if (mine === run) finish(found);
    } catch (error) {
      if (mine !== run) return;
      const atField = Object.keys(error.fields ?? {}).some((name) => form.querySelector(`[data-field="${name}"]`));
      write({ error: atField ? "" : refusalOf(error) });
      if (atField) showErrors(form, error.fields);
    }
  }

  function finish(found) {
    if (found.state !== "done") return write({ error: found.reason });
    made = found;
    const file = $("capsule-file");
    file.href = `${url}${found.id}.html`;
    write({});
    writeForm();
    file.focus();
    file.click();
  }

  form.addEventListener("submit", make);
  onLanguage(() => dialog.open && writeForm());
  return { open };
}
