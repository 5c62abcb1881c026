// Tracing: the last methods of a connection or of one of its channels, field by field, the newest first. The server
// keeps them while the order lasts; without it nothing is kept.

import { fillSelect, setAttribute, setText } from "../base/dom.js";
import { clearErrors, clearWhenChanged } from "../base/field_errors.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { fieldsWords, traceWords } from "./trace_words.js";
import { clockMs } from "../base/say.js";

// send(command), fail(error, near): of the page's orders.
export function createTrace($, { send, fail, say }) {
  const form = $("trace"), body = $("traced").tBodies[0], kept = new Map();
  const wayOf = (way) => say(`topology.trace.${way}`);
  clearWhenChanged(form);

  async function order(args, near) {
    clearErrors(form);
    try {
      await whileBusy(near, () => send({ kind: "rabbitmq_trace", args }));
    } catch (error) {
      if (!isAtFields(form, error, say)) fail(error, near);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [connection, channel] = ["connection", "channel"].map((one) => Number($(`trace-${one}`).value));
    order({ connection, channel }, $("trace-go"));
  });
  $("trace-stop").addEventListener("click", () => order({ connection: 0 }, $("trace-stop")));

  return function write({ trace, connections }, nowUs) {
    const all = Object.entries(connections);
    const chosen = all.some(([number]) => number === $("trace-connection").value);
    const first = String(trace.connection || (all[0]?.[0] ?? ""));
    fillSelect($("trace-connection"), all.map(([number, { name, user, vhost }]) => [
      number, say("topology.trace.connection_of", { name, user, vhost, number }),
    ]), chosen ? $("trace-connection").value : first);
    const channels = connections[$("trace-connection").value]?.channels ?? 0;
    fillSelect($("trace-channel"), [
      ["0", say("topology.trace.all_channels")],
      ...Array.from({ length: channels }, (_, at) => [`${at + 1}`, `${at + 1}`]),
    ], $("trace-channel").value || "0");
    $("trace-go").disabled = !all.length;
    $("trace-stop").hidden = !trace.connection && !trace.heard;
    setText($("trace-about"), traceWords(trace, connections, nowUs, say));
    writeMethods(trace.methods);
  };

  function writeMethods(methods) {
    // Another trace counts from 1 again: a method is known by its number and its moment.
    const all = Object.entries(methods).map(([number, method]) => [`${number} ${method.at_us}`, method]);
    const keys = new Set(all.map(([key]) => key));
    for (const [key, row] of kept) if (!keys.has(key)) {
      row.remove();
      kept.delete(key);
    }
    $("traced").hidden = !all.length;
    for (const [key, method] of all) {
      if (!kept.has(key)) kept.set(key, body.insertBefore(rowOf(method), body.firstChild));
    }
    const channel = say("topology.trace.head.channel");
    for (const row of kept.values()) {
      setText(row.cells[1], wayOf(row.dataset.way));
      setAttribute(row.cells[2], "data-head", channel);    // a phone shows no head
    }
  }

  function rowOf(method) {
    const row = document.createElement("tr");
    row.dataset.way = method.is_sent ? "sent" : "received";
    for (const text of [clockMs(method.at_us), "", method.channel || "–", method.name, fieldsWords(method.fields)]) {
      row.insertCell().textContent = text;
    }
    [0, 2, 3, 4].forEach((at) => setAttribute(row.cells[at], "class", at === 4 ? "n wrap" : "n"));
    return row;
  }
}
