// A picture on a lecture's slide (views/embed.py): it says to the deck around it which moment it shows and how far it
// plays, on which page and which of its pictures, and goes where the deck says, so that a room's phones show what the
// teacher's does. To another page the deck takes it itself.
//
//   {at_us, to_us, speed}: at that moment, and on its way to to_us where that is no null; at_us null is the present
//   {page, panel}: the address of its page, and the panel whose picture is shown
//   {is_held}: whether it goes where the deck says alone

import { page } from "../base/chrome.js";

const NEAR_US = 100_000;
export const PICTURE = "highwater.picture";

// past: as createTransport has it. current(): the view. projector: of the page.
// -> tell(): the page shows something new.
export function createHeld({ past, current, projector }) {
  if (!page.player?.is_picture || parent === window) {
    document.body.removeAttribute("data-waits");
    return { tell() {} };
  }
  let said = null, goal = null;

  function placeNow() {
    if (!past.isShown()) return { at_us: null, to_us: null, speed: null };
    const { at_us: atUs } = past.place(), { playing, stop_us: stopUs, speed } = current();
    return playing
      ? { at_us: atUs, to_us: stopUs ?? past.now().at_us, speed } : { at_us: atUs, to_us: null, speed: null };
  }

  // Of a way the deck hears where it began and where it leads; the pictures between are each one's own.
  function tell() {
    // On its way to its own first moment. Where that cannot be shown it is the present, and says so.
    if (past.isComing()) return;
    const place = placeNow(), panel = projector.shown();
    const key = `${panel} ${place.to_us === null ? `at ${place.at_us}` : `to ${place.to_us}`}`;
    if (document.body.hasAttribute("data-waits")) {
      document.body.removeAttribute("data-waits");
      dispatchEvent(new Event("resize"));                // the picture has the room that this moment's sentence leaves
    }
    const words = { kind: PICTURE, ...place, page: location.pathname + location.search, panel };
    if (key !== said) parent.postMessage(words, location.origin);
    said = key;
    if (goal === null || place.to_us !== null || Math.abs(place.at_us - goal.at_us) > NEAR_US) return;
    const { to_us: toUs, speed } = goal;
    goal = null;
    past.playUntil({ at_us: toUs, speed, onEnd() {} });
  }

  addEventListener("message", ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent || data?.kind !== PICTURE) return;
    if ("is_held" in data) return document.body.toggleAttribute("data-held", data.is_held);
    projector.follow(data.panel);
    goal = data.to_us === null ? null : data;
    return data.at_us === null ? past.back() : past.seek({ at_us: data.at_us });
  });
  return { tell };
}
