// What a lane says: the crashes that nothing has noticed yet, then what happened last.

import { sentences } from "../base/say.js";
import { listed, rebalanceFor } from "./covers.js";

const NAMED_MAX = 3;

// Whether all that the tally calls dark is the start's, for which "nothing has changed" alone would be no explanation.
const isDarkSinceStart = (lane) => lane.tally?.dark_us > 0;

// A lane has two lines for its sentence; a Chinese character is as wide as two letters.
const WIDTH_MAX = 88;
const widthOf = (text) => [...text].reduce((width, letter) => width + (letter > "\u2e80" ? 2 : 1), 0);

// What happened last in a lane, in words; before it, where there is room, the crashes that still go on, unless it is
// about them. (The line of figures counts them in any case.)
export function sentence(lane, view, say) {
  const silent = silentWords(lane, say), last = lastChange(lane, view, say);
  const both = sentences([silent, last]);
  return silent && widthOf(both) <= WIDTH_MAX ? both : last;
}

// What happened last, alone: for a page whose head names who is silent.
export function lastChange(lane, view, say) {
  const params = { ...lane.sentence.params };
  if ("deadline_us" in params) params.left_us = timeLeft(params.deadline_us, view.at_us);
  if ("algorithm" in params) params.algorithm = say(`${lane.model}.${params.algorithm}`);
  if ("members" in params) params.who = rebalanceFor(lane, say) || params.consumer;
  // else it is Python's own sentence
  if (params.limit) params.reason = say(`assignor.reason.${params.limit}`, params);
  if (lane.sentence.code === "none" && isDarkSinceStart(lane)) return say("none_dark", { dark_us: lane.tally.dark_us });
  return say(lane.sentence.code, params);
}

// "": none is silent but whom the lane's own sentence names.
function silentWords({ order, consumers, sentence: { code, params } }, say) {
  const named = /crash_(?!noticed)/.test(code) ? params.consumer : params.silent;
  const silent = order.filter((name) => consumers[name].state === "crashed" && name !== named), count = silent.length;
  if (!count) return "";
  return say("silent", { count, who: count > NAMED_MAX ? say("silent.consumers", { count }) : listed(silent, say) });
}

// Whole seconds, rounded up: it must not say 0 s while the broker still waits.
export const timeLeft = (deadline, at) =>
  deadline === null ? null : Math.max(0, Math.ceil((deadline - at) / 1e6)) * 1e6;
