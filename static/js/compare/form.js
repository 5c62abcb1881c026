// The form of a comparison: a history by a press, and no more ways than can be compared. What is wrong is the server's
// to say.

import { page } from "../base/chrome.js";

const form = document.getElementById("compare"), ways = [...form.querySelectorAll('[name="ways"]')];

// The others wait until one is given up.
function limit() {
  const isFull = ways.filter(({ checked }) => checked).length >= page.ways.most;
  for (const way of ways) way.disabled = isFull && !way.checked;
}

form.addEventListener("change", limit);
form.addEventListener("click", ({ target }) => {
  const { history } = target.closest("[data-history]")?.dataset ?? {};
  if (history !== undefined) form.elements.history.value = history;
});
limit();
