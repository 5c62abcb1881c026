// The address of what a page shows, brought to the clipboard.

// near: the button that was pressed. done: what to say once it is there.
export async function copyLink(address, { near, notice, say, done = "notice.copied" }) {
  try {
    await navigator.clipboard.writeText(address);
    notice(say(done), { near, kind: "done" });
  } catch {                                              // no clipboard without https, or not allowed
    notice(say("notice.copy_by_hand", { link: address }), { near, kind: "done" });
  }
}

// button: of a page whose address alone is what it shows.
export function createCopyLink(button, options) {
  button.addEventListener("click", () => copyLink(location.href, { near: button, ...options }));
}
