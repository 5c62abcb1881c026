// "⋯" at the head of each panel: its picture as SVG or PNG, its tables as CSV, the lab's events, its run, and a capsule
// of it. One menu for all.

import { say, speak } from "../base/chrome.js";
import { place } from "../base/place.js";
import { fileName } from "./names.js";
import { drawingsOf, pictureOf, pngOf } from "./picture.js";
import { csvOf, rowsOf } from "./table.js";

export const TITLED = "section[aria-labelledby]";

export const headingOf = (panel) => document.getElementById(panel.getAttribute("aria-labelledby"));
const titleOf = (panel) => headingOf(panel).textContent.trim();
const tablesOf = (panel) =>
  [...panel.querySelectorAll("table")].filter((table) =>
    table.rows.length > 1 && table.closest(TITLED) === panel && !table.closest("[hidden]"));
const HAS = ".pic svg, .plot, table";
const isPanel = (panel) =>
  panel.querySelector(HAS) && (panel.querySelector("[data-take]") || !headingOf(panel).classList.contains("unseen"));

// about(panel): {lab, clock, said: {text, about}}, what a file says of where it is from; clock is null where there is
// no moment. events(), run(): the addresses of the lab's events and of its run up to the moment that is shown, null
// where there are none. capsule(): asks which part of the run; embed(): gives the code for another site; null where
// none can be made.
export function createTakeMenus({
  root, about, events = () => null, run = () => null, capsule = null, embed = null, onFail,
}) {
  const menu = document.createElement("div");
  Object.assign(menu, { className: "pop take-menu", id: "take-menu", popover: "auto" });
  menu.setAttribute("role", "menu");
  root.append(menu);                                    // within the landmark that it is about
  let opener = null;

  const items = () => [...menu.querySelectorAll('[role="menuitem"]')];

  function open(button, panel) {
    opener = button;
    panel.dispatchEvent(new Event("take"));             // a table behind a fold is written now
    menu.setAttribute("aria-label", say("take.of", { panel: titleOf(panel) }));
    menu.replaceChildren(...offersOf(panel).map(([words, act]) => {
      const item = document.createElement("button");
      Object.assign(item, { type: "button", className: "item", textContent: words, tabIndex: -1 });
      item.setAttribute("role", "menuitem");
      item.addEventListener("click", () => {
        menu.hidePopover();
        take(act);
      });
      return item;
    }));
    menu.showPopover();
    place(menu, button);
    items()[0].focus();
  }

  async function take(act) {
    try {
      await act();
    } catch (error) {
      console.warn("nothing taken", error);
      onFail(say("take.failed"));
    }
  }

  function offersOf(panel) {
    const { lab, clock, said } = about(panel), panelName = titleOf(panel), found = [];
    const name = (ending, more = "") => fileName({ lab, clock }, more ? `${panelName} ${more}` : panelName, ending);
    if (drawingsOf(panel).length) {
      const picture = () => pictureOf(panel, { title: panelName, ...said });
      found.push([say("take.svg"), () => save(new Blob([picture().text], { type: "image/svg+xml" }), name("svg"))]);
      found.push([say("take.png"), async () => save(await pngOf(picture()), name("png"))]);
    }
    const tables = tablesOf(panel);
    tables.forEach((table, index) => {
      const more = tables.length > 1 ? (table.getAttribute("aria-label") ?? String(index + 1)) : "";
      const bytes = () => new Blob([csvOf(rowsOf(table))], { type: "text/csv;charset=utf-8" });
      const words = more ? say("take.csv_of", { table: more }) : say("take.csv");
      found.push([words, () => save(bytes(), name("csv", more))]);
    });
    for (const [words, address, ending] of [
      ["take.events", events(), "jsonl"], ["take.run", run(), "highwater.json"],
    ]) {
      if (address !== null) found.push([say(words), () => download(address, fileName({ lab, clock }, "", ending))]);
    }
    if (capsule) found.push([say("take.capsule"), capsule]);
    if (embed) found.push([say("take.embed"), embed]);
    if (!found.length) found.push([say("take.nothing"), () => {}]);
    return found;
  }

  menu.addEventListener("keydown", (event) => {
    const all = items(), at = all.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") menu.hidePopover();
    else if (next !== undefined) {
      event.preventDefault();
      all.at(next % all.length).focus();
    }
  });
  menu.addEventListener("toggle", (event) => {
    opener?.setAttribute("aria-expanded", String(event.newState === "open"));
  });

  for (const panel of [...root.querySelectorAll(TITLED)].filter(isPanel)) put(buttonOf(panel), panel);

  function buttonOf(panel) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "take", textContent: "⋯" });
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => open(button, panel));
    speak(button, "take", "sayTitle");
    speak(button, "take.short", "sayLabel");
    button.id = `take-${headingOf(panel).id}`;
    button.setAttribute("aria-labelledby", `${button.id} ${headingOf(panel).id}`);   // "Take away Kafka"
    return button;
  }
}

// In a lane of the Stage behind "more", else beside the panel's name.
function put(button, panel) {
  const heading = headingOf(panel), held = panel.querySelector("[data-take]") ?? panel.querySelector("header .dl");
  if (held) held.append(button);
  else if (getComputedStyle(heading.parentElement).display.includes("flex")) heading.after(button);
  else {
    button.classList.add("at-end");
    heading.before(button);
  }
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  download(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function download(href, name) {
  Object.assign(document.createElement("a"), { href, download: name }).click();
}
