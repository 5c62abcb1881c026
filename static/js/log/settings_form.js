// The log's settings as a person may try them: numbers are checked at their field, here for being numbers and by the
// server for the rest.

import { plainNumber } from "../base/plain_number.js";
import { SETTINGS } from "./api.js";

const WHOLE = /^-?\d{1,19}$/;

const isWhole = (text) => WHOLE.test(text);

// Kafka's numbers have 64 bits, JavaScript's 53: what a person types is compared as it is written.
export const LONG_MAX = 2n ** 63n - 1n;

export function isLong(text) {
  return /^\d{1,40}$/.test(text) && BigInt(text) <= LONG_MAX;
}

export function fieldError(input, text) {
  const error = document.getElementById(`${input.id}-error`);
  error.textContent = text;
  error.hidden = !text;
  input.setAttribute("aria-invalid", String(Boolean(text)));
}

// onApply(settings): a promise; it may refuse with {fields}. Settings hold only what differs from the lab's own.
export function createSettings(form, { say, defaults, onApply, onFault }) {
  const inputs = new Map(SETTINGS.map((name) => [name, form.querySelector(`#${name}`)]).filter(([, input]) => input));

  // what a person has typed and not applied yet: a growing folder leaves it alone
  const touched = new Set();
  for (const [name, input] of inputs) input.addEventListener("input", () => touched.add(name));

  // shown: the settings that act on the topic; a field for another one would do nothing. fixed: those of them that are
  // the topic's own, which this page does not change.
  function write(settings, shown = SETTINGS, fixed = []) {
    for (const [name, input] of inputs) {
      if (!touched.has(name)) input.value = settings[name];
      input.closest(".field").hidden = !shown.includes(name) || fixed.includes(name);
    }
  }

  function read() {
    const settings = {};
    let bad = null;
    for (const [name, input] of inputs) {
      if (input.closest(".field").hidden) continue;
      const value = plainNumber(input.value), isNumber = isWhole(value);
      fieldError(input, isNumber ? "" : say("log.whole_number"));
      if (!isNumber) bad ??= input;
      else if (Number(value) !== defaults()?.[name]) settings[name] = value;
    }
    bad?.focus();
    return bad ? null : settings;
  }

  async function apply(settings) {
    const typed = [...touched];
    touched.clear();
    try {
      await onApply(settings);
    } catch (error) {
      for (const name of typed) touched.add(name);
      const known = Object.entries(error.fields ?? {}).filter(([name]) => inputs.has(name));
      for (const [name, texts] of known) fieldError(inputs.get(name), [texts].flat().join(" "));
      if (known.length) inputs.get(known[0][0]).focus();
      else onFault(error, form);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const settings = read();
    if (settings) apply(settings);
  });
  form.querySelector("#settings-reset").addEventListener("click", () => {
    for (const input of inputs.values()) fieldError(input, "");
    apply({});
  });
  return { write };
}
