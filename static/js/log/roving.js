// One tab stop for a whole picture: arrow keys move between its parts, Enter or Space presses one.

export function createRoving(svg) {
  const parts = () => [...svg.querySelectorAll('[role="button"]')];
  let at = null;                                       // the id of the part that has the tab stop

  const key = (part) => `${part.dataset.offset}/${part.dataset.position ?? ""}`;

  svg.addEventListener("focusin", (event) => {
    const part = event.target.closest('[role="button"]');
    if (part) [at] = [key(part), refresh(part)];
  });
  svg.addEventListener("keydown", (event) => {
    const list = parts(), place = list.indexOf(document.activeElement);
    if (place < 0) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = event.key === "Home" ? list[0] : event.key === "End" ? list.at(-1) : step ? list[place + step] : null;
    if (next) next.focus();
    else if (event.key === "Enter" || event.key === " ") document.activeElement.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    else if (!step) return;
    event.preventDefault();
    event.stopPropagation();
  });

  function refresh(chosen = null) {
    const list = parts(), stop = chosen ?? list.find((part) => key(part) === at) ?? list.at(-1);
    for (const part of list) {
      const value = part === stop ? "0" : "-1";
      if (part.getAttribute("tabindex") !== value) part.setAttribute("tabindex", value);
    }
  }
  return refresh;
}
