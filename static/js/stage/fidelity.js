// The line of a lane that leads to /fidelity/: the numbers are the server's, by model and algorithm.

import { page, speak } from "../base/chrome.js";

// -> write(model, algorithm)
export function createFidelity(root) {
  const said = root.querySelector("[data-fidelity] span");
  let shown = null;
  return (model, algorithm) => {
    const { code, params } = page.fidelity[model][algorithm];
    if (shown === algorithm) return;
    shown = algorithm;
    speak(said, code, "say", params);
  };
}
