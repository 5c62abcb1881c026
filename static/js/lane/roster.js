// All consumers of a lane that lists only some, in a window of their own: by phase, with a field to find one. One that
// is pressed is selected: its lane names it first, until another one is.

import { onLanguage, say } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { figure, percent } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { matching, phasesOf } from "./fold.js";
import { laneTitle } from "./name.js";

const EVERY_MS = 1000;

// dialog: of partials/roster.html. current(): the view. selectedOf(id): who is selected in a lane, null for nobody.
// onSelect(id, name): another one is, null: nobody in particular.
export function createRoster(dialog, { current, selectedOf, onSelect }) {
  const title = dialog.querySelector("h2"), field = dialog.querySelector("input"), groups = new Map();
  const list = dialog.querySelector("[data-groups]"), none = dialog.querySelector("[data-none]");
  const release = dialog.querySelector("[data-release]"), items = new Map();
  let open = null, writtenAt = 0;

  function groupOf(phase) {
    if (!groups.has(phase)) {
      const section = document.createElement("section"), heading = document.createElement("h3");
      const names = document.createElement("ul");
      heading.id = `roster-${phase}`;
      names.setAttribute("aria-labelledby", heading.id);
      section.append(heading, names);
      groups.set(phase, { section, heading, names });
    }
    return groups.get(phase);
  }

  function itemOf(name) {
    if (!items.has(name)) {
      const item = document.createElement("li"), button = item.appendChild(document.createElement("button"));
      button.type = "button";
      button.dataset.pick = name;
      const swatch = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const square = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [key, value] of Object.entries({ width: 14, height: 14, "aria-hidden": "true" })) {
        swatch.setAttribute(key, value);
      }
      for (const [key, value] of Object.entries({ x: 1, y: 1, width: 12, height: 12, rx: 2, class: "o" })) {
        square.setAttribute(key, value);
      }
      swatch.append(square);
      const part = (tag, className) => Object.assign(document.createElement(tag), { className });
      const [own, state] = [part("b", "n"), part("span", "st")];
      const [share, rate] = [part("span", "n r"), part("span", "n r m")];
      own.textContent = name;
      button.append(swatch, own, state, share, rate);
      items.set(name, { item, button, square, state, share, rate });
    }
    return items.get(name);
  }

  function write(isForced = false) {
    if (!open || (!isForced && performance.now() - writtenAt < EVERY_MS)) return;
    writtenAt = performance.now();
    const view = current(), lane = view.lanes[open], found = matching(lane.order, field.value);
    setText(title, say("fold.title", { lane: laneTitle(open, view, say) }));
    release.hidden = selectedOf(open) === null;
    none.hidden = found.length > 0;
    const shown = phasesOf(lane, found).map(([phase, names]) => {
      const group = groupOf(phase);
      setText(group.heading, say(`fold.${phase}`, { count: names.length }));
      keep(group.names, names.map((name) => written(lane.consumers[name])));
      return group.section;
    });
    keep(list, shown);
  }

  function written({ name, color, state, share, rate }) {
    const { item, button, ...parts } = itemOf(name);
    parts.square.setAttribute("fill", paint(color));
    setText(parts.state, state === "live" ? "" : say(`state.${state}`));
    setText(parts.share, percent(share, share && share < 0.0095 ? 1 : 0));
    setText(parts.rate, figure(rate, 1));
    button.setAttribute("aria-pressed", String(selectedOf(open) === name));
    return item;
  }

  // Only what stands elsewhere is moved, so that a focus stays.
  function keep(parent, wanted) {
    let place = parent.firstElementChild;
    for (const element of wanted) {
      if (element === place) place = place.nextElementSibling;
      else parent.insertBefore(element, place);
    }
    while (place) {
      const next = place.nextElementSibling;
      place.remove();
      place = next;
    }
  }

  function select(name) {
    const id = open, isReleased = name === null || selectedOf(id) === name;
    dialog.close();
    onSelect(id, isReleased ? null : name);
  }

  field.addEventListener("input", () => write(true));
  dialog.addEventListener("click", ({ target }) => {
    const pick = target.closest("[data-pick]");
    if (target === dialog || target.closest("[data-close]")) dialog.close();
    else if (pick) select(pick.dataset.pick);
    else if (target.closest("[data-release]")) select(null);
  });
  dialog.addEventListener("close", () => { open = null; });
  onLanguage(() => write(true));

  return {
    write,
    show(id) {
      open = id;
      field.value = "";
      items.clear();
      for (const { names } of groups.values()) names.replaceChildren();
      write(true);
      dialog.showModal();
      field.focus();
    },
  };
}
