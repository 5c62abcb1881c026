// "Why?" as a panel beside its lane's picture, which stays visible and goes on: at the right of the lane, at the left
// of the last one, below the picture where there is no room beside it. A step that has the pointer or the focus lights
// what it speaks of.

import { bindKeys } from "../base/keys.js";
import { billCovers } from "../lane/covers.js";
import { laneTitle } from "../lane/name.js";
import { spokenOf } from "../lane/pictures/lit.js";
import { chain, entries } from "./why.js";

const WIDTH_MIN = 240;

// Where a panel has room beside a lane: `lane` is its { left, right }, `width` the window's.
export function sideOf(lane, width) {
  const needed = Math.min(lane.right - lane.left, WIDTH_MIN);
  if (lane.right + needed <= width) return "right";
  return lane.left >= needed ? "left" : "below";
}

// Whose chain it is: the lane as the heading above its picture calls it.
export const titleOf = (id, view, say) => say("why.title", { lane: laneTitle(id, view, say) });

// laneOf: lane id -> the lane's element. now: () -> { view, say, words }. onLight: the picture must be drawn again.
export function createWhyPanel(panel, { laneOf, now, onLight }) {
  const title = panel.querySelector("h2"), list = panel.querySelector("ol");
  const covers = panel.querySelector("#why-covers");
  let open = null, key = "", words = null, step = null;

  function show(id) {
    if (open === id) return hide();
    hide();
    open = id;
    const lane = laneOf(id);
    lane.querySelector(".twin-box").before(panel);         // read after the picture
    stand();
    panel.hidden = false;
    opener(id).setAttribute("aria-expanded", "true");
    write();
    title.focus({ preventScroll: true });
    (panel.dataset.side === "below" ? lane.querySelector(".pic") : panel).scrollIntoView({
      block: panel.dataset.side === "below" ? "start" : "nearest",
    });
  }

  // From the picture down: the figures, sentences and "Why?" of the lane that it covers stay in sight.
  function stand() {
    const lane = laneOf(open), side = sideOf(lane.getBoundingClientRect(), innerWidth);
    panel.dataset.side = side;
    if (side === "below") panel.style.removeProperty("top");
    else panel.style.setProperty("top", `${lane.querySelector(".pic").offsetTop}px`);
  }

  function hide() {
    if (!open) return;
    const button = opener(open), hadFocus = panel.contains(document.activeElement);
    button.setAttribute("aria-expanded", "false");
    panel.hidden = true;
    open = null;
    key = "";
    light(null);
    if (hadFocus) button.focus();
  }

  // Rewritten only when the chain or the language is another one.
  function write() {
    if (!open) return;
    const { view, ...language } = now(), lane = view.lanes[open];
    const newest = `${open}/${lane.why.map((event) => event.id).join()}/${Object.keys(view.timeline).at(-1)}`;
    if (newest === key && language.words === words) return;
    [key, words] = [newest, language.words];
    const focused = [...list.children].indexOf(document.activeElement);
    title.textContent = titleOf(open, view, language.say);
    covers.textContent = billCovers(lane, language.say);
    list.replaceChildren(...entries(chain(lane, view.timeline, language), language.say));
    light(null);
    list.children[focused]?.focus();
  }

  function light(index) {
    if (index === step) return;
    step = index;
    for (const [place, item] of [...list.children].entries()) item.toggleAttribute("data-lit", place === index);
    onLight();
  }

  const opener = (id) => laneOf(id).querySelector("[data-why]");
  const placeOf = (target) => {
    const place = [...list.children].indexOf(target.closest?.("li"));
    return place < 0 ? null : place;
  };
  list.addEventListener("pointerover", (event) => light(placeOf(event.target)));
  list.addEventListener("pointerleave", () => light(placeOf(document.activeElement)));
  list.addEventListener("focusin", (event) => light(placeOf(event.target)));
  list.addEventListener("focusout", (event) => list.contains(event.relatedTarget) || light(null));
  panel.querySelector("[data-close]").addEventListener("click", hide);
  bindKeys([{
    keys: ["escape"], says: "keys.close",
    act: () => open !== null && !document.querySelector(":popover-open") && (hide(), true),
  }]);
  addEventListener("resize", () => open && stand());

  return {
    show, write,
    // What the lane `id` is to light, null for nothing.
    litOf(id) {
      const event = id === open && step !== null ? now().view.lanes[id].why[step] : null;
      return event ? spokenOf(event, now().view.lanes[id]) : null;
    },
  };
}
