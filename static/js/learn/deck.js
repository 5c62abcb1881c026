// A lecture as a deck: one slide at a time, its number in the address; keys, a clicker, a finger; the speaker's notes
// in a window of their own, whose keys turn the slides, too; a room whose phones follow.

import { page, say } from "../base/chrome.js";
import { bindKeys, isOrder } from "../base/keys.js";
import { followLanguage } from "../base/texts.js";
import { tabStorage } from "../room/session.js";
import { createDeckRoom } from "./deck_room.js";
import { createNotes } from "./notes.js";
import { openedAt } from "./opened.js";
import { createPictures } from "./pictures.js";
import { numberIn, turned } from "./turning.js";

const $ = (id) => document.getElementById(id);
const SCALES = [1, 0.95, 0.9, 0.85, 0.8, 0.75], isWide = matchMedia("(min-width: 801px)");
const { language } = page, main = $("main"), slides = [...main.querySelectorAll(".slide")], count = slides.length;
let number = numberIn(location.hash, count);

const at = (wanted) => slides[wanted - 1];
const pictures = createPictures({ slides, changed: () => fit(), isHeld: () => Boolean(page.follows), act });
const titleOf = (slide) => slide.querySelector(".slide-title").textContent;
const notes = createNotes({
  say, act, began: openedAt(tabStorage(), location.pathname, Date.now()), script: $("notes").dataset.script,
});

function show() {
  for (const [place, slide] of slides.entries()) slide.toggleAttribute("data-now", place + 1 === number);
  fit();
  $("place").textContent = say("lecture.place", { number, count });
  $("back").disabled = number === 1;
  $("next").disabled = number === count;
  main.scrollTop = 0;
  const slide = at(number), after = at(number + 1);
  notes.show({
    title: titleOf(slide), text: slide.querySelector(".notes"), place: $("place").textContent,
    minutes: Number(slide.dataset.minutes), from: Number(slide.dataset.from), next: after ? titleOf(after) : "",
  });
}

// A slide with more on it has smaller letters, down to where one would rather scroll.
function fit() {
  for (const scale of isWide.matches ? SCALES : [1]) {
    main.style.setProperty("--scale", scale);
    if (main.scrollHeight <= main.clientHeight) return;
  }
}

function turn(way) {
  const wanted = turned(number, way, count);
  if (wanted !== number) goTo(wanted);
}

function goTo(wanted) {
  if (wanted !== number) pictures.close();
  number = wanted;
  history.replaceState(null, "", `#${number}`);
  show();
}

const truths = () => [...at(number).querySelectorAll("details.truth")];
const isAnswered = () => truths().length > 0 && truths().every((truth) => truth.open);

// A key, or the remote: through the frames of a picture that is live, and then on.
function move(way) {
  if (!pictures.turn(way)) turn(way);
}

function answer() {
  const open = !isAnswered();
  for (const truth of truths()) truth.open = open;
  return truths().length > 0;
}

// What a room follows: the slide, whether its answers are open, and which picture is live, where.
const slideShown = () => ({ slide: String(number), answers: isAnswered() ? "open" : "", ...pictures.read() });

function showSlide({ slide, answers, ...live }) {
  const wanted = numberIn(`#${slide}`, count);
  if (wanted !== number) goTo(wanted);
  if (isAnswered() !== (answers === "open")) answer();
  pictures.show(at(number), live);
}

function openNotes() {
  if (notes.open()) return show();
  const isHidden = slides[0].querySelector(".notes").hidden;                // the browser opens no window
  for (const slide of slides) slide.querySelector(".notes").hidden = !isHidden;
  if (isHidden) $("place").textContent = say("lecture.notes_blocked");
}

const bindings = [
  { keys: ["pagedown", "arrowright"], says: "lecture.next", act: () => move("next") },
  { keys: ["pageup", "arrowleft"], says: "lecture.back", act: () => move("back") },
  { keys: [" "], act: () => move("next") },
  { keys: ["home"], says: "lecture.first", act: () => turn("first") },
  { keys: ["end"], says: "lecture.last", act: () => turn("last") },
  { keys: ["a"], says: "lecture.show_answer", act: answer },
  { keys: ["p"], says: "lecture.play_key", act: () => !page.follows && pictures.toggle(at(number)) },
  { keys: ["n"], says: "lecture.notes_window", act: openNotes },
];

// A key of the notes' window, or of a live picture that has no use for it.
function act(event) {
  if (event.defaultPrevented || event.repeat || !isOrder(event)) return;
  const binding = bindings.find(({ keys }) => keys.includes(event.key.toLowerCase()));
  if (binding && binding.act() !== false) event.preventDefault();
}

for (const id of ["back", "next", "notes"]) $(id).hidden = false;
$("back").addEventListener("click", () => turn("back"));
$("next").addEventListener("click", () => turn("next"));
$("notes").addEventListener("click", openNotes);
addEventListener("hashchange", () => goTo(numberIn(location.hash, count)));
addEventListener("resize", fit);
main.addEventListener("toggle", fit, true);             // an answer that opens needs room
document.body.toggleAttribute("data-live", true);
bindKeys(bindings);
show();
if ($("room")) {
  createDeckRoom({
    root: main, slides, read: slideShown, show: showSlide, inner: pictures.page,
    changed() {
      fit();
      pictures.hold();
    },
  });
}
followLanguage(() => {
  if (page.language !== language && main.hasAttribute("data-shelved")) location.reload();
  else show();
});
