// The code with which a page of another site shows a page of this one, as dashboard/frame.py writes it, too.

export const LEAST = 200, MOST = 4000;
const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ESCAPED[sign]);

// -> a whole number of pixels; null where the text is none that a frame can have.
export function pixels(text) {
  const number = /^\d{1,5}$/.test(text.trim()) ? Number(text.trim()) : 0;
  return number >= LEAST && number <= MOST ? number : null;
}

// base: with the site before it. asked: {lang?, theme?, frame?} as texts, "" for none. hash: "" or a moment's.
export function addressOf(base, asked, hash = "") {
  const address = new URL(base);
  for (const [name, value] of Object.entries(asked)) {
    if (value) address.searchParams.set(name, value);
  }
  address.hash = hash;
  return address.href;
}

export const codeOf = ({ address, title, width, height }) =>
  `<iframe src="${escaped(address)}" title="${escaped(title)}" width="${width}" height="${height}"`
  + ` style="border:0" loading="lazy" allowfullscreen></iframe>`;

