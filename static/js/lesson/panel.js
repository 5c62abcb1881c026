// The checks of a lesson, folded into one button: their numbers as they come.

import { setAttribute, textOnce } from "../base/dom.js";
import { browserStorage, keepPlace, labIn } from "./kept.js";

export function createLesson(root) {
  const slots = [...root.querySelectorAll("[data-lesson]")].map((element) => [
    element.dataset.lesson, textOnce(element), element,
  ]);
  const rows = [...root.querySelectorAll("[data-check]")].map((row) => ({
    row, texts: [...row.querySelectorAll("[data-of]")].map((element) => [element.dataset.of, textOnce(element)]),
  }));
  const lab = labIn(location.pathname), storage = browserStorage();
  const summary = root.querySelector("[data-lesson-label]");
  let keptPlace = "";

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
    setAttribute(summary, "aria-label", lesson.label);
    root.toggleAttribute("data-over", lesson.is_over);
  }

  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !root.open) return;
    root.open = false;
    summary.focus();
  });
  addEventListener("pointerdown", ({ target }) => {
    if (!root.contains(target)) root.open = false;
  });

  return { write };
}
