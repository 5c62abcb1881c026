// The two lines above every page of a lab: what happened, and what it means. All pages take them from here; a page may
// add what it alone knows, and the more important of the two is said. The server runs this file for the first frame.

import { sentences, speaker } from "../base/say.js";
import { caption, noticedBy, sub } from "../lane/caption.js";
import { listed } from "../lane/covers.js";
import { BROKEN, CHANGED, IDLE, WAITING } from "../lane/importance.js";
import { laneName } from "../lane/name.js";
import { overloadWords } from "../lane/overload.js";
import { isInFrames, isOnWay } from "../lesson/frames.js";
import { lessonCaption } from "../lesson/words.js";
import { markedSay, nounsOf, partsOf } from "./nouns.js";

const LONG_S = 4.5;
const SENTENCE_END = /^(.*?[.!?](?=\s)|.*?[。！？])\s*(.+)$/su, COLON = /^(.*?:(?=\s)|.*?：)\s*(.+)$/su;

// own(say): what the page knows of its lane, { rank, what, means? }, or null. lane: its id; without one the story is of
// all lanes. -> { what, means }, as parts of text: nouns.js has their form.
export function storyOf(view, say, { own = () => null, lane = null } = {}) {
  const nouns = nounsOf(view, say), spoken = markedSay(say, nouns), mine = own(spoken);
  const [what, means] = linesOf(view, spoken, mine, lane);
  return { what: partsOf(what, nouns), means: partsOf(means, nouns) };
}

// What the server says in the first frame of a page that adds nothing of its own.
export const firstStory = (view, words, lane) => storyOf(view, speaker(words), { lane });

function linesOf(view, say, mine, lane) {
  const told = lessonCaption(view, say);
  if (told) {
    const [, first, rest] = SENTENCE_END.exec(told) ?? COLON.exec(told) ?? [null, told, ""];
    if (isInFrames(view) && isOnWay(view)) return [first, onTheWay(view, say)];
    return [first, rest || (mine?.what ?? meaning(view, say, lane))];
  }
  const isStart = view.caption.code === "start", what = happened(view, say, lane), means = meaning(view, say, lane);
  const rank = silentOf(view, lane).length ? BROKEN : isStart ? IDLE : CHANGED;
  // what to press is said where it can be pressed
  if (!mine) return isStart && lane !== null ? [sub(view, say, false), overloads(view, say, lane)] : [what, means];
  const beside = isStart ? means : what;
  const rest = beside === mine.what ? sub(view, say, lane === null) : beside;
  if (mine.rank <= rank) return [mine.what, mine.means || rest];
  return [what, mine.rank === WAITING ? sentences([mine.what, mine.means].filter(Boolean)) : mine.what];
}

// What is run towards; of a way that is longer than the largest speed allows, how long it takes.
function onTheWay({ at_us: atUs, stop_us: stopUs, speed, lesson }, say) {
  const frame = lesson.captions.find(({ stop_us: each }) => each === stopUs), seconds = (stopUs - atUs) / speed / 1e6;
  const word = frame?.word?.[say("lesson.language")] ?? "", number = frame ? lesson.captions.indexOf(frame) + 1 : 0;
  const told = !frame ? say("lesson.way_to_end") : say(word ? "lesson.way_named" : "lesson.way", { number, word });
  return seconds > LONG_S ? sentences([told, say("lesson.long_way", { seconds: Math.ceil(seconds), speed })]) : told;
}

// What was done last; but a crash that is still unnoticed somewhere comes before a change after it.
function happened(view, say, lane) {
  const silent = silentOf(view, lane), { code, params } = view.caption;
  if (silent.length && !(code === "crash" && silent.includes(params.consumer))) {
    return say("story.silent", { who: listed(silent, say), count: silent.length });
  }
  return caption(view, say);
}

// What waits comes before what flows.
function meaning(view, say, lane) {
  const silent = silentOf(view, lane), { code } = view.caption;
  if (silent.length && code !== "crash") return noticedBy(view, say, silent[silent.length - 1], lane);
  return (code === "crash" ? "" : overloads(view, say, lane)) || sub(view, say, lane === null);
}

// "6 records/s more come in than three consumers handle", with the lanes where that is so, unless it is in all.
function overloads(view, say, lane) {
  const lanes = lane === null ? view.lane_order : [lane], where = new Map();
  for (const id of lanes) {
    const words = overloadWords(view.lanes[id], view.workload.rate, say);
    if (words) where.set(words, [...(where.get(words) ?? []), laneName(id, view, say)]);
  }
  const [first] = [...where].sort(([, one], [, other]) => other.length - one.length);
  if (!first) return "";
  const [words, names] = first;
  return names.length === lanes.length ? words : say("list.named", { name: listed(names, say), what: words });
}

// Consumers that are silent and not noticed yet in some lane, in turn.
function silentOf(view, lane) {
  const lanes = lane === null ? view.lane_order : [lane], names = [];
  for (const id of lanes) {
    const { order, consumers } = view.lanes[id];
    for (const name of order) if (consumers[name].state === "crashed" && !names.includes(name)) names.push(name);
  }
  return names;
}

