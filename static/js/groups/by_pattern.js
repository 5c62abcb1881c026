// The small form that asks a member for a pattern of topics: what the server refuses stands at its field, and what was
// typed stays.

import { say, speak } from "../base/chrome.js";
import { clearErrors, clearWhenChanged } from "../base/field_errors.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { BY_PATTERN, patternOrder } from "./verbs.js";

// box: with the button of the verb. send(order): a promise that fails with a Refusal.
export function createByPattern(form, box, { send, fail, onShow }) {
  let member = null;
  const input = form.elements.pattern;

  function show(next) {
    member = next;
    form.hidden = member === null;
    onShow();
    if (member === null) return;
    clearErrors(form);
    speak(form.querySelector("[data-of]"), "groups.pattern_of", "say", { member: member.consumer });
    input.value = member.pattern ?? "";
    input.focus();
    input.select();
  }

  function close() {
    show(null);
    box.querySelector(`[data-order="${BY_PATTERN}"]`)?.focus();
  }

  async function order(near) {
    try {
      await whileBusy(near, () => send(patternOrder(member.consumer, input.value)));
      close();
    } catch (error) {
      if (!isAtFields(form, error, say)) fail(error, near);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    order(form.querySelector("[type=submit]"));
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  form.querySelector("[data-cancel]").addEventListener("click", close);
  clearWhenChanged(form);

  return {
    isOpen: () => member !== null,
    press: (next) => (member === null ? show(next) : close()),
    // now: who is chosen, null: nobody whose subscription can change.
    write(now) {
      if (member !== null && now?.consumer !== member.consumer) show(null);
    },
  };
}
