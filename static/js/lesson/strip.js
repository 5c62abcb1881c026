// A lesson on a page of one lane: its caption and its panel, above what the page shows of the lane.

import { words } from "../base/chrome.js";
import { createLesson } from "./panel.js";
import { lessonPanel } from "./words.js";

// Gives what writes a view's lesson; where the lab plays none, that does nothing.
export function createLessonStrip() {
  const root = document.getElementById("lesson"), caption = document.querySelector("[data-lesson-caption]");
  const tabs = [...document.querySelectorAll("[data-lane-tab]")];
  if (!root) return () => {};
  const { write } = createLesson(root);
  return (view) => {
    const shown = lessonPanel(view, words());
    if (caption.textContent !== shown.slots.caption) caption.textContent = shown.slots.caption;
    for (const tab of tabs) {
      if (tab.textContent !== shown.tabs[tab.dataset.laneTab]) tab.textContent = shown.tabs[tab.dataset.laneTab];
    }
    write(shown);
  };
}
