// A lesson on a page of one lane: its checks, and what it calls the lanes.

import { words } from "../base/chrome.js";
import { createLesson } from "./panel.js";
import { lessonPanel } from "./words.js";

// Gives what writes a view's lesson; where the lab plays none, that does nothing.
export function createLessonStrip() {
  const root = document.getElementById("lesson");
  const tabs = [...document.querySelectorAll("[data-lane-tab]")];
  if (!root) return () => {};
  const { write } = createLesson(root);
  return (view) => {
    const shown = lessonPanel(view, words());
    for (const tab of tabs) {
      if (tab.textContent !== shown.tabs[tab.dataset.laneTab]) tab.textContent = shown.tabs[tab.dataset.laneTab];
    }
    write(shown);
  };
}
