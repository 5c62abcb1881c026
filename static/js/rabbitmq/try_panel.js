// "Try a routing key": asks the server which bindings of an exchange match what is typed, draws its answer word by
// word, and publishes it for real.

import { Refusal } from "../base/commands.js";
import { clearErrors, clearWhenChanged, FieldError, showErrors } from "../base/field_errors.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { setText } from "../base/dom.js";
import { sentences } from "../base/say.js";
import { bucketsWords, HASHED, hashWords } from "./hashed.js";
import { createTableRows } from "./table_rows.js";
import { sumWords, triedTable } from "./tried.js";

const WAITS_MS = 150;
// With these a message without a key is hardly meant.
const BY_KEY = ["direct", "topic", HASHED];

const cellOf = (tag, properties) => Object.assign(document.createElement(tag), properties);

// say(code, params). sent: of sent.js. context(): {lane, vhost, user}. show(tried): null while there is none.
// isPaused(): the lab's clock does not move.
export function createTry($, { url, sent, fail, context, show, isPaused, language, say }) {
  let waits = 0, asked = "", answer = null, number = 0, isRefused = false;
  const published = {
    answered() {},
    refused({ data }) {
      const named = Object.keys(data.fields).map((name) => [name, [data.words[language()]]]);
      const isFocused = form.contains(document.activeElement);
      return named.length > 0 && !showErrors(form, Object.fromEntries(named), { isFocused }).length;
    },
  };
  const form = $("try");
  clearWhenChanged(form);
  const rows = createTableRows({ field: "args.headers", code: "topology.field.headers", say });
  $("try-properties").prepend(rows.root);
  const headers = rows.read;

  function ask() {
    clearTimeout(waits);
    waits = setTimeout(askNow, WAITS_MS);
  }

  async function askNow() {
    const { lane, vhost, user } = context();
    try {
      const params = new URLSearchParams({
        lane, vhost, user, exchange: $("try-exchange").value, key: $("try-key").value,
        headers: JSON.stringify(headers()),
      });
      const own = (number += 1), answered = await fetch(`${url}?${params}`, { credentials: "same-origin" });
      const found = await answered.json();
      if (own !== number) return;
      if (answered.ok) take(found);
      else refuse(found.fields ?? {});
    } catch (error) {
      if (error instanceof FieldError) refuse({ [error.field.slice("args.".length)]: [say(error.message)] });
      else take(null);
    }
  }

  // What was wrong with the question; what was wrong with a publish stays.
  function take(found) {
    if (isRefused) clearErrors(form);
    isRefused = false;
    answer = found;
    write();
    show(found);
  }

  function refuse(fields) {
    [answer, isRefused] = [null, true];
    write();
    show(null);
    const fieldOf = (name) => `args.${name === "key" ? "routing_key" : name}`;
    const named = Object.entries(fields).map(([name, texts]) => [fieldOf(name), texts]);
    showErrors(form, Object.fromEntries(named), { isFocused: false });
  }

  // Whether there is something to try, so that the graph shows its way.
  function isTyped() {
    try {
      return $("try-key").value !== "" || Object.keys(headers()).length > 0;
    } catch (error) {
      if (error instanceof FieldError) return true;
      throw error;
    }
  }

  function write() {
    const table = $("tried"), isAsked = answer && (isTyped() || !BY_KEY.includes(answer.type));
    setText($("try-hint"), answer && !isAsked ? say("topology.try.hint") : "");
    table.hidden = !isAsked;
    $("tried-words").hidden = !isAsked;
    $("tried-refused").hidden = !isAsked;
    if (!isAsked) return;
    const { columns, width, rows } = triedTable(answer);
    table.tHead.replaceChildren(headOf(columns, width));
    table.tBodies[0].replaceChildren(...rows.map((row) => rowOf(row, width)));
    const hashed = answer.rows.find((row) => row.hashed)?.hashed;
    setText($("tried-words"), sentences([
      ...(hashed ? [hashWords("try", hashed, say)] : []),
      sumWords(answer, rows, context().alternateOf(answer.exchange), say),
    ]));
    const { user, refused } = answer;
    setText($("tried-refused"), refused ? say("topology.try.refused", { user, reply: refused }) : "");
  }

  function headOf(columns, width) {
    const row = document.createElement("tr");
    const what = answer.type === HASHED ? "topology.try.weight" : "topology.try.binding";
    const words = columns.length ? columns : [say(what)];
    row.append(...words.map((word) => cellOf("th", { textContent: word || "“”", scope: "col", className: "n" })));
    if (width > words.length) row.append(cellOf("td", { colSpan: width - words.length }));
    row.append(cellOf("th", { textContent: say("topology.try.to"), scope: "col", className: "to" }));
    return row;
  }

  function rowOf({ cells, state, destination, kind }, width) {
    const row = document.createElement("tr");
    row.dataset.state = state;
    for (const { span, word, stands, look, hashed } of cells) {
      const cell = cellOf("td", { colSpan: span, className: `word n ${look}` });
      const box = document.createElement("span");
      box.append(Object.assign(document.createElement("b"), { textContent: word || "“”" }));
      const note = hashed ? bucketsWords(hashed, say) : noteOf(look, stands);
      if (note) box.append(Object.assign(document.createElement("i"), { textContent: note }));
      cell.append(box);
      row.append(cell);
    }
    const rest = width - cells.reduce((sum, { span }) => sum + span, 0);
    if (rest > 0) row.append(cellOf("td", { colSpan: rest }));
    const name = kind === "exchange" ? say("topology.try.exchange", { name: destination }) : destination;
    row.append(cellOf("td", { className: "to", textContent: say(`topology.try.${state}`, { name }) }));
    return row;
  }

  // What a wildcard stood for, what a word failed on.
  function noteOf(look, stands) {
    if (look === "left") return say("topology.try.left");
    if (look === "none") return say("topology.try.no_word");
    if (look === "missing" || look === "idle") return say(`topology.try.${look}`);
    if (look === "rule") return say(`topology.try.rule.${stands}`);
    if (look === "miss") return stands === null ? say("topology.try.ended") : `≠ ${stands || "“”"}`;
    return stands ?? "";
  }

  form.addEventListener("input", ask);
  form.addEventListener("change", ask);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { vhost, user } = context(), near = $("publish");
    try {
      const args = {
        vhost, user, exchange: $("try-exchange").value, routing_key: $("try-key").value, headers: headers(),
        body: $("try-body").value, mandatory: $("try-mandatory").checked,
        delivery_mode: $("try-persistent").checked ? 2 : 0, expiration: $("try-expiration").value.trim(),
        priority: $("try-priority").value.trim() === "" ? -1 : Number($("try-priority").value),
      };
      clearErrors(form);
      await whileBusy(near, () => sent.send({ kind: "rabbitmq_publish", args }, published));
      writeWait();
    } catch (error) {
      if (!isAtFields(form, error, say)) fail(error, near);
    }
  });

  function writeWait() {
    const isShown = isPaused() && sent.isWaiting(published);
    $("try-waits").hidden = !isShown;
    if (isShown) setText($("try-waits"), say("topology.waits"));
  }

  return {
    redraw: write,
    isTyped, writeWait,
    // Asks again when what the answer follows from has changed. mark: a summary of it.
    follow(mark) {
      if (mark === asked) return;
      asked = mark;
      ask();
    },
  };
}
