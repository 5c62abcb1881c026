// While one follows, the page's own ways elsewhere are held: a press says that one follows, and offers to look around.
// What only reads, as tables, tips, the theme, or a phone's lanes, stays.

import { bindings, isOrder } from "../base/keys.js";

const HELD = [
  ".lab-tabs a", ".lab-bar .lane-tabs a", ".branches a", ".branches button", "#timeline", "#play", "#step",
  "#step-back", "#to-now", "[data-speed]", "#slow", "#next", "#back-frame", "#predict", "#room",
  ".deck-bar #back", ".deck-bar #notes", ".slide .live", ".slide [data-part=live]",
].join(",");
const FREE_KEYS = new Set(["t", "p", "y", "f", "escape", "?"]);

// isHeld(): one follows now. offer(near): the notice.
export function holdPage({ isHeld, offer }) {
  function hold(event) {
    const near = event.target.closest?.(HELD);
    if (!near || !isHeld()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === "click") offer(near);
  }
  for (const type of ["click", "pointerdown"]) document.addEventListener(type, hold, true);
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!isHeld() || !isOrder(event) || FREE_KEYS.has(key)) return;
    const isBound = bindings().some((one) => one.group !== "site" && one.act && one.keys.includes(key));
    if (!isBound) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    offer(document.getElementById("room-look"));
  }, true);
}
