// A table whose rows one can choose: kept from frame to frame, so that what has the focus keeps it. The first cell of a
// row is the button.

import { setAttribute, setText } from "../base/dom.js";
import { chip } from "../drawing/chip.js";

// heads(): words of the columns. colorOf(name): of a program. write(rows): [{key, color?, isChosen, cells: [text or
// {text, names: [program], more: a text after them, look: classes}]}].
export function createRows(table, { heads, colorOf, onChoose }) {
  const head = table.tHead.insertRow(), body = table.tBodies[0], kept = new Map();
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) onChoose(row.dataset.key);
  });
  // What a phone shows as cards is a table all the same.
  const roles = { table: [table], rowgroup: [table.tHead, body], row: [head] };
  for (const [role, parts] of Object.entries(roles)) for (const part of parts) part.setAttribute("role", role);
  return function write(rows) {
    const words = heads();
    words.forEach((word, place) => {
      const cell = head.cells[place] ?? head.appendChild(Object.assign(document.createElement("th"), {
        scope: "col", role: "columnheader",
      }));
      setText(cell, word);
    });
    const keys = new Set(rows.map(({ key }) => key));
    for (const [key, row] of kept) if (!keys.has(key)) {
      row.remove();
      kept.delete(key);
    }
    rows.forEach(({ key, color, isChosen, cells }, place) => {
      const row = kept.get(key) ?? make(key);
      if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
      row.toggleAttribute("data-chosen", isChosen);
      cells.forEach((cell, at) => writeCell(row, at, cell, color, words[at]));
      setAttribute(row.querySelector("button"), "aria-pressed", String(isChosen));
    });
  };

  function make(key) {
    const row = document.createElement("tr");
    row.dataset.key = key;
    row.role = "row";
    const button = cellIn(row).appendChild(document.createElement("button"));
    Object.assign(button, { type: "button", className: "who n" });
    kept.set(key, row);
    return row;
  }

  function cellIn(row) {
    const cell = row.insertCell();
    cell.role = "cell";
    return cell;
  }

  function writeCell(row, at, cell, color, head) {
    const { text = "", names = null, more = "", look = "n" } = typeof cell === "object" ? cell : { text: cell };
    const target = at ? (row.cells[at] ?? cellIn(row)) : row.querySelector("button");
    if (at) {
      setAttribute(target, "class", look);
      setAttribute(target, "data-head", head);
    }
    const mark = JSON.stringify([text, more, names, names?.map(colorOf), at ? null : color]);
    if (target.dataset.mark === mark) return;
    target.dataset.mark = mark;
    if (names) {
      target.replaceChildren(...names.map((name) => {
        const one = document.createElement("span");
        one.className = "reader";
        one.append(chip(colorOf(name)), name);
        return one;
      }), more);
    } else target.replaceChildren(...(at || color === undefined ? [] : [chip(color)]), text);
  }
}
