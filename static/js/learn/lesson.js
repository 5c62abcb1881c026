// A lesson's own page: its tick, and the way back to where one was.

import { say } from "../base/chrome.js";
import { browserStorage, keptLessons } from "../lesson/kept.js";
import { markOf } from "./course.js";
import { goOnAt, showMark } from "./marks.js";
import { followLanguage } from "../base/texts.js";

const main = document.getElementById("main"), go = document.getElementById("go"), storage = browserStorage();

function show() {
  const place = keptLessons(storage)[main.dataset.lesson], mark = markOf(place);
  showMark(main.querySelector("[data-kept]"), place);
  go.hidden = mark?.kind !== "place";
  if (go.hidden) return;
  go.href = goOnAt(location.pathname, place.lab);
  go.textContent = say("learn.go_on", mark);
}

addEventListener("pageshow", show);
addEventListener("storage", show);
show();
followLanguage(show);
