// "⋯" at each chart of a page of Analyze: what a file says is which study it is from.

import { createTakeMenus } from "../take/menu.js";

export function createTakeCharts(onFail = () => {}) {
  const title = () => document.querySelector("h1").textContent.trim();
  createTakeMenus({
    root: document.getElementById("main"), onFail,
    about: () => ({ lab: title(), clock: null, said: { about: title() } }),
  });
}
