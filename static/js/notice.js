// One short message near the control it is about. It goes by itself, or when closed; nothing waits for it.

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

function place(box, near) {
  const at = near?.isConnected ? near.getBoundingClientRect() : null, size = box.getBoundingClientRect();
  const left = at ? Math.min(Math.max(8, at.left + at.width / 2 - size.width / 2), innerWidth - size.width - 8) : (innerWidth - size.width) / 2;
  const below = at ? at.bottom + 6 : innerHeight - size.height - 80;
  const top = at && below + size.height > innerHeight - 8 ? at.top - size.height - 6 : below;
  box.style.setProperty("left", `${left}px`);
  box.style.setProperty("top", `${top}px`);
}
