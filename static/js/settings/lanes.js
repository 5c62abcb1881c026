// The lanes of the form: a row each with its rule and name, and a tab each with the rest of its settings.

import { speak } from "../base/chrome.js";
import { createTabs } from "../base/tabs.js";

// onChange(): a lane has come or gone, or has another name. -> {all(): [{row, part}], show(place)}
export function createLanes({ rows, parts, tabs, blanks, most, onChange }) {
  const all = () => [...rows.children].map((row, place) => ({ row, part: parts.children[place] }));
  let chosen = parts.children[0];

  function nameOf(row) {
    return row.querySelector("[data-part=id]").value.trim() || row.dataset.model;
  }

  // A tab for each lane; the one that was chosen stays so.
  function draw() {
    const list = tabs.cloneNode(false);
    all().forEach(({ row, part }, place) => {
      part.id = `lane-part-${place}`;
      part.setAttribute("aria-labelledby", `lane-tab-${place}`);
      const is = part === chosen, tab = document.createElement("button");
      Object.assign(tab, { type: "button", id: `lane-tab-${place}`, textContent: nameOf(row), tabIndex: is ? 0 : -1 });
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", part.id);
      tab.setAttribute("aria-selected", String(is));
      part.hidden = !is;
      list.append(tab);
      row.querySelector("[data-remove]").hidden = rows.childElementCount === 1;
    });
    tabs.replaceWith(list);
    tabs = list;
    createTabs(list, () => { chosen = [...parts.children].find((part) => !part.hidden); });
    for (const button of blanks) button.disabled = rows.childElementCount >= most;
  }

  function show(place) {
    chosen = parts.children[place] ?? chosen;
    draw();
  }

  function freeName(model) {
    const taken = all().map(({ row }) => nameOf(row));
    let name = model;
    for (let number = 2; taken.includes(name); number += 1) name = `${model}-${number}`;
    return name;
  }

  function add(model) {
    const blank = document.querySelector(`template[data-blank="${model}"]`).content.cloneNode(true);
    const [row, part] = blank.children, name = freeName(model);
    row.querySelector("[data-part=id]").value = name;
    for (const element of [...row.querySelectorAll("[data-say]"), ...part.querySelectorAll("[data-say]")]) {
      speak(element, element.dataset.say, "say", JSON.parse(element.dataset.params ?? "null"));
    }
    rows.append(row);
    parts.append(part);
    show(parts.childElementCount - 1);
    row.querySelector("[data-part=algorithm]").focus();
    onChange();
  }

  function remove(row) {
    const place = [...rows.children].indexOf(row), part = parts.children[place];
    row.remove();
    part.remove();
    if (part === chosen) chosen = parts.children[Math.max(0, place - 1)];
    draw();
    rows.children[Math.max(0, place - 1)].querySelector("[data-part=algorithm]").focus();
    onChange();
  }

  for (const button of blanks) button.addEventListener("click", () => add(button.dataset.addLane));
  rows.addEventListener("click", ({ target }) => {
    if (target.closest("[data-remove]")) remove(target.closest(".lane-row"));
  });
  rows.addEventListener("input", ({ target }) => {
    if (target.matches("[data-part=id]")) draw();
  });
  draw();
  return { all, show };
}
