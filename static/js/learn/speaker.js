// Runs in the speaker's window: the time goes on while a step that is shown live takes the tab to a lab, and each deck
// of the tab hears that the window is there. It goes with its tab.

import { HERE, timeSince } from "./opened.js";

const SECOND_MS = 1000;

function tick() {
  if (!opener || opener.closed) return close();
  opener.postMessage(HERE, origin);
  const elapsed = document.getElementById("elapsed");
  if (!elapsed) return null;
  elapsed.textContent = elapsed.dataset.words.replace("{time}", timeSince(Number(elapsed.dataset.began), Date.now()));
  return null;
}

setInterval(tick, SECOND_MS);
tick();
