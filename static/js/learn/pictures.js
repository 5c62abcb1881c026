// The picture of a step, live on its slide: the lesson's own lab in a frame, from the step's moment on. One at a time;
// it goes with its slide. In a room it is the teacher's: those who follow see the same moment.
//
//   teacher's frame ─► {at_us, to_us, speed} ─► the slide's texts ─► the room ─► a follower's slide ─► its frame

import { speak } from "../base/chrome.js";
import { PICTURE } from "../frame/held.js";
import { placeOf, placeText } from "./place_text.js";

// slides: their elements. changed(): a slide is higher, or lower. isHeld(): one follows another's deck.
export function createPictures({ slides, changed, isHeld }) {
  let figure = null, frame = null, at = "", wanted = "";

  const stepsOf = (slide) => [...slide.querySelectorAll(".step")];
  const numberOf = (step) => stepsOf(step.closest(".slide")).indexOf(step) + 1;

  function open(step) {
    close();
    const picture = step.querySelector(".picture");
    figure = step;
    frame = Object.assign(document.createElement("iframe"), { src: step.dataset.play, title: step.dataset.title });
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
    [figure, frame, at, wanted] = [null, null, "", ""];
    changed();
  }

  // Who follows cannot turn it; who has left the teacher's slides can.
  function hold() {
    if (frame === null) return;
    frame.inert = isHeld();
    if (at) post({ is_held: isHeld() });
  }

  const post = (words) => frame.contentWindow.postMessage({ kind: PICTURE, ...words }, location.origin);

  function go() {
    const place = placeOf(wanted);
    if (place && at) post(place);
  }

  addEventListener("message", ({ origin, source, data }) => {
    if (origin !== location.origin || source !== frame?.contentWindow || data?.kind !== PICTURE) return;
    const isReady = at !== "";
    at = placeText(data);
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
    // What a room learns of it; nothing while the stills are shown.
    read: () => (figure === null ? {} : { picture: String(numberOf(figure)), at }),
    // As the presenter has it, of this slide.
    show(slide, { picture, at: place }) {
      const step = stepsOf(slide)[Number(picture) - 1] ?? null;
      if (step === null) return close();
      if (step !== figure) open(step);
      hold();
      if (!place || place === wanted) return null;
      wanted = place;
      return go();
    },
  };
}
