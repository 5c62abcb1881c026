// The ranking's rows: written again when weights or language change. A row keeps its element while it moves, so that a
// focus is not lost.

import { page, say, speak, words } from "../base/chrome.js";
import { rankingRows } from "./result.js";

const CELLS = ["place", "score", "skew", "band", "churn", "pause", "stood", "lag", "drain", "order", "why"];
const LABELLED = ["skew", "churn", "pause", "lag", "order"];

export function createRanking(body, template, { onPick }) {
  const rows = new Map();

  function rowOf(id) {
    if (rows.has(id)) return rows.get(id);
    const element =
      [...body.rows].find((row) => row.dataset.strategy === id) ?? template.content.firstElementChild.cloneNode(true);
    element.dataset.strategy = id;
    element.querySelector("[data-pick]").addEventListener("click", () => onPick(id));
    rows.set(id, element);
    return element;
  }

  return function write(result, ranking, picked) {
    const texts = rankingRows(result, ranking, words());
    texts.forEach((text, index) => {
      const element = rowOf(text.id), before = body.rows[index];
      for (const name of CELLS) element.querySelector(`[data-cell="${name}"]`).textContent = text[name];
      // a phone has no head row
      for (const name of LABELLED) {
        element.querySelector(`[data-cell="${name}"]`).closest("td").dataset.label = say(`rank.${name}`);
      }
      const stood = element.querySelector("[data-cell=stood]");
      stood.hidden = !text.stood;
      stood.title = say("rank.stood");
      const band = element.querySelector("[data-cell=band]"), drain = element.querySelector("[data-cell=drain]");
      band.hidden = !text.band;
      band.title = text.band_title;
      drain.hidden = !text.drain;
      drain.title = say("rank.lag_title");
      element.querySelector("[data-cell=model]").textContent = text.model;
      element.querySelector("[data-cell=name]").textContent = text.name;
      speak(element.querySelector("[data-cell=document]"), "rank.document");
      element.querySelector("[data-cell=document]").hidden = !text.document;
      element.querySelector(".score-bar .ink").setAttribute("width", text.bar);
      const pick = element.querySelector("[data-pick]");
      pick.setAttribute("aria-pressed", String(text.id === picked));
      pick.title = say("rank.pick", { strategy: `${text.model} ${text.name}` });
      element.classList.toggle("best", text.is_best);
      element.classList.toggle("out", text.is_excluded);
      element.toggleAttribute("data-picked", text.id === picked);
      if (before !== element) body.insertBefore(element, before ?? null);
    });
    body.dataset.language = page.language;
  };
}
