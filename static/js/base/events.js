// What is said of a turning point, and how one is found by it.

import { speaker } from "./say.js";

// A partition without a leader has -1 for it, which is no broker.
export const codeOf = ({ kind, data }) => `event.${kind}${data?.leader === -1 ? "_none" : ""}`;

// The words for this kind of event; a kind without its own words is shown by its name.
export function what(event, say) {
  const code = codeOf(event), text = say(code, { ...event.inputs, ...event.data });
  return text === code ? event.kind : text;
}

// What is typed for a search: "first rebalance" asks for one event from that end. -> {end: first, last or null, words}
export function asked(text, words) {
  const typed = text.trim().toLowerCase();
  for (const end of ["first", "last"]) {
    const found = words[`events.word.${end}`].split(" ").find((word) => typed.startsWith(word));
    if (found) return { end, words: wordsIn(typed.slice(found.length)) };
  }
  return { end: null, words: wordsIn(typed) };
}

const wordsIn = (text) => text.split(/[\s,，、]+/).filter(Boolean).map(stem);

// "redelivery" is to find "redelivered", "rebalances" "rebalance".
const stem = (word) => (word.length > 5 ? word.replace(/(?:ies|ied|ing|ed|es|y|s)$/, "") : word);

// Which of the events have all the words, in what is said of them, their kind, lane and facts.
export function fits(events, typed, words) {
  const say = speaker(words);
  return events.map((event) => {
    const text = searched(event, say, words);
    return typed.every((word) => text.includes(word));
  });
}

// A fact that is nothing, such as 0 redelivered records, is not found by its name.
function searched(event, say, words) {
  const facts = Object.entries({ ...event.inputs, ...event.data }).filter(([, value]) => isSomething(value));
  const named = facts.map(([name, value]) => [
    words[`fact.${name}`] ?? name, typeof value === "object" ? "" : value,
  ].join(" "));
  const [model] = event.kind.split(".");
  return [what(event, say), event.kind, event.lane, words[`model.${model}`] ?? "", event.rule ?? "", ...named]
    .join(" ").toLowerCase();
}

const isSomething = (value) =>
  Boolean(value) && (typeof value !== "object" || Object.keys(value).length > 0);
