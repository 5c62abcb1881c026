// Which state the page shows: the place of its last command and the state hash, which are the same whenever this moment
// is looked at. While the lab runs there is none: a moment passes before anybody could name it.

import { page } from "../base/chrome.js";
import { ask } from "../base/requests.js";

const RESTS_MS = 400, UNKNOWN = { position: null, hash: "" };

// past: the look at what was. changed(): a paused lab's state is known. -> {now(): of what the page shows, place(): a
// promise of the moment that it shows, as a link names it}
export function createState({ past, current, changed }) {
  let known = { key: "", ...UNKNOWN }, timer = 0, askedFor = "";

  const keyOf = (view) => `${page.lab} ${view.at_us} ${Object.keys(view.timeline).at(-1)} ${view.speed}`;

  async function find(key, atUs) {
    try {
      const { position, state_hash: hash } = await ask(`${page.urls.past}?at_us=${atUs}`);
      known = { key, position, hash };
      changed();
    } catch {
      known = { key, ...UNKNOWN };                        // a lab of older rules, or one that has stopped: it has none
    }
  }

  function now() {
    if (past.isLooking()) return past.isShown() ? { position: past.place().position, hash: past.hash() } : UNKNOWN;
    const view = current(), key = keyOf(view);
    if (view.playing) return UNKNOWN;
    if (known.key === key) return known;
    if (askedFor !== key) {
      askedFor = key;
      clearTimeout(timer);
      timer = setTimeout(find, RESTS_MS, key, view.at_us);
    }
    return UNKNOWN;
  }

  // While the lab runs, and where nobody could say, all that was ordered at that time belongs to it.
  async function place() {
    if (past.isShown()) return past.place();
    const view = current(), key = keyOf(view);
    if (!view.playing && known.key !== key) await find(key, view.at_us);
    return { at_us: view.at_us, position: !view.playing && known.key === key ? known.position : null };
  }

  return { now, place };
}
