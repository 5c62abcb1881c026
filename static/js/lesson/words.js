// A lesson in words: its caption, and what its panel shows. The server runs this file, too. Whether a check holds is
// the lab's to say.

import { NONE, clock, number, speaker } from "../base/say.js";
import { laneName } from "../lane/name.js";

const DECIMALS = 1000;
const STATES = new Set(["slow", "paused", "crashed", "waiting", "failed", "gone"]);
const STATE_OF_ONE = /^consumers\.[^.]+\.state$/;
const languageOf = (say) => say("lesson.language");
const shortClock = (us) => clock(us).replace(/\.0$/, "");

// The lesson's caption, before the first one its title; empty where it has no lesson, or where somebody gave an order
// of their own after it. A later caption stands as what the lesson planned: the picture may differ.
export function lessonCaption(view, say) {
  const { lesson } = view;
  if (!lesson) return "";
  const { at_us: at, text } = lesson.captions[lesson.caption] ?? { at_us: 0, text: lesson.title };
  const caption = text[languageOf(say)];
  if (lesson.meddled_us === null) return caption;
  return lesson.meddled_us >= at ? "" : say("lesson.planned", { caption });
}

export function lessonOf(view, say) {
  const { lesson } = view;
  if (!lesson) return null;
  const own = (text) => text[languageOf(say)], isOver = view.at_us >= lesson.lasts_us;
  const isOneOfSeveral = new Set(lesson.checks.map(({ lane }) => lane)).size > 1;
  const checks = lesson.checks.map((check, place) =>
    checkOf(check, lesson.results[place], isOneOfSeveral ? view : null, say),
  );
  const known = checks.filter(({ state }) => state !== "not_yet");
  const held = known.filter(({ state }) => state === "holds").length;
  return {
    name: lesson.title.en,
    frame: lesson.caption + 1,
    frames: lesson.captions.length,
    is_over: isOver,
    label: say("lesson.checks_label", { held, known: known.length, total: checks.length }),
    slots: {
      progress: isOver
        ? say("lesson.over")
        : say("lesson.progress", {
            now: shortClock(view.at_us - (view.at_us % 1e6)), end: shortClock(lesson.lasts_us),
          }),
      sum: say("lesson.sum", { held, total: checks.length }),
      note: lesson.meddled_us === null ? "" : say("lesson.meddled", { time: shortClock(lesson.meddled_us) }),
      told: known.length ? toldOf(newest(lesson, checks), say) : "",
    },
    checks,
  };
}

// What the panel of a lesson says on a page of one lane, whose own title says what the lane does.
export function lessonPanel(view, words) {
  const say = speaker(words), lesson = lessonOf(view, say);
  return (
    lesson && {
      ...lesson, slots: { ...lesson.slots, caption: lessonCaption(view, say) },
    }
  );
}

// view: where the checks ask more than one lane, so that each names its own, else null.
function checkOf(check, result, view, say) {
  const asked = say("check.asked", { time: shortClock(check.at_us), asked: asksOf(check, say) });
  const state = result ? (result.holds ? "holds" : "fails") : "not_yet";
  return {
    state,
    word: say(`check.${state}`),
    figure: !result ? NONE : result.missing ? say("check.missing") : wordOf(check, result.came, say),
    text: besideFigure(check.says[languageOf(say)]),
    about: check.lane in (view?.lanes ?? {}) ? `${laneName(check.lane, view, say)} · ${asked}` : asked,
    number: `${check.lane} ${check.number}`.trim(),
  };
}

// What goes on behind the figure: after a blank, but not where it begins with a full-width sign.
const besideFigure = (text) => (/^[\u3000-\u303f\uff00-\uffef]/.test(text) ? text : ` ${text}`);

const toldOf = ({ word, figure, text }, say) => say("check.told", { word, figure, text });

// The check that was answered last.
function newest(lesson, checks) {
  const places = Object.keys(lesson.results).map(Number);
  return checks[
    places.reduce((best, place) => (lesson.checks[place].at_us >= lesson.checks[best].at_us ? place : best), places[0])
  ];
}

// As dashboard/lesson_words.py writes it.
function valueOf(value, say) {
  if (value === null || value === "nothing") return say("check.nothing");
  return typeof value === "number" ? number(Math.round(value * DECIMALS) / DECIMALS) : String(value);
}

// The state of a consumer has the word that its row has; any other value is as the file writes it.
const wordOf = ({ number: path }, value, say) =>
  (STATES.has(value) && STATE_OF_ONE.test(path) ? say(`check.state.${value}`) : valueOf(value, say));

// What a check asks for, as a task: "at most 1 messages wait".
export const askedWords = (check, say) => `${asksOf(check, say)}${besideFigure(check.says[languageOf(say)])}`;

function asksOf(check, say) {
  return Object.entries(check.asks).map(([name, value]) => say(`check.${name}`, { value: wordOf(check, value, say) }))
    .reduce((first, second) => say("check.both", { first, second }));
}
