// A question to the room, on everybody's page: its answers, how the room has answered once the presenter shows it, and
// the truth. Who has a seat answers, the presenter leads.
//
//   Predict, or a lesson's frame ─► ask ─► open ─► closed ─► the change is made ─► told

import { createAct } from "../base/act.js";
import { onLanguage, page, say, speak } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { clock } from "../base/say.js";
import { laneName } from "../lane/name.js";
import { answerBars } from "./answer_bars.js";
import { answerWords, marksWords, orderOf, questionWords, truthWords } from "./asked.js";
import { createFold, standBeside } from "./card.js";
import { createHeat } from "./heat.js";
import { pictureOf } from "./mark_places.js";
import { momentShown } from "./trial.js";

const $ = (id) => document.getElementById(id);
const LOOK_MS = 50, STOPPED_WITHIN_MS = 2000;

// room: as createRoom gives it. current(), send(near, order), notice, past: as createTransport has them. marking: on
// the picture. goNext(): the lesson goes on; -> whether it does.
export function createRoomAsk({ room, current, send, notice, past, marking, goNext }) {
  const card = $("room-ask"), drawHeat = createHeat({ current }), act = createAct(notice);
  const fold = createFold($("room-fold"), $("room-ask-body"), ["room.fold", "room.unfold"]);
  let drawn = "", number = 0, isMarking = false;

  // -- asking ---------------------------------------------------------------------------------------------------------

  // The picture stays as it is while the room answers, and the change is then made at the moment that was asked about.
  async function stopped(near) {
    if (past.isShown()) return momentShown(past);
    if (current().playing && page.owner) await send(near, { kind: "pause_lab", lane: "all" });
    for (let waited = 0; current().playing && page.owner && waited < STOPPED_WITHIN_MS; waited += LOOK_MS) {
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
    return { at_us: current().at_us };
  }

  // change: { kind, consumer }, null for what the lesson orders next. -> whether it is asked.
  async function ask(near, { change, lane, figure }) {
    const what = change ? { kind: change.kind, consumer: change.consumer } : { next: "1" };
    return act(near, async () => room.ask({ ...what, lane, figure, ...await stopped(near) }));
  }

  // -- drawing --------------------------------------------------------------------------------------------------------

  // What a slide asks is answered on the slide.
  const ofLab = () => (room.asked()?.slide ? null : room.asked());

  function draw() {
    const asked = ofLab();
    card.hidden = asked === null;
    drawHeat(asked?.lane, asked && !room.isLooking() ? room.tally()?.heat ?? null : null);
    if (asked?.stage !== "open") stopMarking();
    if (asked === null) {
      drawn = "";
      return;
    }
    const told = { asked, tally: room.tally(), answer: room.answer(), lead: room.isPresenter() };
    const key = `${JSON.stringify(told)} ${isMade(asked)} ${page.language}`;
    if (key === drawn) return;
    drawn = key;
    if (asked.number !== number) appear(asked);
    const name = laneName(asked.lane, current(), say);
    setText($("room-question"), questionWords(asked.question, asked.change, name, say));
    drawAnswers(told);
    setText($("room-answered"), countWords(told));
    const lines = wordsOf(told);
    $("room-told").replaceChildren(...lines.map((textContent, at) =>
      Object.assign(document.createElement("p"), { textContent, className: at || !asked.told ? "s" : "verdict" }),
    ));
    drawActs(told);
  }

  function appear(asked) {
    ({ number } = asked);
    fold(false);
    standBeside(card, asked.lane);
  }

  function drawAnswers({ asked, tally, answer, lead }) {
    const { figure, answers } = asked.question;
    $("room-answers").replaceChildren(...answerBars({
      texts: answers.map((each) => answerWords(figure, each, say)), counts: tally?.counts ?? null,
      chosen: answer?.chosen ?? null, truth: asked.told?.truth ?? null, isFree: asked.stage === "open" && !lead,
    }));
  }

  function countWords({ tally }) {
    if (!tally) return "";
    const lines = [say("room.answered", tally), ...(tally.heat?.who ? [say("room.marked", tally.heat)] : [])];
    return lines.join(say("list.comma"));
  }

  function wordsOf({ asked, tally, answer, lead }) {
    const chosen = answer?.chosen ?? null, marks = answer?.marks ?? null;
    if (asked.told) {
      const { truth, value, rest_us: restUs, standing } = asked.told;
      const outcome = { rest_us: restUs, stopped: Array(standing) }, question = { ...asked.question, truth, value };
      const lines = truthWords({ question, chosen, outcome, atClock: clock(asked.at_us) }, say);
      const names = tally?.heat?.true;
      if (!marks || !names) return lines;
      return [...lines, marksWords({ kind: asked.marking.kind, marked: marks, truth: names }, say)];
    }
    if (asked.stage === "closed") return [say("room.closed")];
    if (lead) return [say(isMade(asked) ? "room.lead" : "room.lead_shown")];
    return [say(chosen === null && marks === null ? "room.choose" : "room.chosen")];
  }

  function drawActs({ asked, lead }) {
    const isOpen = asked.stage === "open", isTold = asked.stage === "told";
    const mayMark = isOpen && !lead && asked.marking !== null && marking.canMarkHere() && !room.isLooking();
    $("room-mark").hidden = !mayMark || pictureOf(asked.lane) === null;
    $("room-acts").hidden = !lead;
    $("room-bars").hidden = isTold;
    speak($("room-bars"), asked.bars_shown ? "room.bars_hide" : "room.bars_show");
    $("room-close").hidden = !isOpen;
    $("room-tell").hidden = isOpen || isTold;
    speak($("room-tell"), isMade(asked) ? "predict.make" : "room.tell");
  }

  // Of a moment of the past a change of one's own would be another branch's, and another's lab takes none: there the
  // truth alone is shown.
  const isMade = (asked) => asked.is_next || (page.owner && !past.isShown());

  // -- marking --------------------------------------------------------------------------------------------------------

  function mark() {
    const asked = room.asked();
    isMarking = true;
    marking.startForRoom({
      ...asked, marked: room.answer()?.marks ?? [], send: (marks, near) => act(near, () => room.give({ marks })),
      ended: () => { isMarking = false; },
    });
  }

  function stopMarking() {
    if (isMarking) marking.stop();
  }

  // -- pressing -------------------------------------------------------------------------------------------------------

  $("room-answers").addEventListener("click", ({ target }) => {
    const button = target.closest("[data-answer]");
    if (button) act(button, () => room.give({ chosen: Number(button.dataset.answer) }));
  });
  $("room-mark").addEventListener("click", mark);
  $("room-bars").addEventListener("click", ({ target }) =>
    act(target, () => room.set({ bars_shown: !room.asked().bars_shown })));
  $("room-close").addEventListener("click", ({ target }) => act(target, () => room.set({ stage: "closed" })));
  $("room-away").addEventListener("click", ({ target }) => act(target, () => room.putAway()));
  $("room-tell").addEventListener("click", async ({ target }) => {
    const asked = room.asked();
    // What was refused has not come true.
    if (isMade(asked) && !await (asked.is_next ? goNext() : make(target, asked))) return;
    await act(target, () => room.set({ stage: "told" }));
  });

  async function make(near, { change, lane }) {
    const isStopped = !current().playing, isDone = await send(near, { lane, ...orderOf(change) });
    if (isDone && isStopped) await send(near, { kind: "play", lane: "all" });
    return isDone;
  }

  onLanguage(draw);
  return { ask, draw, mayAsk: () => room.isPresenter(), isAsked: () => ofLab() !== null };
}
