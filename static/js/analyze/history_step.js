// Step 3: who joins and leaves. The server says what a history comes to, step by step; here it is only asked for and
// drawn.

import { page, say, speak } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, showErrors } from "../base/field_errors.js";
import { send } from "../base/requests.js";
import { el } from "./el.js";
import { render } from "./history_chart.js";

const KINDS = ["join", "leave", "crash", "rejoin", "slow", "restart"], NAMES = ["own", "new"], REST_MS = 200;
const RATES = ["rate", "consumer_rate"], DOWN_S = 10;
// Which fields a change has beside its consumer, by its kind.
const PARTS = { slow: ["rate"], restart: ["down_s", "names"] };
const USUAL = [
  ["join"], ["join"], ["join"], ["join"], ["crash", "c3"], ["rejoin", "c3"], ["leave", "c8"], ["leave", "c7"],
  ["leave", "c6"], ["leave", "c5"],
];
const $ = (id) => document.getElementById(id);

export function createHistoryStep(form, { onChange }) {
  let steps = null, thinned = null, timer = 0, asked = 0;
  const kind = () => form.elements.history.value, list = $("changes");

  // -- the editor -----------------------------------------------------------------------------------------------------

  function add(change = { kind: "join", consumer: null, at: null }) {
    const what = el(
      "select",
      { "data-part": "kind", sayLabel: "history.what" },
      ...KINDS.map((name) => el("option", { value: name, say: `history.${name}` })),
    );
    what.value = change.kind;
    const who = el("input", {
      type: "text", class: "short", "data-part": "consumer", sayLabel: "history.who", maxlength: "32",
      value: change.consumer ?? "",
    });
    const rate = el("input", {
      type: "number", min: "1", step: "1", "data-part": "rate", sayLabel: "history.rate", value: change.rate ?? "",
    });
    const down = el("input", {
      type: "number", min: "1", max: "3600", step: "1", "data-part": "down_s", sayLabel: "history.down_s",
      value: change.down_s ?? DOWN_S,
    });
    const names = el(
      "select",
      { "data-part": "names", sayLabel: "history.names", "aria-describedby": "names-hint" },
      ...NAMES.map((name) => el("option", { value: name, say: `history.${name}` })),
    );
    names.value = change.names ?? NAMES[0];
    const more = { rate, down_s: down, names };
    const showParts = () => {
      for (const [part, field] of Object.entries(more)) field.hidden = !PARTS[what.value]?.includes(part);
    };
    what.addEventListener("change", () => {
      showParts();
      showPlaces();
    });
    showParts();
    const at = el("input", {
      type: "number", min: "0", step: "1", "data-part": "at", sayLabel: "history.at", value: change.at ?? "",
    });
    const remove = el("button", { type: "button", class: "tool", onclick: () => take(item) }, "×");
    const item = el("li", {}, el("span", { class: "num" }), what, who, rate, down, names, at, remove);
    list.append(item);
    number();
    showPlaces();
    return item;
  }

  function showPlaces() {
    const isPlaced = form.elements.placed.checked;
    list.toggleAttribute("data-placed", isPlaced);
    for (const at of list.querySelectorAll("[data-part=at]")) {
      at.hidden = !isPlaced;
      at.placeholder = say("history.at");
    }
  }

  function take(item) {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    number();
    (next?.querySelector("button") ?? $("change-add")).focus();
    ask();
  }

  // Places in the list are what the server's refusals name. A joiner without a name gets the next free one, which is
  // shown as a hint.
  function number() {
    [...list.children].forEach((item, place) => {
      item.dataset.field = `history.changes.${place}`;
      item.querySelector(".num").textContent = place + 1;
      for (const part of item.querySelectorAll("[data-part]")) {
        part.dataset.field = `history.changes.${place}.${part.dataset.part}`;
      }
      item.querySelector("button").setAttribute("aria-label", say("history.remove", { number: place + 1 }));
    });
  }

  const changes = () => [...list.children].map((item) => {
    const part = (name) => item.querySelector(`[data-part=${name}]`).value.trim();
    return {
      kind: part("kind"), consumer: part("consumer") || null,
      at: form.elements.placed.checked ? placeOf(part("at")) : null,
      ...Object.fromEntries((PARTS[part("kind")] ?? []).map((name) => [name, valueOf(name, part(name))])),
    };
  });

  const valueOf = (name, text) => (name === "names" ? text : text === "" ? null : Number(text));

  // One that is missing goes as it is: the server refuses it at its field.
  const placeOf = (text) => (text === "" ? "" : Number(text));

  // -- the request ----------------------------------------------------------------------------------------------------

  function read() {
    const whole = (name) => (form.elements[name].value === "" ? null : Number(form.elements[name].value));
    switch (kind()) {
      case "rolling_restart":
        return {
          kind: "rolling_restart", consumers: whole("rolling_consumers"), down_s: whole("rolling_down_s"),
          names: form.elements.rolling_names.value,
        };
      case "autoscale":
        return { kind: "autoscale", from: whole("from"), to: whole("to") };
      case "crash_storm":
        return {
          kind: "crash_storm", consumers: whole("storm_consumers"), crashes: whole("crashes"),
          seed: whole("storm_seed"),
        };
      case "lab":
        return { kind: "lab", lab: form.elements.history_lab.value };
      default:
        return { kind: "given", start: whole("start"), changes: changes() };
    }
  }

  function service() {
    const given = RATES.map((name) => [
      name, form.elements[name].value === "" ? null : Number(form.elements[name].value),
    ]);
    return Object.fromEntries(given);
  }

  function ask() {
    clearTimeout(timer);
    timer = setTimeout(fetchSteps, REST_MS);
  }

  async function fetchSteps() {
    const turn = (asked += 1);
    let error = "";
    clearErrors($("history"));
    try {
      const answer = await send(page.urls.history, { history: read(), service: service() });
      if (turn !== asked) return;
      ({ steps, thinned } = answer);
    } catch (refusal) {
      if (turn !== asked) return;
      steps = thinned = null;
      const homeless = refusal instanceof Refusal ? showErrors($("history"), refusal.fields, { isFocused: false }) : [];
      if (homeless.length || !(refusal instanceof Refusal) || !refusal.message) {
        error =
          refusal instanceof Refusal
            ? refusal.message || say("notice.failed", { status: refusal.status })
            : say("notice.unreachable");
      }
    }
    $("history-error").hidden = !error;
    $("history-error").textContent = error;
    show();
    onChange();
  }

  // A rate that the timed runs cannot keep is said where it is entered.
  function showThinned() {
    $("rate-thinned").hidden = !thinned;
    if (thinned) {
      speak($("rate-thinned"), thinned.only_beyond ? "service.thinned_beyond" : "service.thinned", "say", thinned);
    }
  }

  // What a name means to a restart is said where one can be chosen.
  function showHint() {
    const isChosen = kind() === "given" && changes().some((change) => change.kind === "restart");
    $("names-hint").hidden = kind() !== "rolling_restart" && !isChosen;
  }

  function show() {
    showThinned();
    showHint();
    const chart = $("history-chart");
    chart.toggleAttribute("hidden", !steps);
    if (!steps) return;
    render(chart, steps);
    const counts = steps.map(({ members }) => members.length);
    chart.setAttribute(
      "aria-label",
      say("history.chart_label", {
        first: counts[0], last: counts.at(-1), changes: steps.length - 1, low: Math.min(...counts),
        high: Math.max(...counts),
      }),
    );
    if (kind() !== "given") return;
    [...list.children].forEach((item, place) => {
      const isOfAll = item.querySelector("[data-part=kind]").value === "restart";
      item.querySelector("[data-part=consumer]").placeholder = isOfAll
        ? say("history.everyone")
        : (steps.find(({ change }) => change === place)?.consumer ?? "");
    });
  }

  function showKind() {
    for (const panel of form.querySelectorAll("[data-history]")) panel.hidden = panel.dataset.history !== kind();
    speak($("history-about"), `history.${kind()}_about`);
    ask();
  }

  $("change-add").addEventListener("click", () => {
    add().querySelector("select").focus();
    ask();
  });
  $("history").addEventListener(
    "input",
    ({ target }) => (target.closest("[data-history]") || RATES.includes(target.name)) && ask(),
  );
  $("history").addEventListener("change", ({ target }) => {
    if (target.name === "history") showKind();
    if (target.name === "placed") showPlaces();
  });
  new ResizeObserver(() => steps && render($("history-chart"), steps)).observe($("history-chart"));
  for (const [what, consumer = null] of USUAL) add({ kind: what, consumer, at: null });

  return {
    read, service, showKind,
    changes: () => (steps ? steps.length - 1 : null),
    say() {
      number();
      showPlaces();
      show();
    },
    fill(history) {
      const { elements } = form;
      elements.history.value = history.kind;
      const values =
        {
          rolling_restart: {
            rolling_consumers: history.consumers, rolling_down_s: history.down_s, rolling_names: history.names,
          },
          autoscale: { from: history.from, to: history.to },
          crash_storm: { storm_consumers: history.consumers, crashes: history.crashes, storm_seed: history.seed },
          lab: { history_lab: history.lab }, given: { start: history.start },
        }[history.kind] ?? {};
      for (const [name, value] of Object.entries(values)) {
        if (value !== undefined && value !== null) elements[name].value = value;
      }
      if (history.kind !== "given") return;
      elements.placed.checked = history.changes.some(({ at }) => at !== null && at !== undefined);
      list.replaceChildren();
      for (const change of history.changes) add(change);
      showPlaces();
    },
  };
}
