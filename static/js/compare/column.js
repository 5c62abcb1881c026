// One lane of a comparison: its rule, its picture in each of the labs that are shown, and its bill.

import { fillCells } from "../base/dom.js";
import { writeMore } from "../base/rows.js";
import { PICTURES } from "../lane/pictures/all.js";
import { twin } from "../lane/twins.js";

const TWINS_EVERY_MS = 1000;

// id: the lane's. template: of the page. labs: how many are shown. onSort(figure): a figure's name was pressed.
export function createColumn(id, template, { labs, onSort, onRows }) {
  const root = template.content.firstElementChild.cloneNode(true), body = root.querySelector(".costs tbody");
  const first = root.querySelector("figure"), figures = [first];
  while (figures.length < labs) figures.push(first.parentElement.appendChild(first.cloneNode(true)));
  root.dataset.lane = id;
  root.setAttribute("aria-labelledby", `h-${id}`);
  root.toggleAttribute("data-two", labs > 1);
  const head = root.querySelector(".costs thead tr");
  const title = Object.assign(root.querySelector("h2"), { id: `h-${id}` });
  const model = root.querySelector(".head p"), lines = new Map();

  function line(figure) {
    if (!lines.has(figure)) {
      const row = body.insertRow(), cells = labs > 1 ? labs + 1 : 1;
      const head = Object.assign(document.createElement("th"), { scope: "row" });
      head.append(Object.assign(document.createElement("button"), { type: "button" }));
      row.append(head);
      row.dataset.figure = figure;
      for (let cell = 0; cell < cells; cell += 1) row.insertCell().className = "n";
      row.querySelector("button").addEventListener("click", () => onSort(figure));
      lines.set(figure, row);
    }
    return lines.get(figure);
  }

  let twinsAt = -Infinity;                              // tables cost more than they are looked at
  const whole = new Set();                              // figures whose tables have all rows
  for (const figure of figures) {
    figure.querySelector("[data-all-rows]").addEventListener("click", () => {
      if (!whole.delete(figure)) whole.add(figure);
      onRows();
    });
  }

  function writeTwin(figure, lane, words, label) {
    const { head: heads, rows, more } = twin(lane, words, whole.has(figure));
    const [head, body] = figure.querySelectorAll(".twin :is(thead tr, tbody)");
    figure.querySelector(".twin-box").setAttribute("aria-label", label);
    fillCells(head, heads, "th");
    while (body.rows.length > rows.length) body.lastElementChild.remove();
    rows.forEach((cells, place) => fillCells(body.rows[place] ?? body.insertRow(), cells, "td"));
    writeMore(figure.querySelector("[data-all-rows]"), more);
  }

  function set(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  return {
    root,
    // lanes: of each lab, null where it has none. captions: of the pictures.
    // lit: what the picture of the page's own lab lights up, as litOf says it.
    write({ name, about, kind, lanes, captions, height, at, say, words, costs, heads, lit, isForced }) {
      const isTwinsTurn = isForced || performance.now() - twinsAt > TWINS_EVERY_MS;
      if (isTwinsTurn) twinsAt = performance.now();
      fillCells(head, heads, "th");
      set(title, name);
      title.title = about;
      set(model, kind);
      lanes.forEach((lane, place) => {
        const svg = figures[place].querySelector("svg"), caption = figures[place].firstElementChild;
        set(caption, captions[place] ?? "");
        caption.hidden = !captions[place];
        if (!lane) return;
        svg.setAttribute("viewBox", `0 0 280 ${height}`);
        svg.setAttribute("aria-label", say(`picture.${lane.picture.kind}_label`));
        PICTURES[lane.picture.kind].render(svg, lane, { say, at: at[place], height, lit: place ? null : lit });
        if (isTwinsTurn) writeTwin(figures[place], lane, words, [name, captions[place]].filter(Boolean).join(" "));
      });
      for (const { figure, label, about: hint, texts, best, isSorted } of costs) {
        const row = line(figure), button = row.querySelector("button");
        set(button, label);
        button.title = hint;
        button.setAttribute("aria-pressed", String(isSorted));
        texts.forEach((text, place) => set(row.cells[place + 1], text));
        row.cells[1].classList.toggle("best", best);
      }
    },
  };
}
