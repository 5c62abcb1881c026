// The dialog that gives the code with which a page of another site shows this one.

import { onLanguage, say } from "../base/chrome.js";
import { copyLink } from "../base/copy_link.js";
import { clearErrors, showErrors } from "../base/field_errors.js";
import { momentHash } from "../lane/moment_link.js";
import { LEAST, MOST, addressOf, codeOf, pixels } from "./embed_code.js";

// dialog: of partials/embed.html. title(): of what is shown. moment(): {at_us, position?} on the page, or null.
// frame(): of the lesson, from 1. shown(): what is chosen on the page, as texts by name. -> open()
export function createEmbed(dialog, { notice, title, moment = () => null, frame = () => 1, shown = () => ({}) }) {
  const $ = (id) => dialog.querySelector(`#${id}`);
  const form = $("embed-form"), isLesson = "lesson" in dialog.dataset;
  let address = "";

  function write() {
    const { begins, lang, theme, width, height } = form;
    const sizes = { width: pixels(width.value), height: pixels(height.value) };
    clearErrors(form);
    const wrong = Object.keys(sizes).filter((name) => sizes[name] === null);
    const told = say("embed.pixels", { least: LEAST, most: MOST });
    if (wrong.length) {
      showErrors(form, Object.fromEntries(wrong.map((name) => [name, [told]])), { isFocused: false });
    }
    $("embed-copy").disabled = wrong.length > 0;
    const asked = { lang: lang.value, theme: theme.value, frame: isLesson && frame() > 1 ? String(frame()) : "" };
    const hash = begins?.value === "moment" && moment() ? momentHash(moment(), shown()) : "";
    address = addressOf(new URL(dialog.dataset.url, location.href), asked, hash);
    $("embed-try").href = address;
    $("embed-code").value = wrong.length ? "" : codeOf({ address, title: title(), ...sizes });
  }

  form.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  $("embed-copy").addEventListener("click", ({ currentTarget: near }) =>
    copyLink($("embed-code").value, { near, notice, say, done: "embed.copied" }));
  onLanguage(() => dialog.open && write());

  return {
    open() {
      if (form.begins) form.begins.value = "";
      dialog.showModal();
      write();
    },
  };
}
