// A text from the data as a page shows it: a line break or another control character would tear its row apart, or hide.

export const visible = (text) => [...text].map(visibleLetter).join("");

export const visibleLetter = (letter) =>
  letter < " " || letter === "\u007f" ? `\\x${letter.codePointAt(0).toString(16).padStart(2, "0")}` : letter;
