// One short message near the control it is about. It goes by itself, or when closed; nothing waits for it.

import { place } from "./place.js";

const STAYS_MS = 8000;

export function createNotice(box) {
  const text = box.querySelector("#notice-text"), action = box.querySelector("#notice-action");
  let timer = 0, act = null;
  const hide = () => {
    box.hidden = true;
    clearTimeout(timer);
  };
  box.querySelector("#notice-close").addEventListener("click", hide);
  action.addEventListener("click", () => {
    hide();
    act?.();
  });
  return function notice(message, { near = null, kind = "error", label = "", onAction = null } = {}) {
    text.textContent = message;
    box.dataset.kind = kind;
    action.hidden = !onAction;
    action.textContent = label;
    act = onAction;
    box.hidden = false;
    place(box, near);
    clearTimeout(timer);
    if (!onAction) timer = setTimeout(hide, STAYS_MS);
  };
}
