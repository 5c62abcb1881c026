// The panel "Why?": one look on every page. It says what one thing of a lane is at the moment that the page shows, how
// its numbers are made up, and what made it so. While it is open it follows what the page shows.

import { fillSelect, setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { clock } from "../base/say.js";
import { billCovers } from "../lane/covers.js";
import { laneTitle } from "../lane/name.js";
import { chain, entries } from "./chain.js";
import { thingsOf } from "./things.js";
import { saysWords, sinceWords, sumWords, thingName, thingOf } from "./words.js";

const FRESH_MS = 2000;

// Whose it is: the lane as the heading above its picture calls it.
export const titleOf = (id, view, say) => say("why.title", { lane: laneTitle(id, view, say) });

// ask({ lane, thing }): a promise of the answer. now: () -> { view, say, words }, of the moment that the page shows.
// place(panel, lane, opener): where it stands. onLight: the pictures must be drawn again. isOvertaken, reasonOf: of an
// error.
export function createPanel(panel, { ask, now, place, onLight = () => {}, isOvertaken, reasonOf }) {
  const $ = (id) => panel.querySelector(`#${id}`);
  const title = $("why-title"), list = $("why-list"), about = $("why-about");
  let open = null, told = null, key = "", askedAt = 0, isAsking = false, opener = null, words = null, step = null;
  let drawn = "";                                              // the chain that the list shows

  function show(lane, thing, from) {
    if (open?.lane === lane && open.thing === thing) return hide();
    if (open) release();
    opener = from ?? document.activeElement;
    opener?.closest?.("[data-why]")?.setAttribute("aria-expanded", "true");
    panel.hidden = false;
    place(panel, lane, opener);
    askAbout(lane, thing);
    title.focus({ preventScroll: true });
    const isBelow = panel.dataset.side === "below";          // then the picture above it stays in sight
    (isBelow ? panel.previousElementSibling : panel).scrollIntoView({ block: isBelow ? "start" : "nearest" });
  }

  function askAbout(lane, thing) {
    [open, told, key, step] = [{ lane, thing }, null, "", null];
    setText($("why-error"), "");
    draw();
    write();
  }

  function release() {
    opener?.closest?.("[data-why]")?.setAttribute("aria-expanded", "false");
    light(null);
  }

  function hide() {
    if (!open) return;
    const hadFocus = panel.contains(document.activeElement);
    release();
    panel.hidden = true;
    [open, told] = [null, null];
    if (hadFocus && opener?.isConnected) opener.focus();
  }

  // What the page shows has changed: asked again at once after a turning point or another moment, else now and then.
  function write() {
    if (!open) return;
    const { view } = now(), lane = view.lanes[open.lane];
    if (!lane) return hide();
    const newest = `${open.thing}/${lane.why.at(-1)?.id}/${view.playing || view.at_us}`;
    const isDue = newest !== key || (view.playing && performance.now() - askedAt > FRESH_MS);
    if (isDue && !isAsking) request(newest);
    if (now().words !== words) draw();
  }

  async function request(newest) {
    const mine = open;
    [key, askedAt, isAsking] = [newest, performance.now(), true];
    $("why-working").hidden = told !== null;
    try {
      const answer = await ask(mine);
      if (mine === open) [told] = [answer, setText($("why-error"), "")];
    } catch (error) {
      if (mine === open && !isOvertaken(error)) [told] = [null, setText($("why-error"), reasonOf(error))];
    }
    isAsking = false;
    if (mine === open) draw();
    write();                                                   // the page may show something else by now
  }

  function draw() {
    if (!open) return;
    const { view, say, words: own } = now(), lane = view.lanes[open.lane];
    words = own;
    setText(title, titleOf(open.lane, view, say));
    writeChoice(lane, say);
    $("why-error").hidden = !$("why-error").textContent;
    $("why-working").hidden = told !== null || !isAsking;
    $("why-told").hidden = told === null;
    if (told === null) return;
    const isChange = ["lane", "figure"].includes(thingOf(open.thing).kind);
    setText($("why-says"), `${saysWords(told, say)} `);
    $("why-says").append(Object.assign(document.createElement("span"), {
      className: "s m n", textContent: say("why.at", { clock: clock(told.at_us) }),
    }));
    $("why-sums").replaceChildren(...sumWords(told, say).map(sumItem));
    setText($("why-covers"), isChange ? billCovers(lane, say) : "");
    setText($("why-since"), sinceWords(told, say));
    drawChain(say);
  }

  // Written only when the chain or the language is another one: a step that is pointed at stays lit.
  function drawChain(say) {
    const steps = chain(told, { say, words }), text = JSON.stringify(steps);
    if (text === drawn) return;
    drawn = text;
    const focused = [...list.children].indexOf(document.activeElement);
    list.replaceChildren(...entries(steps, say));
    light(null);
    list.children[focused]?.focus();
  }

  function writeChoice(lane, say) {
    const groups = thingsOf(lane, open.lane), things = groups.flatMap(([, each]) => each);
    const all = things.includes(open.thing) ? things : [open.thing, ...things];
    fillSelect(about, all.map((thing) => [thing, thingName(thing, say)]), open.thing);
  }

  function light(index) {
    if (index === step) return;
    step = index;
    for (const [place, item] of [...list.children].entries()) item.toggleAttribute("data-lit", place === index);
    onLight();
  }

  const placeOf = (target) => {
    const place = [...list.children].indexOf(target.closest?.("li"));
    return place < 0 ? null : place;
  };
  about.addEventListener("change", () => open && askAbout(open.lane, about.value));
  list.addEventListener("pointerover", (event) => light(placeOf(event.target)));
  list.addEventListener("pointerleave", () => light(placeOf(document.activeElement)));
  list.addEventListener("focusin", (event) => light(placeOf(event.target)));
  list.addEventListener("focusout", (event) => list.contains(event.relatedTarget) || light(null));
  panel.querySelector("[data-close]").addEventListener("click", hide);
  bindKeys([{
    keys: ["escape"], says: "keys.close",
    act: () => open !== null && !document.querySelector(":popover-open") && (hide(), true),
  }]);
  addEventListener("resize", () => open && place(panel, open.lane, opener));

  return {
    show, write,
    // What the lane `id` is to light: { event }, null for nothing.
    litOf: (id) => (open?.lane === id && step !== null && told?.chain[step]) || null,
  };
}

function sumItem({ text, parts, more }) {
  const item = document.createElement("li");
  item.textContent = text;
  if (parts.length) {
    const each = document.createElement("p");
    Object.assign(each, { className: "why-parts n m", textContent: [...parts, ...(more ? [more] : [])].join(" · ") });
    item.append(each);
  }
  return item;
}
