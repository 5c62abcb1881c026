// What matters to the reader: four sliders. Their numbers change at once; the server ranks, a moment after the last movement, and the
// weights stand in the address, so that a shared link shows the same order.

import { page, say } from "../chrome.js";
import { ask } from "./api.js";

const REST_MS = 120;
export const TERMS = ["skew", "churn", "pause", "order"];

export function createWeights(root, { onRanking }) {
  const sliders = TERMS.map((term) => root.querySelector(`[name="${term}"]`)), note = root.querySelector("[data-note]");
  let timer = 0, asked = 0;

  const values = () => Object.fromEntries(sliders.map((slider) => [slider.name, Number(slider.value)]));

  function show() {
    for (const slider of sliders) {
      slider.closest("label").querySelector("output").textContent = slider.value;
      slider.style.setProperty("--part", `${slider.value}%`);
    }
    const isEqual = sliders.every((slider) => slider.value === "0");
    note.hidden = !isEqual;
    if (isEqual) note.textContent = say("weights.equal");
  }

  async function rank() {
    const query = new URLSearchParams(values()), turn = (asked += 1);
    try {
      const { ranking } = await ask(`${page.urls.ranking}?${query}`);
      if (turn !== asked) return;                       // a later one is on its way
      history.replaceState(null, "", `?${query}`);
      onRanking(ranking);
    } catch {
      if (turn !== asked) return;
      note.hidden = false;
      note.textContent = say("weights.stale");
    }
  }

  root.addEventListener("input", () => {
    show();
    clearTimeout(timer);
    if (note.hidden) timer = setTimeout(rank, REST_MS);
  });
  show();
  return {
    values, show,
    set(weights) {
      for (const slider of sliders) slider.value = weights[slider.name] ?? 0;
      show();
    },
  };
}
