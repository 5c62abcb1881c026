// The question of a slide, asked in a room: those who follow answer on the slide itself, the presenter sees how many
// have, and leads. Opening the answer tells it to all.
//
//   Ask the room ─► open ─► closed ─► the slide's answer is opened ─► told

import { createAct } from "../base/act.js";
import { onLanguage, page, say, speak } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { answerBars } from "../frame/answer_bars.js";

// slides: the elements. room: as createRoom gives it. notice(text, {near}). changed(): a slide is higher, or lower.
export function createSlideAsk({ slides, room, notice, changed }) {
  const act = createAct(notice);
  const boxes = slides.flatMap((slide, at) =>
    [...slide.querySelectorAll(".question")].map((element, place) => boxOf(element, at + 1, place + 1)));

  function boxOf(element, slide, question) {
    const part = (name) => element.querySelector(`[data-part=${name}]`);
    const texts = [...element.querySelectorAll(".answers li")].map((item) => {
      const [letter, answer] = item.children;
      return { letter: letter.textContent, answer: answer.textContent };
    });
    return {
      element, slide, question, texts, drawn: "", truth: element.querySelector("details.truth"),
      list: element.querySelector("ul.answers"), ask: part("ask"), asked: part("asked"), group: part("answers"),
      told: part("told"), count: part("count"), acts: part("acts"), bars: part("bars"), close: part("close"),
      away: part("away"),
    };
  }

  const isOf = ({ slide, question }, asked) =>
    asked?.slide?.lecture === page.shows.lecture && asked.slide.slide === slide && asked.slide.question === question;
  const here = (box) => (isOf(box, room.asked()) ? room.asked() : null);

  function draw() {
    const lead = room.isPresenter();
    for (const box of boxes) {
      const asked = here(box), given = asked && [room.tally(), room.answer()];
      const key = JSON.stringify([lead, asked, given, page.language]);
      if (key === box.drawn) continue;
      box.drawn = key;
      drawBox(box, asked, lead);
      changed();
    }
  }

  function drawBox(box, asked, lead) {
    const isNew = asked !== null && box.asked.hidden;
    box.ask.hidden = !lead || asked !== null;
    box.asked.hidden = asked === null;
    box.list.hidden = asked !== null;
    box.truth.hidden = asked !== null && asked.stage !== "told" && !lead;
    if (asked === null) return;
    const tally = room.tally(), chosen = room.answer()?.chosen ?? null, truth = asked.told?.truth ?? null;
    box.group.replaceChildren(...answerBars({
      texts: box.texts.map(({ letter, answer }) => `${letter} ${answer}`), counts: tally?.counts ?? null, chosen, truth,
      isFree: asked.stage === "open" && !lead,
    }));
    setText(box.told, lead ? "" : wordsOf(asked, chosen, box));
    setText(box.count, tally ? say("room.answered", tally) : "");
    box.acts.hidden = !lead;
    box.bars.hidden = asked.stage === "told";
    box.close.hidden = asked.stage !== "open";
    speak(box.bars, asked.bars_shown ? "room.bars_hide" : "room.bars_show");
    // On a phone it may be below what is seen.
    if (isNew && !lead) box.element.scrollIntoView({ block: "nearest" });
  }

  function wordsOf({ stage, told }, chosen, { texts }) {
    if (stage === "open") return say(chosen === null ? "room.choose" : "room.chosen");
    if (stage === "closed") return say("room.closed");
    const code = chosen === null ? "predict.told" : chosen === told.truth ? "predict.right" : "predict.wrong";
    return say(code, { truth: texts[told.truth].letter });
  }

  for (const box of boxes) {
    const { slide, question } = box, on = (part, doing) => part.addEventListener("click", () => act(part, doing));
    on(box.ask, () => room.ask({ slide, question }));
    on(box.bars, () => room.set({ bars_shown: !room.asked().bars_shown }));
    on(box.close, () => room.set({ stage: "closed" }));
    on(box.away, () => room.putAway());
    box.group.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-answer]");
      if (button) act(button, () => room.give({ chosen: Number(button.dataset.answer) }));
    });
    box.truth.addEventListener("toggle", () => {
      const asked = here(box);
      if (box.truth.open && asked && asked.stage !== "told" && room.isPresenter()) {
        act(box.truth, () => room.set({ stage: "told" }));
      }
    });
  }
  onLanguage(draw);
  return { draw };
}
