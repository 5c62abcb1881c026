// Short explanations beside what they are about: a term's definition (data-term) or a text of the element's own
// (data-tip). One box for the page, in the top layer, so that nothing cuts it off. It opens on hover, focus and touch
// and closes with Escape; a mouse may enter it.

import { place } from "./place.js";

const LINGER_MS = 150, EXPLAINED = "[data-term],[data-tip]";

// The text for an element: its own, or the definition of its term. Empty where there is none.
const textOf = ({ dataset }, say) => dataset.tip || (dataset.term ? say(`term.${dataset.term}`) : "");

export function createTips(say) {
  const box = document.createElement("div");
  Object.assign(box, { id: "tip", className: "tip", popover: "manual", role: "tooltip" });
  document.body.append(box);
  let shown = null, timer = 0;

  function open(element) {
    clearTimeout(timer);
    const text = textOf(element, say);
    if (!text) return hide();
    shown = element;
    box.textContent = text;
    if (!element.hasAttribute("aria-describedby") && element instanceof HTMLElement) {
      element.setAttribute("aria-describedby", "tip");
    }
    if (!box.matches(":popover-open")) box.showPopover();
    place(box, element);
  }

  function hide() {
    clearTimeout(timer);
    if (shown?.getAttribute("aria-describedby") === "tip") shown.removeAttribute("aria-describedby");
    shown = null;
    if (box.matches(":popover-open")) box.hidePopover();
  }

  const hideSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, LINGER_MS);
  };
  const explained = (event) => event.target.closest?.(EXPLAINED);

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    if (event.target === box) clearTimeout(timer);
    else if (explained(event)) open(explained(event));
    else if (shown && shown !== document.activeElement) hideSoon();
  });
  document.addEventListener("focusin", (event) =>
    explained(event)?.matches(":focus-visible") ? open(explained(event)) : undefined,
  );
  document.addEventListener("focusout", (event) => (explained(event) === shown ? hideSoon() : undefined));
  // A tap opens what it meets and closes everything else. A term in a label must not press the field that the label is
  // of.
  document.addEventListener("click", (event) => {
    const element = explained(event);
    if (element) open(element);
    else if (event.target !== box) hide();
    if (element?.closest("label")) event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown) return;
    event.preventDefault();
    event.stopPropagation();
    hide();
  }, true);
  addEventListener("scroll", hide, { passive: true, capture: true });
  addEventListener("resize", hide);
}
