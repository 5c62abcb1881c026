// One tab stop for a whole picture: arrow keys move between its parts, Enter or Space presses one.

const keyOf = (part) => part.dataset.part ?? `${part.dataset.offset}/${part.dataset.position ?? ""}`;

// Where the Tab key enters a picture in which nobody has been yet: at what is chosen, else at the first of what can be;
// of messages and moments at the newest.
export const entry = (all) =>
  all.find((part) => part.getAttribute("aria-pressed") === "true") ??
  (all[0]?.hasAttribute("aria-pressed") ? all[0] : all.at(-1));

// Answers around(drawIt): draws, then gives the tab stop and the focus back to the part that had them, or, where it is
// gone, to the one that has come in its place. parts: what the arrow keys go through. presses: the keys that press a
// part.
export function createRoving(svg, parts = '[role="button"]', presses = ["Enter", " "]) {
  const list = () => [...svg.querySelectorAll(parts)];
  let at = null;                                       // the key of the part that had the focus last

  // On the document: a drawing that listens for the focus itself becomes its own tab stop in Chromium.
  svg.ownerDocument.addEventListener("focusin", (event) => {
    const part = svg.contains(event.target) ? event.target.closest(parts) : null;
    if (!part) return;
    at = keyOf(part);
    stopAt(part);
  });
  svg.addEventListener("keydown", (event) => {
    const all = list(), place = all.indexOf(document.activeElement);
    if (place < 0) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = event.key === "Home" ? all[0] : event.key === "End" ? all.at(-1) : step ? all[place + step] : null;
    if (next) next.focus();
    else if (presses.includes(event.key)) {
      document.activeElement.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    } else if (!step) return;
    event.preventDefault();
    event.stopPropagation();
  });

  function stopAt(chosen) {
    for (const part of list()) {
      const value = part === chosen ? "0" : "-1";
      if (part.getAttribute("tabindex") !== value) part.setAttribute("tabindex", value);
    }
  }

  return function around(drawIt) {
    const place = list().indexOf(document.activeElement);
    drawIt();
    const all = list(), same = all.find((part) => keyOf(part) === at);
    const next = same ?? (place < 0 ? entry(all) : all[Math.min(place, all.length - 1)]);
    if (!next) return;
    stopAt(next);
    if (place >= 0 && document.activeElement !== next) next.focus({ preventScroll: true });
  };
}
