// The forms of the lane's orders: a button opens one, what is wrong stands at its field. An order without fields goes
// at once.

import { speak } from "../base/chrome.js";
import { fillSelect } from "../base/dom.js";
import { clearErrors, clearWhenChanged } from "../base/field_errors.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { FORMS, argsOf } from "./forms.js";

const CHOICES = ["broker", "master", "partition"];

// boxOf(verb): holds its button. form: is filled with the fields of the open one. kinds: the registry's.
// send(verb, args, near): a promise that fails with a Refusal. choicesOf(kind): [[value, words]]. isOffered(verb): it
// makes sense now.
// -> {write(): new choices}
export function createOrders(boxOf, form, { kinds, send, fail, choicesOf, isOffered, say }) {
  let shown = null, inputs = {};
  const buttons = {}, fields = document.createElement("div");
  for (const verb of Object.keys(FORMS).filter((one) => FORMS[one].kind in kinds)) {
    const button = buttons[verb] = document.createElement("button");
    Object.assign(button, { type: "button", className: "btn" });
    button.dataset.verb = verb;
    if (FORMS[verb].fields.length) {
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-controls", form.id);
    }
    speak(button, `balance.form.${verb}`);
    speak(button, `balance.form_about.${verb}`, "sayTitle");
    button.addEventListener("click", () => press(verb));
    boxOf(verb).append(button);
  }
  fields.className = "form-fields";
  const submit = Object.assign(document.createElement("button"), { className: "btn strong" });
  form.append(fields, submit);
  clearWhenChanged(form);

  function show(verb) {
    if (shown !== null) buttons[shown].setAttribute("aria-expanded", "false");
    shown = verb;
    form.hidden = verb === null;
    if (verb === null) return;
    buttons[verb].setAttribute("aria-expanded", "true");
    clearErrors(form);
    inputs = {};
    fields.replaceChildren(...FORMS[verb].fields.map(fieldOf));
    speak(submit, `balance.form.${verb}`);
    fields.querySelector("input, select, textarea").focus();
  }

  function fieldOf({ name, kind, isOn }) {
    const label = document.createElement("label"), words = document.createElement("span");
    const isChoice = CHOICES.includes(kind), isLong = kind === "keys" || kind === "offsets";
    label.className = kind === "flag" ? "check" : "field";
    words.className = "s m";
    speak(words, `balance.field.${name}`);
    const input = document.createElement(isChoice ? "select" : isLong ? "textarea" : "input");
    inputs[name] = input;
    input.dataset.field = `args.${name}`;
    if (kind === "flag") Object.assign(input, { type: "checkbox", checked: isOn });
    else if (isChoice) fillSelect(input, choicesOf(kind), choicesOf(kind)[0]?.[0]);
    else {
      Object.assign(input, { className: "n", autocomplete: "off", spellcheck: false });
      if (isLong) Object.assign(input, { rows: 2, placeholder: kind === "keys" ? "1:flights:0" : "1:flights:0=0" });
      else input.inputMode = "numeric";
    }
    label.append(...(kind === "flag" ? [input, words] : [words, input]));
    return label;
  }

  const valueOf = (input) => (input.type === "checkbox" ? input.checked : input.value);

  async function order(verb, near) {
    try {
      const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, valueOf(input)]));
      const args = argsOf(verb, values);
      clearErrors(form);
      await whileBusy(near, () => send(verb, args, near));
    } catch (error) {
      if (!isAtFields(form, error, say)) fail(error, near);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    order(shown, submit);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    const verb = shown;
    show(null);
    buttons[verb].focus();
  });

  function press(verb) {
    if (FORMS[verb].fields.length) show(shown === verb ? null : verb);
    else order(verb, buttons[verb]);
  }

  return {
    write() {
      for (const [verb, button] of Object.entries(buttons)) button.hidden = !isOffered(verb);
      if (shown !== null && buttons[shown].hidden) show(null);
      for (const { name, kind } of FORMS[shown]?.fields ?? []) {
        if (CHOICES.includes(kind)) fillSelect(inputs[name], choicesOf(kind), inputs[name].value);
      }
    },
  };
}
