// Says a lane's new sentence to people who listen instead of looking: politely, once per change, never more than every
// few seconds. A countdown inside a sentence is not a change.

import { sentences } from "../base/say.js";

const PAUSE_MS = 4000;

// write(text): puts it where a screen reader hears it.
export function createAnnouncer(
  write,
  say,
  { now = () => performance.now(), after = setTimeout, pauseMs = PAUSE_MS } = {},
) {
  const keys = new Map(), waiting = new Map(); // lane -> what it last told of; lane -> the words to say
  let said = -Infinity, isDue = false;

  function flush() {
    isDue = false;
    said = now();
    write(sentences([...waiting].map(([name, what]) => say("list.named", { name, what }))));
    waiting.clear();
  }

  // key: changes when the sentence is about something else. What was there when the page opened is not news.
  return function note(lane, name, sentence, key) {
    const known = keys.get(lane);
    keys.set(lane, key);
    if (waiting.has(name)) waiting.set(name, sentence);
    if (known === undefined || known === key) return;
    waiting.set(name, sentence);
    if (isDue) return;
    isDue = true;
    // a moment, so that lanes that change together are heard together
    after(flush, Math.max(250, said + pauseMs - now()));
  };
}
