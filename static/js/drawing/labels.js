// How wide words are, and how they break into lines.

const LETTER = 8, WIDE = 14;     // px of the picture's 13 px letters

export const widthOf = (text) =>
  [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) >= 0x2e80 ? WIDE : LETTER), 0);

const SANS = 0.87;                                       // of the width of the letters above

// A text in lines that are no wider than `room` px of the page's own letters; a word that is wider stays whole, and so
// does a number with its narrow spaces. Chinese breaks between two signs.
export function wrapped(text, room) {
  const lines = [];
  for (const word of text.match(/(?:[\u2e80-\uffef]|(?:[^\s\u2e80-\uffef]|\u202f)+)[^\S\u202f]*/g) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf((last + word).trimEnd()) * SANS <= room) lines[lines.length - 1] = last + word;
    else lines.push(word);
  }
  return lines.map((line) => line.trimEnd());
}
