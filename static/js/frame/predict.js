// Predict: the next change is chosen, asked about, answered, and then made. The answer is worked out on a copy of the
// lab, so nothing has happened yet when one reads the truth.

import { onLanguage, page, say } from "../base/chrome.js";
import { fillSelect, setText } from "../base/dom.js";
import { clock } from "../base/say.js";
import { laneName } from "../lane/name.js";
import { answerWords, changeId, changeWords, changesOf, orderOf, questionWords, truthWords } from "./asked.js";
import { createTrial, isOvertaken, reasonOf } from "./trial.js";

const $ = (id) => document.getElementById(id);

// lane: the page's own, null where it is about all. send(near, order): makes the change. marking: on the picture.
// roomAsk: asks those who follow instead.
export function createPredict({ current, send, past, lane, marking, roomAsk }) {
  const dialog = $("predict-dialog"), form = $("predict-form"), trial = createTrial("predict", past);
  let asked = null, chosen = null, place = 0;   // place: which of the lane's questions

  const pick = () => form.lane.value || lane || current().lane_order[0];
  const changes = () => changesOf(current(), pick()).filter(isKnown);
  const change = () => changes().find((each) => changeId(each) === form.change.value) ?? changes()[0];

  // A capsule knows what came of the change that comes next in it, and of no other.
  function isKnown({ kind, consumer }) {
    const { at_us: atUs } = current(), questions = page.player?.questions;
    return !questions || questions.some((each) =>
      each.kind === kind && each.consumer === consumer && each.from_us <= atUs && atUs <= each.until_us);
  }

  function writeForm() {
    const ids = lane ? [lane] : current().lane_order, isNone = changes().length === 0;
    $("predict-none").hidden = !isNone;
    form.querySelector(".go").disabled = isNone;
    fillSelect(form.lane, ids.map((id) => [id, laneName(id, current(), say)]), pick());
    $("predict-lane").hidden = ids.length < 2;
    fillSelect(form.change, changes().map((each) => [changeId(each), changeWords(each, say)]),
      isNone ? "" : changeId(change()));
  }

  function open() {
    asked = chosen = null;
    place = 0;
    writeForm();
    write();
    dialog.showModal();
  }

  async function put(event) {
    event.preventDefault();
    const made = change(), id = pick();
    asked = chosen = null;
    write({ isWorking: true });
    try {
      const count = made.kind === "join" ? 1 : null;
      const told = await trial({ kind: made.kind, consumer: made.consumer, count, lane: id });
      const { outcome } = told.lanes[id];
      place %= outcome.questions.length;
      asked = { told, change: made, lane: id, outcome, question: outcome.questions[place], atUs: told.at_us };
      write();
      $("predict-question").focus();
    } catch (error) {
      if (!isOvertaken(error)) write({ error: reasonOf(error) || say("notice.failed", { status: error.status ?? 0 }) });
    }
  }

  function write({ isWorking = false, error = "" } = {}) {
    $("predict-working").hidden = !isWorking;
    $("predict-error").hidden = !error;
    $("predict-asked").hidden = asked === null;
    setText($("predict-error"), error);
    if (asked === null) return;
    const { question, outcome, atUs } = asked;
    setText($("predict-question"), questionWords(question, asked.change, laneName(asked.lane, current(), say), say));
    $("predict-answers").replaceChildren(...question.answers.map((answer, at) => {
      const text = answerWords(question.figure, answer, say), button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: text, className: "btn answer", disabled: chosen !== null });
      button.dataset.answer = at;
      button.setAttribute("aria-keyshortcuts", String(at + 1));
      button.setAttribute("aria-pressed", String(chosen === at));
      if (chosen !== null && at === question.truth) button.dataset.true = "";
      return button;
    }));
    $("predict-acts").hidden = chosen === null;
    $("predict-mark").hidden = chosen !== null || !marking.canMark(outcome);
    $("predict-room").hidden = chosen !== null || !roomAsk.mayAsk();
    const lines = chosen === null ? [] : truthWords({ question, chosen, outcome, atClock: clock(atUs) }, say);
    $("predict-truth").replaceChildren(...lines.map((textContent, at) =>
      Object.assign(document.createElement("p"), { textContent, className: at ? "s m" : "verdict" }),
    ));
  }

  function choose(at) {
    if (asked === null || chosen !== null || !asked.question.answers[at]) return;
    chosen = at;
    write();
    $("predict-make").focus();
  }

  $("predict").addEventListener("click", open);
  form.addEventListener("submit", put);
  form.addEventListener("change", () => {
    asked = chosen = null;
    place = 0;
    writeForm();
    write();
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target.closest("[data-close]")) dialog.close();
    else if (target.dataset.answer) choose(Number(target.dataset.answer));
  });
  dialog.addEventListener("keydown", (event) => {
    if (!(event.key >= "1" && event.key <= "4") || event.target.closest("select")) return;
    choose(Number(event.key) - 1);
    event.preventDefault();
  });
  $("predict-mark").addEventListener("click", () => {
    dialog.close();
    marking.start(asked);
  });
  $("predict-room").addEventListener("click", async ({ target }) => {
    const { change: made, lane: id, question: { figure } } = asked;
    if (await roomAsk.ask(target, { change: made, lane: id, figure })) dialog.close();
  });
  $("predict-again").addEventListener("click", (event) => {
    place += 1;
    put(event);
  });
  $("predict-make").addEventListener("click", () => {
    const { change: made, lane: id } = asked;
    dialog.close();
    send($("predict"), { lane: id, ...orderOf(made) });
  });
  onLanguage(() => {
    if (!dialog.open) return;
    writeForm();
    write();
  });
  return { open };
}
