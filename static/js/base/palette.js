// The palette: type a few letters, go to a page, a lab or a lesson, or do what a button or a key of this page does.

import { find } from "./find.js";
import { bindings, bindKeys, capOf, wordsOf } from "./keys.js";
import { labTitle } from "./lab_title.js";

const SHOWN = 60;

// -- what there is ----------------------------------------------------------------------------------------------------

const nameOf = (button) =>
  button.getAttribute("aria-label") ??
  [...button.childNodes].filter((node) => node.nodeName !== "KBD").map((node) => node.textContent).join("").trim();

// What a button is in: its section's heading.
function placeOf(button) {
  const section = button.closest("section[aria-labelledby], section[aria-label], footer[aria-label]");
  const heading = document.getElementById(section?.getAttribute("aria-labelledby") ?? "");
  return heading?.textContent ?? section?.getAttribute("aria-label") ?? "";
}

const isThere = (button) => !button.disabled && !button.closest("[hidden], dialog, .notice") && nameOf(button) !== "";

// Every button of the page, with its key, and what only a key does. A binding whose key is on a button is that button,
// which is also found by the binding's words.
export function actionsOf(root, say) {
  const told = bindings().filter((binding) => binding.act && wordsOf(binding, say)), ofButtons = new Set();
  const buttons = [...root.querySelectorAll("button")].filter(isThere).map((button) => {
    const shortcut = (button.getAttribute("aria-keyshortcuts") ?? "").toLowerCase();
    const key = { space: " ", "control+k": "ctrl+k" }[shortcut] ?? shortcut;
    const binding = key ? told.find(({ keys }) => keys.includes(key)) : null;
    if (binding) ofButtons.add(binding);
    return {
      kind: "action", text: nameOf(button), more: placeOf(button), also: binding ? wordsOf(binding, say) : "",
      key: key && capOf(key, say), act: () => button.click(),
    };
  });
  const rest = told.filter((binding) => !ofButtons.has(binding)).map((binding) => ({
    kind: "action", text: wordsOf(binding, say), more: "", key: capOf(binding.keys[0], say),
    act: () => binding.act({ target: document.body }),
  }));
  return [...rest, ...buttons];
}

const tabsOf = () =>
  [...document.querySelectorAll(".lab-tabs a:not([aria-current])")].map((link) => ({
    kind: "tab", text: link.textContent.trim(), more: "", href: link.href,
  }));

// answer: of /api/places/.
function placesOf({ pages, labs, lessons }, say) {
  const own = say("lesson.language");
  return [
    ...pages.map(({ says, url }) => ({ kind: "page", text: say(says), href: url })),
    ...labs.map((lab) => ({ kind: "lab", text: labTitle(lab, say), more: lab.id, href: lab.url })),
    ...lessons.map(({ title, name, url }) => ({
      kind: "lesson", text: title[own], also: `${name} ${Object.values(title).join(" ")}`, href: url,
    })),
  ];
}

// -- the dialog -------------------------------------------------------------------------------------------------------

// opener: the button in the top bar. url: where the site lists what one can go to; null where one can go nowhere.
export function createPalette(opener, url, say) {
  const dialog = document.createElement("dialog"), field = document.createElement("input");
  const list = document.createElement("ul"), count = document.createElement("p");
  dialog.className = "palette";
  dialog.id = "palette";
  Object.assign(field, { type: "text", autocomplete: "off", spellcheck: false, id: "palette-field" });
  list.id = "palette-list";
  Object.assign(count, { className: "s m", role: "status" });
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-expanded": "true", "aria-controls": list.id, "aria-autocomplete": "list",
  })) field.setAttribute(name, value);
  list.setAttribute("role", "listbox");
  dialog.append(field, list, count);
  let entries = [], found = [], at = 0, places = null, isFailed = false;

  function open() {
    document.body.append(dialog);
    dialog.setAttribute("aria-label", say("palette.open"));
    list.setAttribute("aria-label", say("palette.open"));
    field.setAttribute("aria-label", say("palette.hint"));
    field.placeholder = say("palette.hint");
    field.value = "";
    collect();
    dialog.showModal();
    if (url && !places) fetchPlaces();
  }

  async function fetchPlaces() {
    try {
      const answer = await fetch(url, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(answer.statusText);
      places = await answer.json();
      isFailed = false;
    } catch {
      isFailed = true;
    }
    if (dialog.open) collect();
  }

  function collect() {
    entries = [...tabsOf(), ...(places ? placesOf(places, say) : []), ...actionsOf(document, say)];
    show();
  }

  function show() {
    found = find(entries, field.value).slice(0, SHOWN);
    list.replaceChildren(...found.map(option));
    const words = found.length ? say("palette.found", { count: found.length }) : say("palette.none");
    count.textContent = isFailed ? `${words} ${say("palette.failed")}` : words;
    choose(0);
  }

  function option({ kind, text, more, key }, place) {
    const item = document.createElement("li");
    item.id = `palette-${place}`;
    item.setAttribute("role", "option");
    const part = (name, className, textContent) =>
      Object.assign(document.createElement(name), { className, textContent });
    item.append(part("span", "s m", say(`palette.${kind}`)), part("span", "what", text));
    if (more) item.append(part("span", "s m more", more));
    if (key) item.append(part("kbd", "", key));
    return item;
  }

  function choose(place) {
    at = found.length ? (place + found.length) % found.length : 0;
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
    const chosen = list.children[at];
    if (chosen) {
      field.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else field.removeAttribute("aria-activedescendant");
  }

  function take(entry) {
    dialog.close();
    if (entry.href) location.assign(entry.href);
    else entry.act();
  }

  field.addEventListener("input", () => {
    show();
    list.scrollTop = 0;
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) choose(Math.abs(step) > 1 ? Math.max(0, Math.min(found.length - 1, at + step)) : at + step);
    else if (event.key === "Enter" && !event.isComposing && found[at]) take(found[at]);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      dialog.close();
    }
  });
  list.addEventListener("click", (event) => {
    const place = [...list.children].indexOf(event.target.closest("li"));
    if (place >= 0) take(found[place]);
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  opener.addEventListener("click", open);
  bindKeys([{ keys: ["ctrl+k"], says: "palette.open", act: open }], "site");
}
