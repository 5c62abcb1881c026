// Rows of a table that a person fills: name, type, value, a button that removes the row, one that adds another, and,
// where a binding is made, the x-match as a choice.

import { speak } from "../base/chrome.js";
import { TYPES, X_MATCHES, tableOf } from "./table_values.js";

const made = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

// field: "args.headers". known: names that the server knows -> their types. hasMatch: x-match is asked for.
// -> {root, read(): the table, or a FieldError}. An `input` event says that something has changed.
export function createTableRows({ field, code, known = {}, hasMatch = false, say }) {
  const root = made("fieldset", { className: "table-rows" }), legend = made("legend", { className: "s m" });
  const list = made("ol"), add = made("button", { type: "button", className: "btn" }), match = made("select");
  root.dataset.field = field;
  speak(legend, code);
  speak(add, "topology.rows.add");
  const names = made("datalist", { id: `names-${field}` });
  names.append(...Object.keys(known).map((name) => new Option(name, name)));
  root.append(legend, ...(hasMatch ? [matchLine()] : []), headLine(), list, add, names);
  addRow();

  function matchLine() {
    const label = made("label", { className: "choice" });
    match.className = "n";
    match.dataset.field = `${field}.x-match`;
    match.append(new Option(say("topology.rows.no_match"), ""), ...X_MATCHES.map((one) => new Option(one, one)));
    speak(match.options[0], "topology.rows.no_match");
    label.append(made("span", { className: "s m", textContent: "x-match" }), match);
    return label;
  }

  function headLine() {
    const line = made("div", { className: "s m head" });
    for (const part of ["name", "type", "value"]) {
      speak(line.appendChild(made("span")), `topology.rows.${part}`);
    }
    line.setAttribute("aria-hidden", "true");          // each field says it itself
    return line;
  }

  function addRow() {
    const row = made("li"), name = input("name"), type = made("select"), value = input("value");
    const remove = made("button", { type: "button", className: "btn remove", textContent: "×" });
    if (names.children.length) name.setAttribute("list", names.id);
    for (const one of TYPES) speak(type.appendChild(new Option(one, one)), `topology.rows.type.${one}`);
    speak(type, "topology.rows.type", "sayLabel");
    speak(remove, "topology.rows.remove", "sayLabel");
    row.append(name, type, value, remove);
    list.append(row);
    number();
    const suit = () => {
      value.hidden = type.value === "void";
      value.placeholder = { boolean: "true", json: "[1, 2]" }[type.value] ?? "";
    };
    name.addEventListener("input", () => {
      number();
      if (!Object.hasOwn(known, name.value)) return;
      type.value = known[name.value];
      suit();
    });
    type.addEventListener("change", suit);
    remove.addEventListener("click", () => {
      const next = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      number();
      (next?.querySelector("input") ?? add).focus();
      root.dispatchEvent(new Event("input", { bubbles: true }));
    });
    return name;
  }

  function input(part) {
    const one = made("input", { className: `n ${part}`, autocomplete: "off", spellcheck: false });
    speak(one, `topology.rows.${part}`, "sayLabel");
    return one;
  }

  // Where the errors of each row go: of its name by place, of its value by name.
  function number() {
    [...list.children].forEach((row, place) => {
      const [name, , value] = row.children;
      name.dataset.field = `${field}/${place}`;
      value.dataset.field = `${field}.${name.value}`;
    });
  }

  add.addEventListener("click", () => addRow().focus());

  const rows = () =>
    [...list.children].map(({ children: [name, type, value] }) => ({
      name: name.value.trim(), type: type.value, typed: type.value === "void" ? "" : value.value,
    }));
  return { root, read: () => tableOf(field, rows(), hasMatch ? match.value : "") };
}
