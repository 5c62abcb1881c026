// The list of calls; a press opens the form of one, with its arguments, its button and the last answer to a person.

import { speak } from "../base/chrome.js";
import { setAttribute, setText } from "../base/dom.js";
import { clearErrors, clearWhenChanged } from "../base/field_errors.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { clock } from "../base/say.js";
import { CALLS, DEFAULTS, answerWords, argsOf, wholeAnswer } from "./calls.js";

const TEXTS = { context: 300, topic: 300, topics: 300, filters: 300, partition: 300 };

// list: holds a row a call. form, answer: of the open one. send(call, args): a promise that fails with a Refusal.
// -> {write(client, partitions, name of the client)}
export function createCalls(list, form, answer, { send, fail, say, canCall }) {
  const rows = {}, fields = form.querySelector(".form-fields"), name = form.querySelector("h3");
  const submit = form.querySelector("button");
  const choices = form.appendChild(Object.assign(document.createElement("datalist"), { id: "call-keys" }));
  let chosen = null, stop = Object.keys(CALLS)[0], inputs = {}, keys = [], client = null, consumer = null;
  for (const call of Object.keys(CALLS)) {
    const row = document.createElement("li"), button = row.appendChild(document.createElement("button"));
    const code = document.createElement("b"), text = document.createElement("span");
    button.type = "button";
    button.dataset.call = call;
    button.setAttribute("aria-controls", form.id);
    button.append(Object.assign(document.createElement("span"), { textContent: call, className: "n" }), code, text);
    code.className = "n";
    text.className = "n a";
    rows[call] = { button, code, text };
    list.append(row);
  }
  clearWhenChanged(form);
  list.addEventListener("click", (event) => {
    const { call } = event.target.closest("[data-call]")?.dataset ?? {};
    if (call) choose(call === chosen ? null : call);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    const { button } = rows[chosen];
    choose(null);
    button.focus();
  });
  // The arrow keys walk through the list.
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], all = Object.keys(CALLS);
    const place = all.indexOf(event.target.dataset?.call);
    if (!step || place < 0) return;
    event.preventDefault();
    const next = all[(place + step + all.length) % all.length];
    if (chosen !== null) choose(next);
    stop = next;
    mark();
    rows[next].button.focus();
  });

  function choose(call) {
    chosen = call;
    stop = call ?? stop;
    clearErrors(form);
    inputs = {};
    setText(name, call ?? "");
    fields.replaceChildren(...(CALLS[call] ?? []).map(([field, kind]) => fieldOf(field, kind)));
    mark();
    writeAnswer();
    rows[call]?.button.scrollIntoView({ block: "nearest" });
  }

  function mark() {
    for (const [call, { button }] of Object.entries(rows)) {
      setAttribute(button, "aria-expanded", String(call === chosen));
      button.tabIndex = call === stop ? 0 : -1;
    }
    form.hidden = answer.hidden = chosen === null || !canCall();
  }

  function fieldOf(field, kind) {
    const label = document.createElement("label"), words = document.createElement("span");
    label.className = kind === "flag" ? "check" : "field";
    words.className = "s m";
    speak(words, `balance.field.${field}`);
    const input = document.createElement("input");
    inputs[field] = input;
    input.dataset.field = `args.${field}`;
    if (kind === "flag") {
      input.type = "checkbox";
      input.checked = DEFAULTS[field];
    } else {
      Object.assign(input, { value: DEFAULTS[field] ?? "", autocomplete: "off", spellcheck: false });
      if (kind === "number") input.inputMode = "numeric";
      else input.maxLength = TEXTS[field];
      if (field === "partition") {
        input.setAttribute("list", choices.id);
        input.value = keys[0] ?? "";
      }
    }
    if (kind !== "flag") input.className = "n";
    label.append(...(kind === "flag" ? [input, words] : [words, input]));
    return label;
  }

  const valueOf = (input) => (input.type === "checkbox" ? input.checked : input.value);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const values = Object.fromEntries(Object.entries(inputs).map(([field, input]) => [field, valueOf(input)]));
      const args = argsOf(chosen, values);
      clearErrors(form);
      await whileBusy(submit, () => send(chosen, args));
    } catch (error) {
      if (!isAtFields(form, error, say)) fail(error, submit);
    }
  });

  mark();
  return {
    write(next, partitions, named) {
      [client, keys, consumer] = [next, partitions, named];
      for (const [call, { code, text, button }] of Object.entries(rows)) {
        const words = answerWords(call, client?.calls[call], say);
        setText(code, words.code);
        setAttribute(code, "class", `n ${words.look}`);
        setText(text, words.text);
        setAttribute(button, "title", [call, words.code, words.text].filter(Boolean).join(" "));
      }
      offer();
      mark();
      const [held] = Object.values(client?.contexts ?? {});
      if (held && inputs.context && inputs.context.value === "") inputs.context.value = held;
      writeAnswer();
    },
  };

  // The partitions that can be chosen; any other can be typed.
  function offer() {
    if (choices.dataset.keys === keys.join()) return;
    const wasEmpty = !choices.dataset.keys;
    choices.dataset.keys = keys.join();
    choices.replaceChildren(...keys.map((key) => Object.assign(document.createElement("option"), { value: key })));
    if (wasEmpty && inputs.partition?.value === "") inputs.partition.value = keys[0] ?? "";
  }

  // Of a person's own call at this client; what its program calls stands in the list.
  function writeAnswer() {
    if (chosen === null) return;
    const last = client?.answers[chosen], words = wholeAnswer(chosen, last, say);
    const [head, about, lines] = answer.children;
    const isWaiting = client?.waiting.includes(chosen);
    setText(head, isWaiting ? say("balance.answer.waits") : [words.code, words.text].filter(Boolean).join(" "));
    head.dataset.is = !isWaiting && words.look === "er" ? "no" : "yes";
    setText(about, last && !isWaiting
      ? say("balance.answer.about", { consumer, argument: last.argument, at: clock(last.at_us) })
      : "");
    setText(lines, isWaiting ? "" : words.more.join("\n"));
    about.hidden = about.textContent === "";
    lines.hidden = lines.textContent === "";
  }
}
