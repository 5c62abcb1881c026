// The picture of a step, live on its slide: the lesson's own lab in a frame, from the step's moment on. One at a time;
// it goes with its slide. In a room it is the teacher's: those who follow see the same moment, page and picture.
//
//   teacher's frame ─► its words (frame/held.js) ─► the slide's texts ─► the room ─► a follower's slide ─► its frame

import { speak } from "../base/chrome.js";
import { PICTURE } from "../frame/held.js";
import { isPicturePage, placeOf, placeText } from "./place_text.js";

const BUTTONS = { next: "next", back: "back-frame" };

// slides: their elements. changed(): a slide is higher, or lower. isHeld(): one follows another's deck.
// act(event): of a key that is pressed in the picture.
export function createPictures({ slides, changed, isHeld, act }) {
  let figure = null, frame = null, here = null, wanted = null;    // both: { at, page, panel }, texts

  const stepsOf = (slide) => [...slide.querySelectorAll(".step")];
  const numberOf = (step) => stepsOf(step.closest(".slide")).indexOf(step) + 1;

  function open(step) {
    close();
    const picture = step.querySelector(".picture");
    figure = step;
    frame = Object.assign(document.createElement("iframe"), { src: step.dataset.play, title: step.dataset.title });
    frame.addEventListener("load", ({ target }) => target.contentWindow.addEventListener("keydown", act));
    picture.append(frame);
    hold();
    step.setAttribute("data-playing", "");
    speak(step.querySelector("[data-part=live]"), "lecture.still");
    changed();
    if (isHeld()) step.scrollIntoView({ block: "nearest" });
  }

  function close() {
    if (figure === null) return;
    frame.remove();
    figure.removeAttribute("data-playing");
    speak(figure.querySelector("[data-part=live]"), "lecture.play");
    [figure, frame, here, wanted] = [null, null, null, null];
    changed();
  }

  // Who follows cannot turn it; who has left the teacher's slides can.
  function hold() {
    if (frame === null) return;
    frame.inert = isHeld();
    if (here) post({ is_held: isHeld() });
  }

  const post = (words) => frame.contentWindow.postMessage({ kind: PICTURE, ...words }, location.origin);

  function go() {
    const place = wanted && placeOf(wanted.at), { page, panel } = wanted ?? {};
    if (!place || !here) return;
    if (page === here.page || !isPicturePage(page)) return void post({ ...place, panel });
    here = null;                                         // the other page says when it is there
    frame.contentWindow.location.replace(page + (place.at_us === null ? "" : `#at_us=${place.at_us}`));
  }

  addEventListener("message", ({ origin, source, data }) => {
    if (origin !== location.origin || source !== frame?.contentWindow || data?.kind !== PICTURE) return;
    const isReady = here !== null;
    here = { at: placeText(data), page: data.page, panel: data.panel };
    if (isReady || !isHeld()) return;
    hold();
    go();
  });

  for (const slide of slides) {
    for (const step of stepsOf(slide)) {
      const button = step.querySelector("[data-part=live]");
      button.hidden = false;
      button.addEventListener("click", () => (step === figure ? close() : open(step)));
    }
  }

  return {
    close, hold,
    // The first step's of a slide, or back to the slide.
    toggle(slide) {
      const [step] = figure ? [figure] : stepsOf(slide);
      step?.querySelector("[data-part=live]").click();
      return Boolean(step);
    },
    // Its frame after, or before; -> whether there is one.
    turn(way) {
      const button = frame?.contentDocument?.getElementById(BUTTONS[way]);
      if (!button?.offsetParent || button.disabled) return false;
      button.click();
      return true;
    },
    page: () => frame?.contentDocument ?? null,
    // What a room learns of it; nothing while the stills are shown.
    read: () => (figure === null ? {} : { picture: String(numberOf(figure)), ...here }),
    // As the presenter has it, of this slide.
    show(slide, { picture, at, page, panel }) {
      const step = stepsOf(slide)[Number(picture) - 1] ?? null;
      if (step === null) return close();
      if (step !== figure) open(step);
      hold();
      const next = { at, page, panel };
      if (!at || JSON.stringify(next) === JSON.stringify(wanted)) return null;
      wanted = next;
      return go();
    },
  };
}
