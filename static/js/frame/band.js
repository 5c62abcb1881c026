// Writes the story into its band, and lights up what its nouns name: the rows and shapes of a consumer, a broker, a
// lane; and the noun, when the pointer or the focus is on what it names.

import { onLanguage, say } from "../base/chrome.js";
import { namedShapes, subjectOf } from "../drawing/named.js";
import { createLine } from "./line.js";
import { storyOf } from "./story.js";

const $ = (id) => document.getElementById(id);

// current(): the view. lane: the page's own, null on the Stage. own(say): as storyOf has it.
export function createBand({ current, lane = null, own = () => null }) {
  const lines = { what: $("story-what"), means: $("story-means") };
  const writers = Object.fromEntries(Object.entries(lines).map(([name, line]) => [name, createLine(line)]));
  let lit = null;                                       // key of the noun that is lit

  function draw() {
    const story = storyOf(current(), say, { own, lane });
    for (const name in lines) if (writers[name](story[name])) fit(lines[name]);
    if (lit !== null) light(lit);
  }

  // A line that is longer than the band is wide goes on in a second one, of smaller letters: the band stays as high.
  function fit(line) {
    line.removeAttribute("data-long");
    if (line.scrollWidth > line.clientWidth + 1) line.setAttribute("data-long", "");
    // On a phone the rest is scrolled to, by keys as well.
    if (line.scrollHeight > line.clientHeight + 1 && getComputedStyle(line).overflowY === "auto") line.tabIndex = 0;
    else line.removeAttribute("tabindex");
  }

  const nouns = () => [...document.querySelectorAll("[data-noun]")];

  function light(key) {
    lit = key;
    const named = key === null ? new Set() : new Set(namedShapes($("main"), key));
    for (const element of document.querySelectorAll("[data-named]")) {
      if (!named.has(element)) element.removeAttribute("data-named");
    }
    for (const element of named) element.setAttribute("data-named", "");
    for (const noun of nouns()) noun.toggleAttribute("data-lit", noun.dataset.noun === key);
  }

  // What an element of the page is about, where the story names it.
  function told({ target }) {
    const noun = target.closest?.("[data-noun]");
    if (noun) return noun.dataset.noun;
    if (!$("main").contains(target)) return null;
    return subjectOf(target, nouns().map((each) => each.dataset.noun));
  }

  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const key = told(event);
      if (key !== lit) light(key);
    });
  }
  document.addEventListener("pointerleave", () => light(null));
  onLanguage(draw);
  addEventListener("resize", () => Object.values(lines).forEach(fit));
  return { draw };
}
