// What a lab's branches are called, and where their lines leave the lab's own. The server says what each is to this lab
// and what was done in it; here it gets its letter.

const LETTERS = 26;

const letterOf = (place) => String.fromCharCode(65 + (place % LETTERS)).repeat(1 + Math.floor(place / LETTERS));

// rows: of the API. -> the same, each with the letter of a branch: those that left the first one in turn; a branch of a
// branch has that one's letter and its number. "" is the one that the others left.
export function lettered(rows) {
  const self = rows.find((row) => row.is === "self"), parent = rows.find((row) => row.is === "parent");
  const root = parent ?? (self.left_at_us === null ? self : null);
  const letters = new Map(root ? [[root.id, ""]] : []);
  let place = 0, child = 0;
  for (const row of rows) {
    const isFirstOrder = row !== root && (row.is !== "child" || root === self);
    if (isFirstOrder) letters.set(row.id, letterOf(place++));
  }
  for (const row of rows) if (!letters.has(row.id)) letters.set(row.id, `${letters.get(self.id)}${(child += 1)}`);
  return rows.map((row) => ({ ...row, letter: letters.get(row.id) }));
}

// What a new branch will be called.
export function nextLetter(rows) {
  const known = lettered(rows), self = known.find((row) => row.is === "self");
  if (self.letter === "") return letterOf(known.length - 1);
  return `${self.letter}${known.filter((row) => row.is === "child").length + 1}`;
}

// A branch that has the name of what it left is called by what was done in it.
export function labelOf(row, rows, language, say) {
  const root = rows.find(({ letter }) => letter === "");
  const own = root && row.name === root.name ? "" : row.name;
  const what = own || row.did?.[language] || say(row.letter === "" ? "branches.first" : "branches.unchanged");
  return row.letter ? say("branches.named", { letter: row.letter, what }) : what;
}

// The line of time of the lab on the page: where each of the others leaves it, and how far it has come.
export function linesOf(rows) {
  const self = rows.find((row) => row.is === "self");
  return rows.filter((row) => row !== self).map((row) => {
    const left = [row.is === "child" ? null : self.left_at_us, row.left_at_us].filter((at) => at !== null);
    return { id: row.id, letter: row.letter, left_at_us: Math.min(...left), at_us: row.at_us };
  });
}
