// The speaker's window: the notes of the slide that is shown, how long it may take, what comes next, the time so far.

import { clock } from "../base/say.js";

const NAME = "highwater-notes", SIZE = "popup,width=640,height=720", SECOND_MS = 1000;

// act(event): of a key that is pressed there. began: when the deck was opened, in ms.
export function createNotes({ say, act, began }) {
  let opened = null, shown = null;

  const isOpen = () => opened !== null && !opened.closed;

  function element(tag, text, className = "") {
    return Object.assign(opened.document.createElement(tag), { textContent: text, className });
  }

  function write() {
    const { body } = opened.document, { title, text, place, minutes, from, next } = shown;
    const elapsed = element("p", "", "m");
    elapsed.id = "elapsed";
    const said = element("div", "", "notes");
    const copies = [...text.childNodes].map((node) => opened.document.importNode(node, true));
    if (text.childElementCount) said.append(...copies);
    else said.append(element("p", say("lecture.no_notes"), "m"));
    body.replaceChildren(
      element("p", place, "m"), element("h1", title),
      ...(minutes ? [element("p", say("lecture.planned", { from, minutes }), "m")] : []),
      said, ...(next ? [element("p", say("lecture.coming", { title: next }))] : []), elapsed,
    );
    tick();
  }

  function tick() {
    if (!isOpen()) return;
    const elapsed = opened.document.getElementById("elapsed"), us = Math.floor((Date.now() - began) / SECOND_MS) * 1e6;
    if (elapsed) elapsed.textContent = say("lecture.elapsed", { time: clock(us).replace(/\.0$/, "") });
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
    other.body.className = "speaker";
    opened.addEventListener("keydown", act);
  }

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

  setInterval(tick, SECOND_MS);
  return {
    open,
    show(slide) {
      shown = slide;
      if (isOpen()) write();
    },
  };
}
