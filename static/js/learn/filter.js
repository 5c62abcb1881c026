// Which lessons a search and a level leave.

// Every word must be there, anywhere in what is searched.
export function wordsOf(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

export const matches = ({ searched, level }, words, wanted) =>
  (wanted === "" || level === wanted) && words.every((word) => searched.includes(word));
