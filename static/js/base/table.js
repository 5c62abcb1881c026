// A table whose rows are kept from one writing to the next: only their texts change, so that what has the focus keeps
// it.

import { say } from "./chrome.js";
import { setTerm } from "./dom.js";
import { cut, isReached, writeMore } from "./rows.js";

// {head: [words], terms?: [the glossary's term of each head, or null], rows: [[words]], offsets: [offset of each row or
// null]}. A row that can be looked up has its first cell as a button: a stop of the Tab key only while the tables are
// what is shown.
export function writeTable(table, given, label = "") {
  const { head, terms = [], offsets } = given, { shown: rows, code, count } = cut(given.rows, whole.has(table));
  const body = table.tBodies[0], held = buttons(body).indexOf(document.activeElement);
  const before = lines.get(body) ?? new Map(), after = new Map();
  const heads = table.tHead.rows[0] ?? table.tHead.insertRow(), reached = isReached(table);
  writeCells(heads, head, null, "th", reached);
  [...heads.cells].forEach((cell, place) => setTerm(cell, terms[place], reached));
  for (const row of [...body.rows]) if (!before.has(row.dataset.key)) row.remove();
  rows.forEach((texts, place) => {
    const key = keyOf(texts, offsets[place], after), row = before.get(key) ?? document.createElement("tr");
    row.dataset.key = key;
    after.set(key, row);
    writeCells(row, texts, offsets[place], "td", reached);
  });
  for (const [key, row] of before) if (!after.has(key)) row.remove();
  [...after.values()].forEach((row, place) => {
    if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
  });
  lines.set(body, after);
  if (label) table.setAttribute("aria-label", label);
  writeAll(table, { given, label, text: code && say(code, { count }) });
  if (held >= 0 && !body.contains(document.activeElement)) {
    buttons(body)[Math.min(held, buttons(body).length - 1)]?.focus();
  }
}

// What shows all rows, below a table that has more than its first ones.
function writeAll(table, { given, label, text }) {
  written.set(table, () => writeTable(table, given, label));
  if (!text && !allOf.has(table)) return;
  if (!allOf.has(table)) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "link s" });
    button.dataset.allRows = table.id;
    button.addEventListener("click", () => {
      if (!whole.delete(table)) whole.add(table);
      written.get(table)();
    });
    table.after(button);
    allOf.set(table, button);
  }
  writeMore(allOf.get(table), text);
}

const whole = new WeakSet(), allOf = new WeakMap(), written = new WeakMap();
const lines = new WeakMap();                            // a table's body: its rows by key
const buttons = (body) => [...body.querySelectorAll("button")];

// A deleted segment may have the base offset of a live one: a row that cannot be looked up is another row.
function keyOf(texts, offset, taken) {
  const key = offset === null || offset === undefined ? `-${texts[0]}` : String(offset);
  let own = key;
  for (let again = 2; taken.has(own); again += 1) own = `${key}/${again}`;
  return own;
}

function writeCells(row, texts, offset, tag, reached) {
  while (row.cells.length > texts.length) row.lastChild.remove();
  texts.forEach((text, place) => {
    const cell = row.cells[place] ?? row.appendChild(document.createElement(tag));
    if (tag === "th") cell.scope = "col";
    const isButton = place === 0 && offset !== null && offset !== undefined, holder = isButton ? buttonIn(cell) : cell;
    if (isButton) {
      holder.dataset.offset = offset;
      holder.tabIndex = reached ? 0 : -1;
    }
    if (holder.textContent !== text) holder.textContent = text;
  });
}

function buttonIn(cell) {
  if (cell.firstElementChild) return cell.firstElementChild;
  const button = cell.appendChild(document.createElement("button"));
  button.type = "button";
  button.className = "link";
  return button;
}
