// A question of a lesson, at the frame that asks it: four answers about the change that comes next, and the truth. Both
// are worked out by the server on a copy of the lab, which carries the lesson's next order out.
//
//   a frame that asks is there ─► GET trial/?next=1 ─► the question ─► a press, or 1 to 4 ─► the truth

import { onLanguage, page, say } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { clock, sentences } from "../base/say.js";
import { laneName } from "../lane/name.js";
import { answerWords, questionWords, truthWords } from "./asked.js";
import { createTrial } from "./trial.js";

const $ = (id) => document.getElementById(id);

// past: as createTransport has it. current(): the view. changed(): it is answered, or not open any more. marking: on
// the picture. roomAsk: the presenter of a room asks those who follow, whose pages then ask nothing on their own;
// nor does the presenter's, while the room is asked, nor a picture on a slide.
export function createAsk({ past, current, changed, marking, roomAsk }) {
  const box = $("lesson-ask"), trial = createTrial("lesson", past), asked = new Map();   // by the frame's stop
  let shown = null, drawn = "", last = null;

  // frame: the one that the lesson is paused at, null on its way.
  function draw(frame) {
    shown = frame?.ask && !page.follows && !page.player?.is_picture && !roomAsk.isAsked() ? frame : null;
    const at = shown?.stop_us ?? null;
    if (at !== null && at !== last && !asked.get(at)) find(shown);
    last = at;
    write();
  }

  async function find({ stop_us: at, ask: { lane, figure } }) {
    try {
      const told = await trial({ next: "1" }), { order, at_us: atUs, lanes } = told, { outcome } = lanes[lane] ?? {};
      const question = outcome?.questions.find((each) => each.figure === figure) ?? outcome?.questions[0];
      if (question) asked.set(at, { told, lane, order, outcome, question, atUs, chosen: null });
      write();
      changed();
    } catch {
      asked.delete(at);                                  // it is asked again when one comes back
    }
  }

  const open = () => (shown ? asked.get(shown.stop_us) ?? null : null);

  function write() {
    const now = open();
    box.hidden = now === null;
    const key = now && `${shown.stop_us} ${now.chosen} ${roomAsk.mayAsk()} ${document.documentElement.lang}`;
    if (key === drawn) return;
    drawn = key;
    if (now === null) return;
    const { question, order, lane, outcome, atUs, chosen } = now;
    const change = { kind: order.kind, consumer: order.consumer };
    setText($("ask-question"), questionWords(question, change, laneName(lane, current(), say), say));
    $("ask-answers").replaceChildren(...question.answers.map((answer, at) => {
      const button = document.createElement("button"), number = document.createElement("kbd");
      Object.assign(button, { type: "button", className: "btn answer", disabled: chosen !== null });
      Object.assign(number, { textContent: String(at + 1) });
      number.setAttribute("aria-hidden", "true");
      button.append(answerWords(question.figure, answer, say), number);
      button.dataset.answer = at;
      button.setAttribute("aria-keyshortcuts", String(at + 1));
      button.setAttribute("aria-pressed", String(chosen === at));
      if (chosen !== null && at === question.truth) button.dataset.true = "";
      return button;
    }));
    const words = chosen === null ? say("lesson.ask.hint")
      : sentences(truthWords({ question, chosen, outcome, atClock: clock(atUs) }, say));
    setText($("ask-truth"), words);
    $("ask-room").hidden = chosen !== null || !roomAsk.mayAsk();
    $("ask-mark").hidden = chosen !== null || !marking.canMark(outcome);
  }

  function choose(at) {
    const now = open();
    if (!now || now.chosen !== null || !now.question.answers[at]) return false;
    now.chosen = at;
    write();
    changed();
    return true;
  }

  $("ask-answers").addEventListener("click", ({ target }) => {
    const button = target.closest("[data-answer]");
    if (button) choose(Number(button.dataset.answer));
  });
  $("ask-mark").addEventListener("click", () => {
    const { told, lane, order } = open();
    marking.start({ told, lane, change: { kind: order.kind, consumer: order.consumer } });
  });
  $("ask-room").addEventListener("click", ({ target }) => {
    const { lane, question: { figure } } = open();
    roomAsk.ask(target, { change: null, lane, figure });
  });
  onLanguage(write);
  const bindings = [1, 2, 3, 4].map((number) => ({
    keys: [String(number)], ...(number === 1 && { says: "lesson.keys.answer" }), act: () => choose(number - 1),
  }));
  return { draw, bindings, isOpen: () => open()?.chosen === null };
}
