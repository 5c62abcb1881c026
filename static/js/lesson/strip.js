// A lesson on a page of one lane: its checks.

import { words } from "../base/chrome.js";
import { createLesson } from "./panel.js";
import { lessonPanel } from "./words.js";

// Gives what writes a view's lesson; where the lab plays none, that does nothing.
export function createLessonStrip() {
  const root = document.getElementById("lesson");
  if (!root) return () => {};
  const { write } = createLesson(root);
  return (view) => write(lessonPanel(view, words()));
}
