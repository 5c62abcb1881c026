// Which of many entries a few letters mean: every word that is typed has to be in the entry, as a part of it or as
// letters in their order.

const START = 4, INSIDE = 3, APART = 1, SPREAD = 2;
const isLetter = (text, place) => /[\p{L}\p{N}]/u.test(text[place] ?? "");

// How well one typed word fits a text; 0: not at all. A word's start before its inside, that before letters apart,
// which may be spread over twice their number.
export function fit(text, word) {
  for (let at = text.indexOf(word), isFound = false; ; at = text.indexOf(word, at + 1)) {
    if (at < 0) {
      if (isFound) return INSIDE;
      break;
    }
    if (!isLetter(text, at - 1)) return START + (at === 0 ? 1 : 0);
    isFound = true;
  }
  let best = 0;
  for (let from = text.indexOf(word[0]); from >= 0; from = text.indexOf(word[0], from + 1)) {
    const span = spanOf(text, word, from);
    if (span && span <= word.length * SPREAD) best = Math.max(best, (APART * word.length) / span);
  }
  return best;
}

function spanOf(text, word, from) {
  let at = from;
  for (const letter of word.slice(1)) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return 0;
  }
  return at - from + 1;
}

// entries: [{text, more?, also?}], more being what stands beside the text, also what is searched and not shown.
// -> those that fit, the best first; as they came where nothing is typed, and where two fit alike.
export function find(entries, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return entries
    .map((entry, place) => ({ entry, place, score: scoreOf(entry, words) }))
    .filter(({ score }) => score !== null)
    .sort((one, other) => other.score - one.score || one.place - other.place)
    .map(({ entry }) => entry);
}

function scoreOf({ text, more = "", also = "" }, words) {
  let sum = 0;
  for (const word of words) {
    const [own, beside, unseen] = [text, more, also].map((part) => fit(part.toLowerCase(), word));
    const best = Math.max(2 * own, beside, unseen);
    if (!best) return null;
    sum += best;
  }
  return sum;
}
