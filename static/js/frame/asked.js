// A change that is asked about, in words: what may change, the question with its answers and the truth, and who has a
// key before and after it. Question and truth are the server's (broker_core/lab/{trial,question}.py).

import { inTurn, speaker } from "../base/say.js";
import { laneName } from "../lane/name.js";
import { judged } from "./marks.js";

const HERE = new Set(["live", "slow", "paused", "waiting"]);

// The changes that can be asked about in a lane, or in all: [{ kind, consumer }].
export function changesOf(view, lane = null) {
  const lanes = lane ? [lane] : view.lane_order, names = new Set();
  for (const id of lanes) {
    for (const { name, state } of Object.values(view.lanes[id].consumers)) if (HERE.has(state)) names.add(name);
  }
  const here = inTurn([...names]);
  return [
    { kind: "join", consumer: null }, ...here.map((consumer) => ({ kind: "leave", consumer })),
    ...here.map((consumer) => ({ kind: "crash", consumer })),
  ];
}

export const changeId = ({ kind, consumer }) => (consumer ? `${kind} ${consumer}` : kind);

export const changeWords = ({ kind, consumer }, say) => say(`change.${kind}`, { consumer });

export const orderOf = ({ kind, consumer }) =>
  kind === "join" ? { kind, args: { count: 1 } } : { kind, consumer };

// The first word of a sentence is large where the language has large letters.
const begun = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const questionWords = ({ figure, total }, change, lane, say) =>
  say(`predict.${figure}`, { change: begun(changeWords(change, say)), total, lane });

// from, to: of one answer; to: null where it has no end.
export function answerWords(figure, { from, to }, say) {
  if (figure === "pause_us") {
    if (to === null) return say("predict.over", { low_us: from });
    return from ? say("predict.times", { low_us: from, high_us: to }) : say("predict.under", { high_us: to });
  }
  if (from === 0 && to === 0) return say("predict.none");
  if (figure === "keys_moved") {
    return from === 100 ? say("predict.all") : say("predict.percent", { low: from, high: to });
  }
  if (to === null) return say("predict.more_counts", { low: from });
  return from === to ? say("predict.count", { low: from }) : say("predict.counts", { low: from, high: to });
}

// A question as it is printed: { text, answers [text], truth }. asked: {lane, model, change, question}; lanes: what the
// lesson calls its lanes.
export function printed({ lane, model, change, question }, lanes, words) {
  const say = speaker(words), view = { lanes: { [lane]: { model } }, lesson: { lanes } };
  return {
    text: questionWords(question, change, laneName(lane, view, say), say),
    answers: question.answers.map((answer) => answerWords(question.figure, answer, say)),
    truth: truth(question, say),
  };
}

const truth = ({ figure, value, total }, say) => say(`predict.truth.${figure}`, { value, total, value_us: value });

// What it came to: [the verdict, how it was found out, what has no reader], the last one only where something has none.
// chosen: null of who has not answered.
export function truthWords({ question, chosen, outcome, atClock }, say) {
  const code = chosen === null ? "predict.told" : chosen === question.truth ? "predict.right" : "predict.wrong";
  const verdict = say(code, { truth: truth(question, say) });
  const rest = outcome.rest_us === null
    ? say("predict.restless", { clock: atClock })
    : say("predict.rested", { clock: atClock, rest_us: outcome.rest_us });
  const standing = outcome.stopped.length;
  return [verdict, rest, ...(standing ? [say("predict.standing", { count: standing })] : [])];
}

// What was marked against what the change comes to.
export function marksWords({ kind, marked, truth: names }, say) {
  const { right, missed, wrong } = judged(kind, marked, names);
  const counts = { right: right.length, missed: missed.length, wrong: wrong.length, all: names.length };
  return say(names.length ? `marking.told.${kind}` : `marking.none.${kind}`, counts);
}

// Who has a key in one lane: of its part of the answer.
export function whoWords({ key: { now, after }, outcome }, say) {
  if (now === null) return say("who.no_owner");
  const first = say("who.now", { to: placeWords(now, say) });
  if (outcome === null || after === null) return first;
  const isSame = now.consumer === after.consumer && now.unit === after.unit && now.waits === after.waits;
  const then = isSame ? say("who.same") : say("who.after", { to: placeWords(after, say) });
  return [first, then].join(say("list.comma"));
}

function placeWords({ consumer, unit, waits }, say) {
  if (!consumer) return unit === null ? say("who.nobody") : say("who.nobody_partition", { unit });
  const name = unit === null ? consumer : say("who.partition", { consumer, unit });
  return waits ? say("who.waits", { consumer: name }) : name;
}
