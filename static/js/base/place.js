// Puts a box beside the control it belongs to: below it, or above where there is no room; never outside the window.

export function place(box, near) {
  const at = near?.isConnected ? near.getBoundingClientRect() : null, size = box.getBoundingClientRect();
  const left = at
    ? Math.min(Math.max(8, at.left + at.width / 2 - size.width / 2), innerWidth - size.width - 8)
    : (innerWidth - size.width) / 2;
  const below = at ? at.bottom + 6 : innerHeight - size.height - 80;
  const top = at && below + size.height > innerHeight - 8 ? Math.max(8, at.top - size.height - 6) : below;
  box.style.setProperty("left", `${left}px`);
  box.style.setProperty("top", `${top}px`);
}

// Every box of the page that a button opens, each beside its own.
export function placePopovers() {
  for (const box of document.querySelectorAll("[popover]")) {
    const opener = document.querySelector(`[popovertarget="${box.id}"]`);
    if (opener) box.addEventListener("toggle", (event) => event.newState === "open" && place(box, opener));
  }
}
