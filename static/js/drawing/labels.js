// Words beside a mark, where nothing else is: right of it, left of it, else a line higher or lower. Who finds no place
// is not written: the mark is there all the same.

const LETTER = 8, WIDE = 14, LINE = 17, ASCENT = 12, DESCENT = 4, BESIDE = 9;     // px of the picture's 13 px letters

export const widthOf = (text) =>
  [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) >= 0x2e80 ? WIDE : LETTER), 0);

// taken: rectangles [left, top, right, bottom] that are in use. bounds: within which words stand.
// -> place(x, y, text): {x, y, isEnd} of the words of a mark at x, y, now taken too; null: there is no room.
// place.claim(rectangle): whether it was free.
export function createLabels(taken, bounds) {
  const used = [...taken];
  const isFree = ([left, top, right, bottom]) =>
    left >= bounds[0] &&
    top >= bounds[1] &&
    right <= bounds[2] &&
    bottom <= bounds[3] &&
    used.every((other) => right <= other[0] || left >= other[2] || bottom <= other[1] || top >= other[3]);
  function place(x, y, text) {
    const width = widthOf(text);
    for (const down of [0, -LINE, LINE, -2 * LINE, 2 * LINE]) {
      for (const isEnd of [false, true]) {
        const at = x + (isEnd ? -BESIDE : BESIDE), baseline = y + 4 + down, left = isEnd ? at - width : at;
        const box = [left, baseline - ASCENT, left + width, baseline + DESCENT];
        if (!isFree(box)) continue;
        used.push(box);
        return { x: at, y: baseline, isEnd };
      }
    }
    return null;
  }
  // Takes this rectangle; false: something is there.
  place.claim = (box) => {
    const isOwn = isFree(box);
    if (isOwn) used.push(box);
    return isOwn;
  };
  return place;
}

const SANS = 0.87;                                       // of the width of the letters above

// A text in lines that are no wider than `room` px of the page's own letters; a word that is wider stays whole. Chinese
// breaks between two signs.
export function wrapped(text, room) {
  const lines = [];
  for (const word of text.match(/(?:[\u2e80-\uffef]|[^\s\u2e80-\uffef]+)\s*/g) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf((last + word).trimEnd()) * SANS <= room) lines[lines.length - 1] = last + word;
    else lines.push(word);
  }
  return lines.map((line) => line.trimEnd());
}
