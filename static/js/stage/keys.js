// The Stage's keyboard. Space is play and pause wherever the focus is, so that it never does again what was pressed
// last; only where one writes or chooses it keeps its own meaning. Enter presses what has the focus.

const WRITES = "input, textarea, select, [contenteditable]:not([contenteditable='false'])";
const ORDERS = { " ": "play", a: "add", s: "step", ".": "step", t: "tables" };

// What a key event orders: one of ORDERS' values, or null. event: as the browser gives it, its target an element.
export function orderOf({ key, ctrlKey, metaKey, altKey, target }) {
  if (ctrlKey || metaKey || altKey || target.closest?.(WRITES)) return null;
  return key.length === 1 ? ORDERS[key.toLowerCase()] ?? null : null;
}

// actions: order -> what to do.
export function listenToKeys(page, actions) {
  page.addEventListener("keydown", (event) => {
    const order = orderOf(event);
    if (!order) return;
    event.preventDefault();                         // a held Space does not scroll either
    if (!event.repeat) actions[order]();
  });
  // Some browsers press the focused button when Space is let go.
  page.addEventListener("keyup", (event) => orderOf(event) === "play" && event.preventDefault());
}
