// A picture on a lecture's slide (views/embed.py): it says to the deck around it which moment it shows and how far it
// plays, and goes where the deck says, so that a room's phones show what the teacher's does.
//
//   {at_us, to_us, speed}: at that moment, and on its way to to_us where that is no null; at_us null is the present
//   {is_held}: whether it goes where the deck says alone

import { page } from "../base/chrome.js";

const NEAR_US = 100_000;
export const PICTURE = "highwater.picture";

// past: as createTransport has it. current(): the view. -> tell(): the page shows something new.
export function createHeld({ past, current }) {
  if (!page.player?.is_picture || parent === window) return { tell() {} };
  let said = null, goal = null, hasBegun = false;
  document.body.setAttribute("data-waits", "");

  function placeNow() {
    if (!past.isShown()) return { at_us: null, to_us: null, speed: null };
    const { at_us: atUs } = past.place(), { playing, stop_us: stopUs, speed } = current();
    return playing
      ? { at_us: atUs, to_us: stopUs ?? past.now().at_us, speed } : { at_us: atUs, to_us: null, speed: null };
  }

  // Of a way the deck hears where it began and where it leads; the pictures between are each one's own.
  function tell() {
    hasBegun ||= past.isLooking();
    // On its way to its own first moment. Where that cannot be shown it is the present, and says so.
    if (!hasBegun || (past.isLooking() && !past.isShown())) return;
    const place = placeNow(), key = place.to_us === null ? `at ${place.at_us}` : `to ${place.to_us}`;
    document.body.removeAttribute("data-waits");
    if (key !== said) parent.postMessage({ kind: PICTURE, ...place }, location.origin);
    said = key;
    if (goal === null || place.to_us !== null || Math.abs(place.at_us - goal.at_us) > NEAR_US) return;
    const { to_us: toUs, speed } = goal;
    goal = null;
    past.playUntil({ at_us: toUs, speed, onEnd() {} });
  }

  addEventListener("message", ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent || data?.kind !== PICTURE) return;
    if ("is_held" in data) return document.body.toggleAttribute("data-held", data.is_held);
    goal = data.to_us === null ? null : data;
    return data.at_us === null ? past.back() : past.seek({ at_us: data.at_us });
  });
  return { tell };
}
