// "Would this be allowed?": what a user's permissions say of an operation, asked of the server without doing it.

import { fillSelect, setText } from "../base/dom.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";

const WAITS_MS = 150;
const TAKES = {
  queue: /^queue|get|consume/, exchange: /^exchange|publish|bind/, destination: /^exchange.*bind/, key: /publish|bind/,
};

export function createAllowed($, { url, operations, context, say }) {
  const form = $("allowed");
  let waits = 0, number = 0;
  clearWhenChanged(form);

  // Without a name there is nothing to ask about; the default exchange is called "".
  const isWhole = () => $("allowed-queue").closest("label").hidden || $("allowed-queue").value !== "";

  function answer(words, is) {
    setText($("allowed-answer"), words);
    $("allowed-answer").dataset.is = is;
  }

  async function ask() {
    number += 1;
    if (!isWhole()) return answer("", "");
    const params = new URLSearchParams({ lane: context().lane, vhost: context().vhost });
    for (const name of ["user", "operation", ...Object.keys(TAKES)]) params.set(name, $(`allowed-${name}`).value);
    const own = number;
    const found = await fetch(`${url}?${params}`, { credentials: "same-origin" })
      .then(async (answered) => ({ isWhole: answered.ok, ...(await answered.json()) }))
      .catch(() => null);
    if (own !== number || !found) return;
    clearErrors(form);
    if (!found.isWhole) {
      showErrors(form, found.fields ?? {}, { isFocused: false });
      answer("", "");
    } else if (found.refused) answer(say("topology.allowed.no", { reply: found.refused }), "no");
    else answer(say("topology.allowed.yes"), "yes");
  }

  function soon() {
    const operation = $("allowed-operation").value;
    for (const [name, takes] of Object.entries(TAKES)) {
      $(`allowed-${name}`).closest("label").hidden = !takes.test(operation);
    }
    clearTimeout(waits);
    waits = setTimeout(ask, WAITS_MS);
  }

  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  form.addEventListener("submit", (event) => event.preventDefault());
  let mark = "", known = "";
  return {
    // users: name -> what each may do. Where that has changed, the answer may have, too.
    write({ users: rights, user }) {
      const users = Object.keys(rights), rightsNow = JSON.stringify(rights);
      const next = JSON.stringify([users, user, context().vhost]), current = $("allowed-user").value;
      const operation = $("allowed-operation").value || operations[0];
      fillSelect($("allowed-operation"), operations.map((one) => [one, one]), operation);
      fillSelect($("allowed-user"), users.map((one) => [one, one]), next === mark ? current : user);
      if (next !== mark || rightsNow !== known) soon();
      [mark, known] = [next, rightsNow];
    },
  };
}
