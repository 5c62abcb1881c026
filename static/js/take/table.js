// A table as CSV: figures as numbers, and nothing that a spreadsheet would run. As dashboard/studies/downloads.py does
// it for a study's tables.

import { NARROW, NONE } from "../base/say.js";

const FORMULA = /^[=+\-@\t\r\n]/;
const NUMBER = new RegExp(`^[-−+]?\\d+(?:[${NARROW}\u00a0]\\d{3})*(?:\\.\\d+)?$`);
const PERCENT = new RegExp(`[${NARROW}\u00a0 ]?%$`);

const plain = (text) => text.replace(new RegExp(`[${NARROW}\u00a0]`, "g"), "").replace("−", "-").replace(/^\+/, "");

// What a cell shows -> what the file says. A dash, which stands for no value, is an empty cell.
export function valueOf(shown) {
  const text = shown.replace(/[ \n]+/g, " ").replace(/^ | $/g, "");
  if (text === NONE) return "";
  if (NUMBER.test(text)) return plain(text);
  const share = text.replace(PERCENT, "");
  if (share !== text && NUMBER.test(share)) return `${plain(share)}%`;
  return FORMULA.test(text) ? `'${text}` : text.replaceAll(NARROW, " ");
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// rows: [[what each cell shows]]. The mark in front tells a spreadsheet that this is UTF-8.
export const csvOf = (rows) =>
  `\ufeff${rows.map((row) => row.map((shown) => quoted(valueOf(shown))).join(",")).join("\r\n")}\r\n`;

export const rowsOf = (table) =>
  [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)).filter((row) => row.length);
