// Which room this tab of the browser is in, kept while the tab is open: pages of a lab come and go, the room stays. A
// link brings it as ?room=, with &look=1 where one looks around.

const KEY = "highwater.room";

// -> {read(): what is kept, null outside of any room; keep(changes); leave()}. What is kept: code; looking: in a copy
// of one's own; went: where the page was sent last; recalls, presses: how many of them this tab has followed; slides:
// the deck that it has left, and where.
export function createSession(storage, location, history) {
  let kept = null;
  try {
    kept = JSON.parse(storage.getItem(KEY) ?? "null");
  } catch { /* another program's text, or a browser that keeps nothing */ }
  if (typeof kept?.code !== "string") kept = null;

  function keep(changes) {
    kept = { ...kept, ...changes };
    try {
      storage.setItem(KEY, JSON.stringify(kept));
    } catch { /* the room lasts as long as this page, then */ }
  }

  function leave() {
    kept = null;
    try {
      storage.removeItem(KEY);
    } catch { /* nothing was kept */ }
  }

  const query = new URLSearchParams(location.search), code = query.get("room");
  if (code) {
    if (kept?.code !== code) kept = { code, looking: false };
    keep({ looking: query.get("look") === "1" });
    query.delete("room");
    query.delete("look");
    const rest = String(query);
    history.replaceState(null, "", location.pathname + (rest ? `?${rest}` : "") + location.hash);
  }
  return { read: () => kept, keep, leave };
}

// Keeps nothing.
export const NO_STORAGE = { getItem: () => null, setItem: () => {}, removeItem: () => {} };

// A browser that refuses even to be asked keeps nothing.
export function tabStorage() {
  try {
    return window.sessionStorage;
  } catch {
    return NO_STORAGE;
  }
}
