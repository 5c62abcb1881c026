// Since when this tab gives a deck. A step that is shown live takes the tab to a lab and back: the time goes on.

import { clock } from "../base/say.js";

const KEY = "highwater.deck", SECOND_MS = 1000;
// What the speaker's window says to its tab.
export const HERE = "highwater.notes";

// storage: of the tab. -> ms, as Date.now has it.
export function openedAt(storage, path, now) {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? "null");
    if (kept?.path === path && Number.isFinite(kept.at) && kept.at <= now) return kept.at;
    storage.setItem(KEY, JSON.stringify({ path, at: now }));
  } catch { /* another program's text, or a browser that keeps nothing */ }
  return now;
}

// How long that is, "12:05".
export const timeSince = (began, now) => clock(Math.floor((now - began) / SECOND_MS) * 1e6).replace(/\.0$/, "");
