// Why on anything: what a press asks about, and the panel that answers.
//
// One rule on every page: a press on a part of a picture that chooses nothing, on a figure or on a consumer opens
// "Why?" about it; where a press chooses, "Why?" in the bar of time asks about what is chosen; Y asks about what has
// the focus or is chosen, else about the lane's last change.

import { page, say, words } from "../base/chrome.js";
import { bindKeys } from "../base/keys.js";
import { isOvertaken, moments, reasonOf } from "../frame/trial.js";
import { spokenOf } from "../lane/pictures/lit.js";
import { createPanel } from "./panel.js";

const PRESSES = "button, a, input, select, summary, label, [role=button], dialog, [popover]";

// current(): the view that the page shows. past: as of createPast. thingAt(target, event): { lane, thing } of what is
// pressed, null for nothing that can be asked about; event: null where it has the focus. chosen(): the same of what is
// chosen or, without that, of the page. place, onLight: as createPanel has them.
export function createWhy({ current, past, thingAt, chosen, place = dock, onLight }) {
  const root = document.getElementById("why");
  document.querySelector('button[data-why=""]').hidden = false;   // in the bar of time, on a page that can answer
  const request = moments("why", page.urls.why, past);
  const panel = createPanel(root, {
    ask: (asked) => askAt(request, asked, past.isShown() ? {} : { at_us: current().at_us }),
    now: () => ({ view: current(), say, words: words() }), place, onLight, isOvertaken,
    reasonOf: (error) => reasonOf(error) || say("notice.failed", { status: error.status ?? 0 }),
  });

  function open(found, from) {
    if (found) panel.show(found.lane, found.thing, from);
    return Boolean(found);
  }

  // It has been pressed already where something else acts on it.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-why]"), lane = button?.dataset.why;
    if (button) return open(lane ? { lane, thing: `lane:${lane}` } : chosen(), button);
    if (event.defaultPrevented || root.contains(event.target) || event.target.closest(PRESSES)) return;
    if (!getSelection().isCollapsed) return;
    open(thingAt(event.target, event), event.target);
  });
  bindKeys([{ keys: ["y"], says: "why", act: () => open(focused(thingAt) ?? chosen(), document.activeElement) }]);

  // An address may name a thing: what broke a promise is opened with its Why, once the lab has come there.
  let wanted = new URLSearchParams(location.search).get("why");

  return {
    write() {
      if (wanted && !current().playing && current().at_us > 0) {
        const thing = wanted;
        wanted = null;
        open({ lane: chosen().lane, thing }, null);
      }
      panel.write();
    },
    litOf(id) {
      const event = panel.litOf(id);
      return event ? spokenOf(event, current().lanes[id]) : null;
    },
  };
}

// Of the frame that is shown, so that the panel's numbers are the picture's; of the present where the frame is newer
// than what the server has stored.
async function askAt(request, asked, moment) {
  try {
    return await request({ ...asked, ...moment });
  } catch (error) {
    if (!error.fields?.at_us) throw error;
    return request(asked);
  }
}

const focused = (thingAt) => {
  const element = document.activeElement;
  return element && element !== document.body ? thingAt(element, null) : null;
};

// At the side of the window where what was pressed is not.
function dock(panel, _lane, opener) {
  const box = opener?.getBoundingClientRect?.();
  const isRight = box && box.width && box.left + box.width / 2 > innerWidth / 2;
  panel.dataset.side = isRight ? "dock-left" : "dock-right";
}
