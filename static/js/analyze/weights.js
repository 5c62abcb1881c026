// What matters to the reader: constraints that must hold, and a slider for each term. Their numbers change at once; the
// server ranks, a moment after the last movement, and says what is wrong with it; the request is in the address, so
// that a shared link shows the same order.

import { page, say } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, showErrors } from "../base/field_errors.js";
import { ask } from "../base/requests.js";

const REST_MS = 120;
const TERMS = ["skew", "churn", "pause", "order"];
const BOUNDS = ["wait_s_max", "wait_percent_max", "drain_s_max", "skew_max"];
const ANSWERS = ["keeps_order", "keeps_up", "no_idle"];

// onRanking is given the server's answer: { weights, constraints, ranking, verdict }.
export function createWeights(root, { onRanking }) {
  const input = (name) => root.querySelector(`[name="${name}"]`), sliders = TERMS.map(input);
  const bounds = BOUNDS.map(input), answers = ANSWERS.map(input);
  const note = root.querySelector("[data-note]");
  let timer = 0, asked = 0;

  const values = () =>
    Object.fromEntries([
      ...sliders.map((slider) => [slider.name, slider.value]), ...answers.map((box) => [box.name, String(box.checked)]),
      ...bounds.map((bound) => [bound.name, written(bound)]),
    ]);

  // A text that is not a number has no value; the server has to refuse it, not to take it for an empty one.
  const written = (bound) => (bound.validity.badInput ? "?" : bound.value);

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
      const answer = await ask(`${page.urls.ranking}?${query}`);
      if (turn !== asked) return;                       // a later one is on its way
      history.replaceState(null, "", `?${query}`);
      clearErrors(root);
      onRanking(answer);
    } catch (error) {
      if (turn !== asked) return;
      const homeless =
        error instanceof Refusal ? showErrors(root, error.fields, { isFocused: false }) : [say("weights.stale")];
      note.hidden = !homeless.length;
      note.textContent = homeless.join(" ");
    }
  }

  root.addEventListener("submit", (event) => event.preventDefault());
  root.addEventListener("input", () => {
    show();
    clearTimeout(timer);
    if (note.hidden) timer = setTimeout(rank, REST_MS);
  });
  show();
  return {
    // In another language: what the server refused, it refuses in that one.
    say() {
      show();
      if (root.querySelector("[aria-invalid]")) rank();
    },
    set(weights, constraints) {
      for (const slider of sliders) slider.value = weights[slider.name] ?? 0;
      for (const bound of bounds) bound.value = constraints[bound.name] ?? "";
      for (const box of answers) box.checked = constraints[box.name];
      show();
    },
  };
}
