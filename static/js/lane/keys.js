// The keyboard of every page of a lab. Space is play and pause wherever the focus is, so that it never does again what
// was pressed last; only where one writes or chooses it keeps its own meaning. Enter presses what has the focus.

const WRITES = "input, textarea, select, dialog, [contenteditable]:not([contenteditable='false'])";

// Whether a key event can be an order. event: as the browser gives it, its target an element.
export const isOrder = ({ ctrlKey, metaKey, altKey, target }) =>
  !(ctrlKey || metaKey || altKey || target.closest?.(WRITES));

// act(event): whether the page has done something for this key.
export function onKeys(act, target = document) {
  target.addEventListener("keydown", (event) => {
    if (!isOrder(event)) return;
    // a held key orders once; a held Space does not scroll either
    if (event.repeat ? event.key === " " : act(event)) event.preventDefault();
  });
  // Some browsers press the focused button when Space is let go.
  target.addEventListener("keyup", (event) => event.key === " " && isOrder(event) && event.preventDefault());
}
