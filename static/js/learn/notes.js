// The speaker's window: the notes of the slide that is shown, how long it may take, what comes next, the time so far.
// It outlives this page: the deck that the tab comes back to takes it over.

import { HERE, timeSince } from "./opened.js";

const NAME = "highwater-notes", SIZE = "popup,width=640,height=720";

// act(event): of a key that is pressed there. began: when the deck was opened, in ms. script: of that window.
export function createNotes({ say, act, began, script }) {
  let opened = null, shown = null;

  const isOpen = () => opened !== null && !opened.closed;

  function element(tag, text, className = "") {
    return Object.assign(opened.document.createElement(tag), { textContent: text, className });
  }

  function write() {
    const { body } = opened.document, { title, text, place, minutes, from, next } = shown;
    const elapsed = element("p", say("lecture.elapsed", { time: timeSince(began, Date.now()) }), "m");
    elapsed.id = "elapsed";
    Object.assign(elapsed.dataset, { began, words: say("lecture.elapsed", { time: "{time}" }) });
    const said = element("div", "", "notes");
    const copies = [...text.childNodes].map((node) => opened.document.importNode(node, true));
    if (text.childElementCount) said.append(...copies);
    else said.append(element("p", say("lecture.no_notes"), "m"));
    body.replaceChildren(
      element("p", place, "m"), element("h1", title),
      ...(minutes ? [element("p", say("lecture.planned", { from, minutes }), "m")] : []),
      said, ...(next ? [element("p", say("lecture.coming", { title: next }))] : []), elapsed,
    );
  }

  // Takes the page's own style sheets, so that it looks as the page does.
  function dress() {
    const { document: other } = opened;
    other.head.replaceChildren();                         // of the deck before, where this window has stayed open
    other.title = say("lecture.notes");
    other.documentElement.lang = document.documentElement.lang;
    Object.assign(other.documentElement.dataset, document.documentElement.dataset);
    for (const { href } of document.querySelectorAll("link[rel=stylesheet]")) {
      other.head.append(Object.assign(other.createElement("link"), { rel: "stylesheet", href }));
    }
    other.head.append(Object.assign(other.createElement("script"), { type: "module", src: script }));
    other.body.className = "speaker";
    opened.addEventListener("keydown", act);
  }

  addEventListener("message", ({ origin, data, source }) => {
    if (origin !== location.origin || data !== HERE || source === opened) return;
    opened = source;
    dress();
    if (shown) write();
  });

  // -> whether there is a window now.
  function open() {
    if (isOpen()) opened.focus();
    else {
      opened = window.open("", NAME, SIZE);
      if (!opened) return false;
      dress();
    }
    return true;
  }

  return {
    open,
    show(slide) {
      shown = slide;
      if (isOpen()) write();
    },
  };
}
