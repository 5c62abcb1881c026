// The page Learn: what one has done, and search and level on all lessons in place.

import { say } from "../base/chrome.js";
import { bindKeys } from "../base/keys.js";
import { browserStorage, isBegun, keptLessons } from "../lesson/kept.js";
import { countDone, nextStep } from "./course.js";
import { matches, wordsOf } from "./filter.js";
import { goOnAt, showMark } from "./marks.js";
import { followLanguage } from "../base/texts.js";

const $ = (id) => document.getElementById(id);
const storage = browserStorage(), search = $("search"), levels = [...document.querySelectorAll(".seg [data-level]")];
const marked = [...document.querySelectorAll("li[data-lesson]")];
const cards = marked.filter((row) => row.closest("#start")), rows = marked.filter((row) => !row.closest("#start"));
const chapters = [...document.querySelectorAll(".chapter")].map((root) => ({
  root, rows: rows.filter((row) => root.contains(row)), details: root.querySelector("details"), wasOpen: false,
}));
const titleOf = (row) => row.dataset.lesson;
let isFiltering = false;

// -- what is done -----------------------------------------------------------------------------------------------------

function showKept() {
  const kept = keptLessons(storage);
  for (const row of marked) {
    showMark(row.querySelector("[data-kept]"), kept[titleOf(row)]);
    row.toggleAttribute("data-begun", isBegun(kept[titleOf(row)]));
  }
  const done = countDone(cards.map(titleOf), kept);
  $("start-done").textContent = done ? `${say("learn.semicolon")}${say("learn.done_count", { count: done })}` : "";
  for (const { root, rows: own } of chapters) {
    const count = countDone(own.map(titleOf), kept);
    root.querySelector("[data-done]").textContent = `${count} / ${own.length}`;
    root.querySelector(".bar i").style.width = `${(100 * count) / own.length}%`;
  }
  showNext(nextStep(cards.map(titleOf), rows.map(titleOf), kept));
}

function showNext({ title, kind, number, frame, frames, lab }) {
  const address = marked.find((row) => titleOf(row) === title).querySelector("a").getAttribute("href");
  const go = $("go");
  go.href = kind === "place" ? goOnAt(address, lab) : address;
  go.textContent = kind === "place" ? say("learn.go_on", { frame, frames }) : say(`learn.${kind}`, { number });
}

// -- what is found ----------------------------------------------------------------------------------------------------

const wanted = () => levels.find((button) => button.getAttribute("aria-pressed") === "true").dataset.level;

// What is looked for belongs to the address, so that a link leads to it.
function keepAsked(level) {
  const query = new URLSearchParams({ ...(search.value && { q: search.value }), ...(level && { level }) }).toString();
  history.replaceState(null, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
}

function takeAsked() {
  const query = new URLSearchParams(location.search), level = query.get("level") ?? "";
  search.value = query.get("q") ?? "";
  if (levels.some((button) => button.dataset.level === level)) press(level);
}

function press(level) {
  for (const each of levels) each.setAttribute("aria-pressed", String(each.dataset.level === level));
}

function showFound() {
  const words = wordsOf(search.value), level = wanted();
  keepAsked(level);
  const was = isFiltering;
  isFiltering = words.length > 0 || level !== "";
  if (isFiltering && !was) for (const chapter of chapters) chapter.wasOpen = chapter.details?.open ?? false;
  $("main").toggleAttribute("data-filtering", isFiltering);
  $("start").hidden = isFiltering;
  let found = 0;
  for (const { root, rows: own, details, wasOpen } of chapters) {
    let inChapter = 0;
    for (const row of own) {
      row.hidden = isFiltering && !matches(row.dataset, words, level);
      inChapter += row.hidden ? 0 : 1;
    }
    root.hidden = inChapter === 0;
    if (details && (isFiltering || was)) {
      details.open = isFiltering || wasOpen;
      details.hidden = isFiltering && ![...details.querySelectorAll("li")].some((row) => !row.hidden);
    }
    found += inChapter;
  }
  $("found").hidden = !isFiltering;
  $("found").textContent = !isFiltering ? "" : found ? say("learn.found", { count: found }) : say("learn.none");
}

search.addEventListener("input", showFound);
search.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || search.value === "") return;
  search.value = "";
  event.preventDefault();
  showFound();
});
for (const button of levels) {
  button.addEventListener("click", () => {
    press(button.dataset.level);
    showFound();
  });
}
$("find").addEventListener("submit", (event) => event.preventDefault());
bindKeys([{ keys: ["/"], says: "learn.search", act: () => search.focus() }]);

// A link to a chapter opens the whole of it.
function openLinked() {
  const chapter = chapters.find(({ root }) => `#${root.id}` === location.hash);
  if (chapter?.details) chapter.details.open = true;
}

$("find").hidden = false;
openLinked();
addEventListener("hashchange", openLinked);
addEventListener("storage", showKept);                            // a lesson plays in another tab
addEventListener("pageshow", showKept);                           // back from one
showKept();
takeAsked();
showFound();
followLanguage(() => {
  search.placeholder = say("learn.search");
  showKept();
  showFound();
});
