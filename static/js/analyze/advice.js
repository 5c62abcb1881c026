// What a study's result says before any ranking, in words: the browser's half of dashboard/studies/advice.py, line by
// line.

import { figure, percent, speaker } from "../base/say.js";

const HOT_NAMED = 3, KEY_MAX = 32;

// The sentences of a feasibility, in order.
export const feasibleWords = ({ said }, words) => said.map(({ code, params }) => sentence(code, params, words));

function sentence(code, params, words) {
  const written = { ...params };
  if ("hot" in params) written.hot = hotWords(params.hot, words);
  for (const name of ["share", "even"]) if (name in params) written[name] = percent(params[name]);
  for (const name of ["skew", "of_use", "brings"]) if (name in params) written[name] = figure(params[name], 1);
  return speaker(words)(`feasible.${code}`, written);
}

// The hot keys with their shares; after the first few, how many more.
function hotWords(keys, words) {
  const say = speaker(words);
  const named = keys
    .slice(0, HOT_NAMED)
    .map(({ key, share }) => say("feasible.key", { key: quoted(key), share: percent(share) }));
  const more = keys.length - named.length;
  return [...named, ...(more ? [say("feasible.more", { count: more })] : [])].join(say("list.comma"));
}

// A key as a sentence can have it: its beginning, in quotation marks.
function quoted(key) {
  const letters = [...key];
  return `“${letters.length <= KEY_MAX ? key : `${letters.slice(0, KEY_MAX).join("")}…`}”`;
}
