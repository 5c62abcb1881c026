// The forms of the server's orders: a button opens one, what is wrong stands at its field, what the server answered
// below.

import { speak } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";
import { fillSelect } from "../base/dom.js";
import { FORMS, argsOf, atFile } from "./forms.js";
import { createTableRows } from "./table_rows.js";
import { FieldError } from "./table_values.js";

// box: holds the buttons. form: is filled with the fields of the open one. kinds: the registry's. send(command): a
// promise that fails with a Refusal. choicesOf(name): [[value, words]] of a list of choices. context(): {vhost, user}.
// knownOf(verb, values): what is there already, to begin with and when another is chosen.
// -> {open(verb, values), write(): new choices, pressKey}
export function createForms(box, form, { kinds, send, fail, choicesOf, context, knownOf, say }) {
  let shown = null, inputs = {};
  const buttons = {};
  for (const verb of Object.keys(FORMS).filter((one) => `rabbitmq_${one}` in kinds)) {
    const button = buttons[verb] = document.createElement("button");
    Object.assign(button, { type: "button", className: "btn" });
    button.dataset.verb = verb;
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", form.id);
    speak(button, `topology.form.${verb}`);
    box.append(button);
  }
  const [fields, foot] = [document.createElement("div"), document.createElement("div")];
  fields.className = "form-fields";
  foot.className = "verbs";
  const submit = Object.assign(document.createElement("button"), { className: "btn strong" });
  const cancel = Object.assign(document.createElement("button"), { type: "button", className: "btn" });
  speak(cancel, "topology.cancel");
  foot.append(submit, cancel);
  form.append(fields, foot);
  clearWhenChanged(form);

  function show(verb, values = {}) {
    if (shown !== null) buttons[shown].setAttribute("aria-expanded", "false");
    shown = verb;
    form.hidden = verb === null;
    if (verb === null) return;
    buttons[verb].setAttribute("aria-expanded", "true");
    clearErrors(form);
    inputs = {};
    fields.replaceChildren(...FORMS[verb].fields.map((field) => fieldOf(field, values[field.name])));
    speak(submit, `topology.form.${verb}`);
    fields.querySelector("input, select, textarea").focus();
  }

  function fieldOf({ name, kind, choices, list, hint, known, hasMatch, label: code = name }, value) {
    if (kind === "table") {
      inputs[name] = createTableRows({ field: `args.${name}`, code: `topology.field.${code}`, known, hasMatch, say });
      return inputs[name].root;
    }
    const label = document.createElement("label"), words = document.createElement("span");
    label.className = kind === "flag" ? "check" : "field";
    words.className = "s m";
    speak(words, `topology.field.${code}`);
    const isLong = kind === "json";
    const input = document.createElement(kind === "choice" ? "select" : isLong ? "textarea" : "input");
    inputs[name] = input;
    input.name = name;
    input.dataset.field = `args.${name}`;
    if (kind === "flag") {
      input.type = "checkbox";
      input.checked = Boolean(value);
    } else if (kind === "choice") fillSelect(input, choicesOf(choices), value ?? choicesOf(choices)[0]?.[0]);
    else {
      input.value = value ?? "";
      input.className = "n";
      input.spellcheck = false;
      input.autocomplete = "off";
      if (list) input.setAttribute("list", `list-${list}`);
      if (isLong) {
        input.rows = 6;
        input.placeholder = hint;
      }
    }
    label.append(...(kind === "flag" ? [input, words] : [words, input]));
    if (kind === "json") label.append(fileFor(input));
    return label;
  }

  // A file of a real server, as it is.
  function fileFor(input) {
    const file = Object.assign(document.createElement("input"), { type: "file", accept: ".json,application/json" });
    file.setAttribute("aria-label", say("topology.file"));
    file.addEventListener("change", async () => {
      if (file.files[0]) input.value = await file.files[0].text();
    });
    return file;
  }

  const valueOf = (input) => (input.read ? input.read() : input.type === "checkbox" ? input.checked : input.value);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const verb = shown;
    submit.setAttribute("aria-busy", "true");
    try {
      const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, valueOf(input)]));
      const args = { ...argsOf(verb, values), ...(FORMS[verb].isMethod ? context() : {}) };
      clearErrors(form);
      await send({ kind: `rabbitmq_${verb}`, args });
      if (FORMS[verb].isOnce && shown === verb) close();
    } catch (error) {
      if (error instanceof FieldError) showErrors(form, { [error.field]: [say(error.message)] });
      else if (
        !(error instanceof Refusal) || error.status === 403 || !Object.keys(error.fields).length ||
        showErrors(form, atFile(verb, error.fields, say)).length
      ) fail(error, submit);
    } finally {
      submit.removeAttribute("aria-busy");
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  cancel.addEventListener("click", close);

  function close() {
    const verb = shown;
    show(null);
    buttons[verb]?.focus();
  }

  box.addEventListener("click", (event) => {
    const { verb } = event.target.closest("[data-verb]")?.dataset ?? {};
    if (verb) show(shown === verb ? null : verb, knownOf(verb, {}));
  });
  form.addEventListener("change", ({ target }) => {
    const field = FORMS[shown].fields.find(({ name }) => name === target.name);
    if (!field?.isKey) return;
    const keys = FORMS[shown].fields.filter(({ isKey }) => isKey).map(({ name }) => [name, inputs[name].value]);
    for (const [name, value] of Object.entries(knownOf(shown, Object.fromEntries(keys)))) inputs[name].value = value;
  });

  return {
    open: show,
    // New names to choose from.
    write() {
      for (const { name, choices, kind } of FORMS[shown]?.fields ?? []) {
        if (kind === "choice") fillSelect(inputs[name], choicesOf(choices), inputs[name].value);
      }
    },
  };
}
