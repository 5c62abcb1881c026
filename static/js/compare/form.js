// The form of a comparison: a history by a press, and no more ways than can be compared. What is wrong is the server's
// to say.

import { page } from "../base/chrome.js";

const OWN = ["csrfmiddlewaretoken", "ways"];
const form = document.getElementById("compare"), ways = [...form.querySelectorAll('[name="ways"]')];

// What stands in the form, as an address that fills it in. A history may be empty, and is then said so.
function address() {
  const given = [...new FormData(form)].filter(([name, value]) => !OWN.includes(name) && (value || name === "history"));
  const chosen = ways.filter(({ checked }) => checked).map(({ value }) => value).join(",");
  document.getElementById("address").search = new URLSearchParams({ ways: chosen, ...Object.fromEntries(given) });
}

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
for (const kind of ["input", "change", "click"]) form.addEventListener(kind, address);
limit();
address();
