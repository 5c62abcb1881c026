// One short message near the control it is about; on a phone above the bottom bar, where it covers no picture. It goes
// on its own, or when closed; only an error that asks for an action stays.

import { place } from "./place.js";

const STAYS_MS = 8000, PHONE_WIDTH = 640;

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
  function notice(message, { near = null, kind = "error", label = "", onAction = null } = {}) {
    text.textContent = message;
    box.dataset.kind = kind;
    action.hidden = !onAction;
    action.textContent = label;
    act = onAction;
    box.hidden = false;
    if (innerWidth > PHONE_WIDTH) place(box, near);
    else for (const side of ["left", "top"]) box.style.removeProperty(side);
    clearTimeout(timer);
    if (!onAction || kind !== "error") timer = setTimeout(hide, STAYS_MS);
  }
  // What was refused before is not of the next order.
  notice.clearError = () => {
    if (box.dataset.kind === "error" && action.hidden) hide();
  };
  return notice;
}
