// The panel of a lesson: what to watch for, the checks as their numbers come, and at the end what one has learned.

import { textOnce } from "../base/dom.js";
import { browserStorage, keepPlace, labIn } from "./kept.js";

export function createLesson(root) {
  const slots = [...root.querySelectorAll("[data-lesson]")].map((element) => [
    element.dataset.lesson, textOnce(element), element,
  ]);
  const rows = [...root.querySelectorAll("[data-check]")].map((row) => ({
    row, texts: [...row.querySelectorAll("[data-of]")].map((element) => [element.dataset.of, textOnce(element)]),
  }));
  const lab = labIn(location.pathname), storage = browserStorage();
  let wasOver = root.hasAttribute("data-over"), keptPlace = "";

  function write(lesson) {
    const place = `${lesson.frame} ${lesson.is_over}`;
    if (lab && place !== keptPlace) keepPlace(lesson, lab, storage, Date.now());
    keptPlace = place;
    for (const [name, set, element] of slots) {
      set(lesson.slots[name]);
      const isEmpty = lesson.slots[name] === "";
      if (element.hidden !== isEmpty && name !== "told") element.hidden = isEmpty;
    }
    for (const [place, { row, texts }] of rows.entries()) {
      const check = lesson.checks[place];
      if (row.dataset.state !== check.state) row.dataset.state = check.state;
      for (const [name, set] of texts) set(check[name]);
    }
    if (wasOver === lesson.is_over) return;
    wasOver = lesson.is_over;
    root.toggleAttribute("data-over", wasOver);
    if (wasOver) root.querySelector(".lesson-in").scrollTop = 0;     // what was learned stands at the top
  }

  return { write };
}
