// What every page has: language and theme, both switched in place and remembered.

import { createCopyLink } from "./copy_link.js";
import { listenToKeys } from "./keys.js";
import { createNotice } from "./notice.js";
import { createPalette } from "./palette.js";
import { fill } from "./say.js";
import { createSheet } from "./sheet.js";
import { createTips } from "./tips.js";

const THEMES = ["auto", "light", "dark"];
const read = (id) => JSON.parse(document.getElementById(id).textContent);

export const page = read("page");
const catalogue = read("catalogue");
const listeners = [];

export const words = () => catalogue[page.language];
export const say = (code, params = {}) => fill(words()[code] ?? code, params, words());
export const onLanguage = (listener) => listeners.push(listener);

// Put the words of `code` on an element, so that they change with the language; `params` fill the places of a text.
export function speak(element, code, label = "say", params = null) {
  element.dataset[label] = code;
  if (params) element.dataset.params = JSON.stringify(params);
  if (label === "say") element.textContent = say(code, params ?? {});
  else element.setAttribute(label === "sayLabel" ? "aria-label" : "title", say(code));
}

function remember(name, value) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax${secure}`;
}

function setLanguage(language) {
  page.language = language;
  remember(page.cookies.language, language);
  document.documentElement.lang = language === "en" ? "en" : "zh-Hans";
  for (const element of document.querySelectorAll("[data-say]")) {
    element.textContent = say(element.dataset.say, JSON.parse(element.dataset.params ?? "{}"));
  }
  for (const element of document.querySelectorAll("[data-say-label]")) {
    element.setAttribute("aria-label", say(element.dataset.sayLabel));
  }
  for (const element of document.querySelectorAll("[data-say-title]")) element.title = say(element.dataset.sayTitle);
  const button = document.getElementById("language");
  button.textContent = language === "en" ? "中文" : "English";
  button.lang = language === "en" ? "zh-Hans" : "en";
  showTheme();
  for (const listener of listeners) listener();
}

function setTheme(theme) {
  page.theme = theme;
  remember(page.cookies.theme, theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  showTheme();
  for (const listener of listeners) listener();
}

function showTheme() {
  const name = say(`theme.${page.theme}`);
  speak(document.getElementById("theme-name"), `theme.${page.theme}`);
  document.getElementById("theme").setAttribute("aria-label", say("theme.label", { theme: name }));
}

createTips(say);
const copyButton = document.getElementById("copy-link");
if (copyButton) createCopyLink(copyButton, { notice: createNotice(document.getElementById("notice")), say });
listenToKeys();
createSheet(document.getElementById("keys-open"), say);
createPalette(document.getElementById("palette-open"), page.player ? null : "/api/places/", say);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (page.theme === "auto") for (const listener of listeners) listener();
});
document
  .getElementById("language")
  .addEventListener("click", () => setLanguage(page.language === "en" ? "zh-hans" : "en"));
document
  .getElementById("theme")
  .addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(page.theme) + 1) % THEMES.length]));
showTheme();
