// A batch's bytes and the list of its fields. The field under the pointer, or with the focus, is inverted in both
// together.

import { fieldName, fieldValue, rows } from "./fields.js";
import { address } from "./format.js";

const WHOLE = new Set(["attributes", "base_timestamp"]);   // told whole, on two lines if necessary

const make = (tag, className = "", text = null) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== null) element.textContent = text;
  return element;
};

export function createHex(table, list) {
  let chosen = -1, cells = [], items = [], tabItem = null;

  function choose(field, from) {
    if (field === chosen) return;
    for (const isOn of [false, true]) {
      if (isOn) chosen = field;
      for (const cell of cells[chosen] ?? []) cell.classList.toggle("on", isOn);
      items[chosen]?.classList.toggle("on", isOn);
    }
    const other = from === "list" ? cells[chosen]?.[0] : items[chosen];
    if (other) nearest(other, other.closest("[data-scroll]"));
  }

  function stop(item) {
    tabItem?.setAttribute("tabindex", "-1");
    tabItem = item;
    item?.setAttribute("tabindex", "0");
  }

  const ofCell = (event) => event.target.closest("[data-field]");
  table.addEventListener(
    "pointerover",
    (event) => ofCell(event) && choose(Number(ofCell(event).dataset.field), "bytes"),
  );
  list.addEventListener("pointerover", (event) => ofCell(event) && choose(Number(ofCell(event).dataset.field), "list"));
  list.addEventListener("focusin", (event) => {
    const item = ofCell(event);
    if (!item) return;
    stop(item);
    choose(Number(item.dataset.field), "list");
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], at = items.indexOf(document.activeElement);
    const next = event.key === "Home" ? items[0] : event.key === "End" ? items.at(-1) : step ? items[at + step] : null;
    if (!next) return;
    event.preventDefault();
    next.focus();
  });

  return function write(batch, { columns, say }) {
    chosen = -1;
    cells = batch.fields.map(() => []);
    table.replaceChildren(...rows(batch, columns).map((row) => {
      const line = make("tr");
      line.append(make("th", "", address(row.address)));
      line.firstChild.scope = "row";
      for (const { text, field, isFirst } of row.cells) {
        const isContent = field >= 0 && batch.fields[field].record !== null;
        const cell = make("td", `${isFirst ? "first" : ""}${isContent ? " record" : ""}`.trim(), text);
        cell.dataset.field = field;
        if (field >= 0) cells[field].push(cell);
        line.append(cell);
      }
      return line;
    }));
    let record = null;
    const lines = [], before = items;
    items = batch.fields.map((field, index) => {
      if (field.record !== null && field.record !== record) {
        record = field.record;
        lines.push(make("li", "which m", say("log.record_of", { offset: batch.records[record]?.offset ?? record })));
      }
      const item = make(
        "li",
        `${field.name === "crc" && !batch.crc_ok ? "wrong" : ""}${WHOLE.has(field.name) ? " whole" : ""}`.trim(),
      );
      const value = fieldValue(field, batch, say);
      item.dataset.field = index;
      item.tabIndex = -1;
      item.append(
        make("span", "n m", address(field.start)),
        make("span", "", fieldName(field, batch, say)),
        make("span", "n v", value),
      );
      item.lastChild.title = value;
      lines.push(item);
      return item;
    });
    const held = before.indexOf(document.activeElement);
    const next = items[Math.min(Math.max(0, held), items.length - 1)] ?? null;
    list.replaceChildren(...lines);
    tabItem = null;
    stop(next);
    if (held >= 0) next?.focus({ preventScroll: true });
  };
}

// Scrolls a box so far that the element is in it; the page itself stays where it is.
function nearest(element, box) {
  if (!box) return;
  const inner = element.getBoundingClientRect(), outer = box.getBoundingClientRect();
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}
