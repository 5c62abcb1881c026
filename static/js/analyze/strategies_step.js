// Step 2: strategies by model. A parameter may hold several numbers; each combination is a separate strategy.

import { page, say, speak } from "../base/chrome.js";
import { clearErrors } from "../base/field_errors.js";
import { el } from "./el.js";
import { combinations, nameCode, parse, wrongParams } from "./strategy_ids.js";

const $ = (id) => document.getElementById(id), paramField = (id, name) => `strategies.of.${id}:${name}`;

export function createStrategiesStep({ onChange }) {
  const families = page.offer.strategies, rows = new Map();

  for (const model of [...new Set(families.map((family) => family.model))]) {
    const offered = families.filter((family) => family.model === model);
    const articles = offered.filter((family) => family.document), own = offered.filter((family) => !family.document);
    const group = el("fieldset", {}, el("legend", { say: `model.${model}` }), ...own.map(row));
    if (articles.length) {
      group.append(
        el("details", {}, el("summary", { class: "s m", say: "strategies.document" }), ...articles.map(row)),
      );
    }
    $("models").append(group);
  }

  function row(family) {
    const id = `${family.model}.${family.algorithm}`;
    const box = el("input", { type: "checkbox", name: "strategy", value: id, id: `pick-${id}` });
    const params = family.params.map(({ name, default: usual, min, max }) =>
      el(
        "label",
        { title: `${min}–${max}` },
        el("span", { say: `param.${name}` }),
        el("input", {
          type: "text", class: "short", inputmode: "numeric", name: `${id}:${name}`, "data-field": paramField(id, name),
          value: String(usual),
          oninput: () => {
            box.checked = true;
            onChange();
          },
        }),
      ),
    );
    const element = el(
      "div",
      { class: "choice", "data-family": id },
      box,
      el("label", { for: `pick-${id}`, say: nameCode(family) }),
      params.length ? el("div", { class: "params" }, ...params) : null,
    );
    box.addEventListener("change", onChange);
    rows.set(id, {
      family, box, element,
      inputs: new Map(family.params.map(({ name }, place) => [name, params[place].querySelector("input")])),
    });
    return element;
  }

  function set(ids) {
    clearErrors($("strategies"));
    const chosen = new Map();
    for (const id of ids) {
      const { family, params } = parse(id);
      chosen.set(family, [...(chosen.get(family) ?? []), params]);
    }
    for (const [id, { box, inputs, element }] of rows) {
      box.checked = chosen.has(id);
      for (const [name, input] of inputs) {
        const values = [
          ...new Set((chosen.get(id) ?? []).map((params) => params[name]).filter((value) => value !== undefined)),
        ];
        if (values.length) input.value = values.join(", ");
      }
      if (box.checked) element.closest("details")?.setAttribute("open", "");
    }
    onChange();
  }

  const texts = (inputs) => Object.fromEntries([...inputs].map(([name, input]) => [name, input.value]));
  const read = () =>
    [...rows.values()]
      .filter(({ box }) => box.checked)
      .flatMap(({ family, inputs }) => combinations(family, texts(inputs)));

  // What the form knows to be wrong before it asks the server: field -> which numbers a parameter takes.
  function wrong() {
    const chosen = [...rows].filter(([, { box }]) => box.checked);
    return Object.fromEntries(
      chosen.flatMap(([id, { family, inputs }]) =>
        wrongParams(family, texts(inputs)).map(({ name, min, max }) => [
          paramField(id, name), say("strategies.numbers", { param: say(`param.${name}`), low: min, high: max }),
        ]),
      ),
    );
  }

  $("strategies-default").addEventListener("click", () => set(page.offer.default));
  $("strategies-none").addEventListener("click", () => set([]));

  return {
    read, set, wrong,
    showCount: () => speak($("strategies-count"), "strategies.count", "say", { count: read().length }),
    // A refusal names the place in the list; the row is where the strategy was chosen.
    placeErrors(fields) {
      const ids = read();
      if (!ids.length && fields.strategies) return { ...fields, strategies: [say("strategies.least")] };
      for (const { element } of rows.values()) delete element.dataset.field;
      return Object.fromEntries(Object.entries(fields).map(([name, texts]) => {
        const id = ids[/^strategies\.(\d+)$/.exec(name)?.[1]], home = id && rows.get(parse(id).family);
        if (!home) return [name, texts];
        home.box.dataset.field = `strategies.of.${parse(id).family}`;
        return [home.box.dataset.field, texts];
      }));
    },
    title: () => say("strategies.count", { count: read().length }),
  };
}
