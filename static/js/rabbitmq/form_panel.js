// The forms of the server's orders: a button opens one, what is wrong stands at its field, what the server answered
// below.

import { speak } from "../base/chrome.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";
import { fillSelect, setText } from "../base/dom.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { FORMS, argsOf, atFile } from "./forms.js";
import { createTableRows } from "./table_rows.js";

// box: holds the buttons. form: is filled with the fields of the open one. kinds: the registry's. sent: of sent.js.
// choicesOf(name): [[value, words]] of a list of choices. context(): {vhost, user}. knownOf(verb, values): what is
// there already, to begin with and when another is chosen. isPaused(): the lab's clock does not move.
// -> {open(verb, values), write(): new choices, and whether an order waits}
export function createForms(
  box, form, { kinds, sent, fail, choicesOf, context, knownOf, isPaused, language, say },
) {
  let shown = null, inputs = {}, last = null;
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
  const waits = Object.assign(document.createElement("p"), { className: "s m", role: "status", hidden: true });
  form.append(fields, foot, waits);
  clearWhenChanged(form);

  function show(verb, values = {}) {
    if (shown !== null) buttons[shown].setAttribute("aria-expanded", "false");
    shown = verb;
    form.hidden = verb === null;
    if (verb === null) return;
    buttons[verb].setAttribute("aria-expanded", "true");
    clearErrors(form);
    [inputs, last] = [{}, null];
    writeWait();
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
    try {
      const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, valueOf(input)]));
      const args = { ...argsOf(verb, values), ...(FORMS[verb].isMethod ? context() : {}) };
      clearErrors(form);
      last = takeOf(verb);
      await whileBusy(submit, () => sent.send({ kind: `rabbitmq_${verb}`, args }, last));
      writeWait();
    } catch (error) {
      if (!isAtFields(form, error, say, (fields) => atFile(verb, fields, say))) fail(error, submit);
    }
  });
  // What comes of an order, while its form is the one that sent it: a refusal leaves all that was typed.
  function takeOf(verb) {
    const take = {
      answered: ({ kind }) => kind.startsWith("rabbitmq.server.") && FORMS[verb].isOnce && last === take && close(),
      refused({ data }) {
        if (last !== take) return false;
        const named = Object.keys(data.fields).map((name) => [name, [data.words[language()]]]);
        const fields = atFile(verb, Object.fromEntries(named), say), isFocused = form.contains(document.activeElement);
        return named.length > 0 && !showErrors(form, fields, { isFocused }).length;
      },
    };
    return take;
  }

  function writeWait() {
    waits.hidden = !(isPaused() && sent.isWaiting(last));
    if (!waits.hidden) setText(waits, say("topology.waits"));
  }

  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  cancel.addEventListener("click", close);

  // The focus goes back to the button, unless it is elsewhere by now.
  function close() {
    const verb = shown, isHeld = form.contains(document.activeElement);
    show(null);
    if (isHeld) buttons[verb]?.focus();
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
    // New names to choose from, and whether the last order waits.
    write() {
      writeWait();
      for (const { name, choices, kind } of FORMS[shown]?.fields ?? []) {
        if (kind === "choice") fillSelect(inputs[name], choicesOf(choices), inputs[name].value);
      }
    },
  };
}
