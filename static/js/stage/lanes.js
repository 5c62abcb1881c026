// Writes what present.js says into the lanes: slots, figures, switch, rows and tables. Touches only what changed.

import { fillCells, setTerm, textOnce } from "../base/dom.js";
import { writeMore } from "../base/rows.js";
import { createLine } from "../frame/line.js";

export function createLane(root, rowTemplate) {
  const slots = [...root.querySelectorAll("[data-slot]")].map((element) => [element.dataset.slot, textOnce(element)]);
  const list = root.querySelector(".row-list"), said = createLine(root.querySelector("[data-parts]"));
  const more = root.querySelector("[data-more]");
  const routeSwatch = root.querySelector(".route rect"), algorithms = [...root.querySelectorAll("[data-algorithm]")];
  const since = createFigures(root.querySelector(".since")), figures = createFigures(root.querySelector(".figures"));
  const tally = createTally(root.querySelector(".tally"));
  const twin = createTwin(root);
  const covers = root.querySelector('[data-slot="hero_covers"]'), rows = new Map();
  const note = root.querySelector('[data-slot="note"]');
  let rules = null;
  for (const element of list.children) rows.set(element.dataset.consumer, createRow(element));

  function writeRoute({ slots: texts, route_paint: fill }) {
    for (const [name, set] of slots) if (name in texts) set(texts[name]);
    routeSwatch.setAttribute("fill", fill);
  }

  function write(lane) {
    for (const [name, set] of slots) set(lane.slots[name]);
    covers.hidden = !lane.slots.hero_covers;
    setTerm(note, lane.note_term);
    said(lane.say);
    since(lane.since);
    figures(lane.figures);
    tally(lane.tally);
    more.hidden = !lane.slots.more;
    routeSwatch.setAttribute("fill", lane.route_paint);
    if (lane.algorithms !== rules) writeRules(algorithms, lane.algorithms);
    rules = lane.algorithms;
    writeRows(list, rows, rowTemplate, lane.rows);
    if (lane.twin) twin(lane.twin);
  }

  return { write, writeRoute };
}

function createFigures(root) {
  const cells = [...root.children].map((box) => ({
    label: textOnce(box.querySelector(".label")), parts: [...box.lastElementChild.children].map(textOnce),
    reason: reasonOnce(box.lastElementChild),
  }));
  return (figures) => figures.forEach(({ label, before, value, after, reason }, index) => {
    cells[index].label(label);
    cells[index].reason(reason);
    [before, value, after].forEach((text, part) => cells[index].parts[part](text));
  });
}

// A dash says why it is one.
function reasonOnce(element) {
  let old = null;
  return (reason) => {
    if (reason === old) return;
    old = reason;
    element.dataset.tip = reason;
    if (reason) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  };
}

function createTally(root) {
  const cells = [...root.children].map((box) => ({
    label: textOnce(box.querySelector(".label")), value: textOnce(box.lastElementChild),
  }));
  return (tally) => tally.forEach(({ label, value }, index) => {
    cells[index].label(label);
    cells[index].value(value);
  });
}

function writeRules(buttons, items) {
  const byId = new Map(items.map((item) => [item.id, item]));
  for (const button of buttons) {
    const item = byId.get(button.dataset.algorithm), inList = button.classList.contains("item");
    if (!item) continue;
    button.setAttribute("aria-pressed", String(item.pressed));
    if (inList) {
      button.querySelector("b").textContent = item.label;
      button.querySelector(".about").textContent = item.about;
    } else {
      button.textContent = item.label;
      button.title = item.about;
      button.hidden = !item.shown;
    }
  }
}

function writeRows(list, rows, template, wanted) {
  const names = new Set(wanted.map((row) => row.name));
  for (const [name, row] of rows) {
    if (names.has(name)) continue;
    const verb = row.element.contains(document.activeElement) ? document.activeElement.dataset.verb : null;
    const neighbour = row.element.nextElementSibling ?? row.element.previousElementSibling;
    row.element.remove();
    rows.delete(name);
    // The focus goes on to the same verb of a neighbour; without one to the list, which says that it is empty.
    if (verb) {
      (
        neighbour?.querySelector(`[data-verb="${verb}"]`) ??
        neighbour?.querySelector("[data-verb]") ??
        list.closest(".list")
      ).focus();
    }
  }
  let place = list.firstElementChild;
  for (const data of wanted) {
    let row = rows.get(data.name);
    if (!row) {
      row = createRow(template.content.firstElementChild.cloneNode(true));
      rows.set(data.name, row);
    }
    row.write(data);
    if (row.element === place) place = place.nextElementSibling;
    else list.insertBefore(row.element, place);
  }
}

function createRow(element) {
  const field = (name) => textOnce(element.querySelector(`[data-field="${name}"]`));
  const fields = {
    name: field("name"), word: field("word"), left: field("left"), share: field("share"), rate: field("rate"),
  };
  const paints = [...element.querySelectorAll(".paint")], now = element.querySelector(".now");
  const was = element.querySelector(".was"), fair = element.querySelector(".fair");
  const arc = element.querySelector(".left"), buttons = element.querySelector(".vb"), old = {};
  const changed = (name, value) => old[name] !== value && ((old[name] = value), true);
  return {
    element,
    write(row) {
      for (const name in fields) fields[name](row[name]);
      if (changed("name", row.name)) {
        element.dataset.consumer = row.name;
        element.querySelector('[data-field="name"]').title = row.name;
      }
      if (changed("state", row.state)) element.dataset.state = row.state;
      if (changed("paint", row.paint)) for (const item of paints) item.setAttribute("fill", row.paint);
      if (changed("width", row.width)) {
        now.setAttribute("width", row.width);
        was.setAttribute("x", row.was_x);
      }
      if (changed("was", row.was_width)) was.setAttribute("width", row.was_width);
      if (changed("fair", row.fair)) for (const end of ["x1", "x2"]) fair.setAttribute(end, row.fair || -9);
      if (changed("arc", row.arc)) arc.setAttribute("stroke-dasharray", `${row.arc || 0} 100`);
      if (changed("verbs", row.verbs)) writeVerbs(buttons, row.verbs);
    },
  };
}

// Buttons stay where they are while their verb changes, so that a focus is not lost.
function writeVerbs(box, verbs) {
  while (box.children.length > verbs.length) box.lastElementChild.remove();
  verbs.forEach(({ kind, label, word }, index) => {
    let button = box.children[index];
    if (!button) {
      button = box.appendChild(document.createElement("button"));
      button.type = "button";
    }
    button.dataset.verb = kind;
    button.textContent = word;
    button.title = label;
    button.setAttribute("aria-label", label);
  });
}

function createTwin(root) {
  const head = root.querySelector(".twin thead tr"), body = root.querySelector(".twin tbody");
  const more = root.querySelector("[data-all-rows]");
  const caption = textOnce(root.querySelector("[data-twin-caption]"));
  return (twin) => {
    caption(twin.caption);
    fillCells(head, twin.head, "th");
    while (body.rows.length > twin.rows.length) body.lastElementChild.remove();
    twin.rows.forEach((cells, index) => fillCells(body.rows[index] ?? body.insertRow(), cells, "td"));
    writeMore(more, twin.more);
  };
}
