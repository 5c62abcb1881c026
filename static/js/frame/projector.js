// The projector (P): the story, one picture as large as the screen, one figure and the bar of time, for a room. The
// page goes on below it; what is shown is a copy of its picture, with the page's styles as attributes. On a slide of a
// lecture the page is nothing else.

import { page, say, speak } from "../base/chrome.js";
import { bindKeys } from "../base/keys.js";
import { number } from "../base/say.js";
import { createThrottle } from "../base/throttle.js";
import { openLane } from "../lane/open_lane.js";
import { TITLED, headingOf } from "../take/menu.js";
import { drawingsOf, gather, make } from "../take/picture.js";

const EVERY_MS = 200, isPicture = Boolean(page.player?.is_picture);
const $ = (id) => document.getElementById(id);
// One picture of a panel: the largest, with its columns' names. A chart has letters of its own size, and is for one
// reader.
const sizeOf = (svg) => svg.clientWidth * svg.clientHeight;
const picturesOf = (panel) => {
  const all = drawingsOf(panel).filter((svg) => !svg.closest(".plot"));
  const largest = [...all].sort((one, other) => sizeOf(other) - sizeOf(one))[0];
  return all.filter((svg) => svg === largest || svg.hasAttribute("data-heads"));
};
const button = (className, textContent) =>
  Object.assign(document.createElement("button"), { type: "button", className, textContent });

// current(): the view. lane: the page's own, null where the panels are lanes. changed(): another panel is large.
// -> { draw, shown(): the panel that is large, as a text, "" for none; follow(text): the one of another's page }.
export function createProjector({ current, lane, changed }) {
  const root = document.createElement("section"), shown = document.createElement("div");
  const side = document.createElement("div"), title = document.createElement("h2");
  const value = document.createElement("strong"), note = document.createElement("span");
  const count = document.createElement("span");
  const before = button("btn sq", "‹"), after = button("btn sq", "›"), leave = button("btn", "");
  const screen = shown.attachShadow({ mode: "open" }), story = $("story"), band = new ResizeObserver(grow);
  const due = createThrottle();
  let panel = null, opener = null;

  Object.assign(root, { className: "projector", hidden: true });
  root.setAttribute("aria-labelledby", "projector-title");
  title.id = "projector-title";
  shown.className = "shown";
  shown.setAttribute("role", "img");
  value.className = "n";
  count.className = "n m";
  side.className = "side";
  // A slide's picture is all of its page: the tabs of the lanes come along.
  const lanes = isPicture ? document.querySelector(".lane-tabs") : null;
  const figure = document.createElement("p"), choice = document.createElement("div");
  figure.append(value, note);
  choice.className = "choice";
  choice.append(before, count, after);
  side.append(title, ...(lanes ? [lanes] : []), figure, choice, leave);
  root.append(shown, side);
  $("main").after(root);
  speak(before, "projector.before", "sayLabel");
  speak(after, "projector.after", "sayLabel");
  speak(leave, "projector.leave");

  const panels = () => [...$("main").querySelectorAll(TITLED)].filter((one) => picturesOf(one).length > 0);
  // What one was at, else what is chosen, else the page's first picture.
  const firstOf = (all) =>
    all.find((one) => one.contains(document.activeElement) || one.matches(":hover"))
    ?? all.find((one) => one.matches("[data-chosen]")) ?? all[0];

  function open() {
    const all = panels();
    if (!all.length) return false;
    opener = document.activeElement;
    panel = firstOf(all);
    document.body.setAttribute("data-projector", "");
    hold(true);
    root.hidden = false;
    draw(true);
    band.observe(story);
    if (!isPicture) leave.focus({ preventScroll: true });
    dispatchEvent(new Event("resize"));
    return true;
  }

  function close() {
    if (panel === null || isPicture) return false;
    panel = null;
    root.hidden = true;
    band.disconnect();
    document.body.style.removeProperty("--head");
    for (const name of ["data-projector", "data-wordy"]) document.body.removeAttribute(name);
    hold(false);
    screen.replaceChildren();
    opener?.focus?.({ preventScroll: true });
    dispatchEvent(new Event("resize"));
    return true;
  }

  // The picture gives way to a sentence of many lines, and does not come back with each shorter one: it would jump.
  function grow() {
    const { body } = document;
    if (body.hasAttribute("data-waits")) return;         // a slide's: the sentence is of another moment
    body.removeAttribute("data-wordy");
    body.toggleAttribute("data-wordy", story.offsetHeight > innerHeight / 3);
    const high = story.offsetHeight;
    if (high <= parseFloat(getComputedStyle(body).getPropertyValue("--head"))) return;
    body.style.setProperty("--head", `${high}px`);
    setTimeout(() => draw(true));
  }

  // What is below is out of reach; the story stays.
  function hold(isHeld) {
    for (const part of [...$("main").children, document.querySelector(".top"), document.querySelector(".lab-bar")]) {
      if (part && part.id !== "story") part.inert = isHeld;
    }
  }

  const idOf = (one) => one.getAttribute("aria-labelledby");

  // The panel that a presenter shows large: large here, too, where this page is a projector; else it is in sight.
  function follow(id) {
    const wanted = id && [...$("main").querySelectorAll(TITLED)].find((one) => idOf(one) === id);
    if (!wanted) return;
    openLane(wanted.dataset.lane ?? null);
    if (panel === null) return void wanted.scrollIntoView({ block: "center" });
    panel = wanted;
    draw(true);
  }

  function go(by) {
    const all = panels(), at = all.indexOf(panel);
    panel = all[(at + by + all.length) % all.length];
    draw(true);
    changed();
  }

  function draw(isForced = false) {
    if (isPicture && panel === null) open();
    due(copy, { everyMs: EVERY_MS, isForced });
  }

  function copy() {
    if (panel === null) return;
    const all = panels(), drawings = picturesOf(panel), name = headingOf(panel).textContent.trim();
    if (!drawings.length) return;                          // its page draws it in a moment
    const { nodes, defs, width, height } = gather(drawings), held = make("defs", {});
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", height: "100%" });
    held.append(...defs);
    svg.append(held, ...nodes);
    screen.replaceChildren(svg);
    shown.setAttribute("aria-label", name);
    title.textContent = name;
    count.textContent = `${all.indexOf(panel) + 1} / ${all.length}`;
    choice.hidden = all.length < 2;
    [value.textContent, note.textContent] = figureOf();
  }

  // A lane's own figure where it has one ("Next" is none), else how many records wait.
  function figureOf() {
    const { hero, lag } = current().lanes[panel.dataset.lane ?? lane] ?? {};
    const own = panel.querySelector('[data-slot="hero"]');
    if (own && hero?.code !== "next") {
      return [own.textContent, panel.querySelector('[data-slot="hero_note"]').textContent];
    }
    return lag === null || lag === undefined ? ["", ""] : [number(lag), say("projector.waiting", { count: lag })];
  }

  // A paused page draws once for its new size, which may be sooner than the copy may be made again.
  addEventListener("resize", () => {
    if (!panel) return;
    document.body.style.removeProperty("--head");
    grow();
    setTimeout(() => draw(true), EVERY_MS);
  });
  before.addEventListener("click", () => go(-1));
  after.addEventListener("click", () => go(1));
  leave.addEventListener("click", close);
  // A page without a picture does not offer it, and a slide has nothing else.
  bindKeys(() => (!isPicture && (panel || panels().length) ? [
    { keys: ["p"], says: "projector", act: () => close() || open() },
    { keys: ["escape"], act: close },
  ] : []), "time");
  return { draw, follow, shown: () => (panel === null ? "" : idOf(panel)) };
}
