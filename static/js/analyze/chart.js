// One chart of a page: drawn by Plotly when it comes near, with the same numbers as a table beside it, for screen
// readers, and on request (its own button, or key T for all).

import { page, speak } from "../base/chrome.js";
import { setTerm } from "../base/dom.js";
import { fillCells } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { colorsOf, loadPlotly } from "../drawing/plotly.js";

const NEAR = "600px 0px";

// make: { layout(context) -> { traces, layout, height, minWidth }, table(context) -> { head, rows }, lineAt?(context,
// trace), cut?(context) }. Of a chart with lineAt, the line under the pointer, or under whose name it is, stands out; a
// name belongs to the trace of its place. cut: words for what only the table has, or none.
export function createChart(section, make, { onPick = null } = {}) {
  const root = section.querySelector(".plot"), box = section.querySelector(".plot-box");
  const wait = section.querySelector(".plot-wait");
  const button = section.querySelector("[data-as-table]"), twin = section.querySelector(".twin");
  const cut = section.querySelector("[data-cut]");
  let context = null, isNear = false, isDrawn = false, isHeard = false, width = 0;

  const isOff = () => Math.abs(box.clientWidth - width) > 1;

  async function redraw() {
    if (!context || !isNear || section.hasAttribute("data-twin")) return;
    const drawing = make.layout({ ...context, colors: colorsOf(root), width: box.clientWidth });
    root.style.setProperty("height", `${drawing.height}px`);
    root.style.setProperty("min-width", `${drawing.minWidth}px`);
    width = box.clientWidth;
    reach(drawing.minWidth > width);
    try {
      const Plotly = await loadPlotly(page.urls.plotly);
      const size = { autosize: false, width: Math.max(width, drawing.minWidth) };
      await Plotly.react(
        root,
        drawing.traces,
        { ...drawing.layout, ...size },
        { displayModeBar: false, responsive: false },
      );
      if (!isHeard) listen();
      isDrawn = true;
      wait.hidden = true;
      root.dataset.drawn = String(Number(root.dataset.drawn ?? 0) + 1);
      // The box may have changed while Plotly was on its way, and no observer tells of that again.
      if (isOff()) redraw();
    } catch (error) {
      console.warn("no chart", error);
      speak(wait, "chart.broken");
    }
  }

  // What scrolls can be reached by keyboard, and what does not is not a tab stop.
  function reach(isWider) {
    const title = section.getAttribute("aria-labelledby");
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-labelledby", title]]) {
      if (isWider) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }

  function listen() {
    isHeard = true;
    if (onPick) root.on("plotly_click", ({ points }) => onPick(context, points[0]));
    if (!make.lineAt) return;
    root.on("plotly_hover", ({ points }) => light(points[0].curveNumber));
    root.on("plotly_unhover", () => light(null));
    if (onPick) root.on("plotly_clickannotation", ({ index }) => onPick(context, { curveNumber: index }));
  }

  function light(place) {
    root.toggleAttribute("data-lit", place !== null);
    root
      .querySelectorAll(".scatterlayer .trace")
      .forEach((line, index) => line.toggleAttribute("data-lit", index === place));
    for (const name of root.querySelectorAll(".annotation")) {
      name.toggleAttribute("data-lit", Number(name.dataset.index) === place);
    }
  }

  if (make.lineAt) {
    root.addEventListener("mouseleave", () => light(null));
    root.addEventListener("mouseover", ({ target }) => {
      const name = target.closest(".annotation");
      if (name || !target.closest(".draglayer")) light(name ? Number(name.dataset.index) : null);
    });
  }

  function writeTable() {
    const { head, rows, terms = [] } = make.table(context);
    while (twin.rows.length > rows.length + 1) twin.deleteRow(-1);
    [head, ...rows].forEach((texts, index) =>
      fillCells(twin.rows[index] ?? twin.insertRow(), texts, index ? "td" : "th"),
    );
    [...twin.rows[0].cells].forEach((cell, place) => setTerm(cell, terms[place], section.hasAttribute("data-twin")));
  }

  function showTable(isTable) {
    section.toggleAttribute("data-twin", isTable);
    for (const cell of twin.querySelectorAll("th[data-term]")) cell.tabIndex = isTable ? 0 : -1;
    button.setAttribute("aria-pressed", String(isTable));
    redraw();
  }

  button.addEventListener("click", () => showTable(!section.hasAttribute("data-twin")));
  new IntersectionObserver((entries) => {
    isNear = entries.at(-1).isIntersecting;
    if (isNear && !isDrawn) redraw();
  }, { rootMargin: NEAR }).observe(section);
  new ResizeObserver(() => {
    if (isDrawn && isOff()) redraw();
  }).observe(box);

  return {
    section, showTable,
    draw(newContext) {
      context = newContext;
      writeTable();
      cut.textContent = make.cut?.(context) ?? "";
      cut.hidden = !cut.textContent;
      isDrawn = isDrawn && isNear;       // what is out of sight is drawn again when it comes near
      return redraw();
    },
  };
}

// Key T turns all charts of a page into tables and back.
export function tablesByKey(charts) {
  bindKeys([{
    keys: ["t"], says: "keys.tables",
    act() {
      const isTable = !charts.every(({ section }) => section.hasAttribute("data-twin"));
      for (const chart of charts) chart.showTable(isTable);
    },
  }]);
}
