// A task of the room in words. Whether it is done is the server's to say.

import { number } from "../base/say.js";
import { laneName } from "../lane/name.js";
import { askedWords } from "../lesson/words.js";

const SECOND_US = 1e6, MORE = 1000;

// task: as a room's state has it. view: of a lab with the lanes that it speaks of.
export function taskWords({ goal, says, consumer, figure }, view, say) {
  if (says) return askedWords({ ...goal, says }, say);
  const lane = laneName(goal.lane, view, say), [[name, value]] = [...Object.entries(goal.asks), ["same"]];
  const asked = say(`task.asked.${name}`, { value: typeof value === "number" ? number(rounded(value)) : "" });
  const subject = consumer ? say("task.of_consumer", { lane, consumer }) : lane;
  const bare = say("task.said", { subject, figure: say(`task.figure.${figure}`), asked });
  const said = consumer ? say("task.connected", { said: bare, consumer }) : bare;
  return goal.for_us ? say("task.lasting", { said, seconds: goal.for_us / SECOND_US }) : said;
}

const rounded = (value) => Math.round(value * MORE) / MORE;

// progress: {done, names} -> who has done it: names, and how many without one; "" where nobody has.
export function doneWords({ done, names }, say) {
  const named = names.filter((name) => name !== ""), nameless = names.length - named.length;
  const parts = [
    ...named, ...(nameless ? [say("task.nameless", { count: nameless })] : []),
    ...(done > names.length ? [say("task.more", { count: done - names.length })] : []),
  ];
  return parts.join(say("list.comma"));
}
