// The keys of a page: which they are, what each does and in which words. One table, which the listener, the sheet of
// keys (?) and the palette (Ctrl-K) read.
//
// Space is play and pause wherever the focus is, so that it never does again what was pressed last; only where one
// writes or chooses does it keep its own meaning. Enter presses what has the focus.

const WRITES = "input, textarea, select, dialog, [contenteditable]:not([contenteditable='false'])";
export const GROUPS = ["page", "time", "site"];

const sources = [];                                     // [group, () => its bindings], the first to answer has the key

// A binding is {keys, says | text, act}: keys as event.key has them, in lower case, "ctrl+k" with that key held; says:
// the code of what they do, text: the words themselves, neither: another way to what a binding before it says.
// act(event) answers false where it has nothing to do now; without it an element listens for itself, and this only
// tells.
// source: bindings, or a function that answers them where they change. group: one of GROUPS.
export function bindKeys(source, group = "page") {
  sources.push([group, typeof source === "function" ? source : () => source]);
}

// -> [{group, keys, says?, text?, act?}], in the order of the groups.
export const bindings = () =>
  GROUPS.flatMap((group) =>
    sources.filter(([own]) => own === group).flatMap(([, list]) => list().map((binding) => ({ group, ...binding }))));

// Whether a key event can be an order. event: as the browser gives it, its target an element.
export const isOrder = ({ ctrlKey, metaKey, altKey, target }) =>
  !(ctrlKey || metaKey || altKey || target.closest?.(WRITES));

// Those of time come first: L goes back to now while one looks back, and is a consumer's Leave only then.
const FIRST = ["time", "page", "site"];

// -> whether the page has done something for this key.
function press(event) {
  const held = event.ctrlKey || event.metaKey, key = `${held ? "ctrl+" : ""}${event.key.toLowerCase()}`;
  const all = bindings();
  return FIRST.some((group) =>
    all.some((one) => one.group === group && one.keys.includes(key) && one.act && one.act(event) !== false));
}

// A shortcut with Ctrl acts also where one writes.
const isShortcut = ({ ctrlKey, metaKey, altKey, target }) =>
  (ctrlKey || metaKey) && !altKey && !target.closest?.("dialog");

export function listenToKeys(target = document) {
  target.addEventListener("keydown", (event) => {
    if (!(isOrder(event) || isShortcut(event))) return;
    // a held key orders once; a held Space does not scroll either
    if (event.repeat ? event.key === " " : press(event)) event.preventDefault();
  });
  // Some browsers press the focused button when Space is let go.
  target.addEventListener("keyup", (event) => event.key === " " && isOrder(event) && event.preventDefault());
}

const SIGNS = {
  " ": "space", escape: "escape", arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓", enter: "Enter",
  pageup: "PageUp", pagedown: "PageDown", home: "Home", end: "End",
};

// A key as its cap reads.
export function capOf(key, say) {
  if (key.startsWith("ctrl+")) return `Ctrl ${key.slice(5).toUpperCase()}`;
  const sign = SIGNS[key] ?? key.toUpperCase();
  return key === " " || key === "escape" ? say(`keys.cap.${sign}`) : sign;
}

export const wordsOf = ({ says, text }, say) => text ?? (says ? say(says) : "");
