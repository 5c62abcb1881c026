// The bar of a lab on all its pages: its name, which its owner changes in place, and its tabs.

import { onLanguage, page, say } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, showErrors } from "../base/field_errors.js";
import { labTitle } from "../base/lab_title.js";
import { refusalOf } from "../base/reasons.js";
import { change } from "../base/requests.js";
import { createTabMenu } from "./tab_menu.js";

const $ = (id) => document.getElementById(id);

// notice: where what is no refusal at the field goes. onNamed(): the lab has another name.
export function createLabBar({ notice, onNamed }) {
  const name = $("lab-name"), form = $("lab-rename"), input = form.elements.name;

  function write() {
    name.textContent = labTitle(page.frame, say);
    name.disabled = !page.owner || page.frame.lesson !== null;
  }

  function open() {
    input.value = labTitle(page.frame, say);
    form.hidden = false;
    name.hidden = true;
    input.select();
  }

  function close() {
    clearErrors(form);
    form.hidden = true;
    name.hidden = false;
    name.focus();
  }

  name.addEventListener("click", open);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form);
    try {
      const { name: saved } = await change(`${page.urls.labs}${page.lab}/`, { name: input.value });
      page.frame.name = saved;
      write();
      close();
      onNamed();
    } catch (error) {
      const isAtField = error instanceof Refusal && "name" in error.fields;
      if (isAtField) showErrors(form, error.fields);
      else notice(refusalOf(error), { near: input });
    }
  });
  createTabMenu();
  onLanguage(write);
  write();                                              // a visitor's own copy has come in place of the demo
  return { open };
}
