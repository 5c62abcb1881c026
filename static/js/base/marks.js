// What is said of the marks of a lab's timeline: orders in the few words of a tick, and what the system did as its
// turning point is said.

import { what } from "./events.js";
import { speaker, tickCode } from "./say.js";

export function captions(marks, words) {
  const say = speaker(words);
  return marks.map((mark) => (mark.event ? what(mark.event, say) : say(tickCode(mark), mark)));
}
