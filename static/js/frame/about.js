// What a file that is taken from a page of a lab says of where it is from.

import { say } from "../base/chrome.js";
import { clock } from "../base/say.js";

const textOf = (element) => element?.textContent.trim() ?? "";

// panel: a lane has a sentence of its own, any other the story of the page. hash: of the state, "" where it is unknown.
export function aboutLab(panel, { at_us: atUs, seed }, hash) {
  const lab = textOf(document.getElementById("lab-name")), own = panel.querySelector("[data-parts]");
  const story = [document.getElementById("story-what"), document.getElementById("story-means")];
  const text = (own ? [own] : story).map(textOf).filter(Boolean).join(" ");
  const about = say(hash ? "take.about_hash" : "take.about", { lab, clock: clock(atUs), seed: String(seed), hash });
  return { lab, clock: clock(atUs), said: { text, about } };
}
