// How words and figures are written: the browser's half of dashboard/formats.py. Words come from the page's catalogue
// by code.

export const NONE = "–";
export const NARROW = "\u202f";
// The decimal point and what parts the thousands, as Plotly takes them.
export const SEPARATORS = `.${NARROW}`;
const PLACE = /\{(\w+)(?:\?([^|}{]*)\|((?:[^{}]|\{\w+\})*))?\}/g;

export function number(value) {
  const [whole, rest] = String(value).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, NARROW);
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

export function halfUp(value, digits = 0) {
  const scale = 10 ** digits;
  return (Math.floor(value * scale + 0.5) / scale).toFixed(digits);
}

export const figure = (value, digits) => (value === null || value === undefined ? NONE : halfUp(value, digits));

// So many a second in a sentence: 36, 6.5. In a column all have a digit after the point, so that they stand in line.
export const rateText = (value) => halfUp(value, 1).replace(/\.0$/, "");

// A ratio in four places at most, so that two of them fit into a lane: 1.28, 13.0, 130.
export const ratio = (value) => figure(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);

export const percent = (share, digits = 0) =>
  share === null || share === undefined ? NONE : `${halfUp(share * 100, digits)}${NARROW}%`;

export function seconds(us, words) {
  if (us === null || us === undefined) return NONE;
  const value = us / 1e6;
  if (us > 0 && us < 99_500) return `${Math.max(1, Math.floor(us / 1000 + 0.5))}${NARROW}${words.millisecond}`;
  if (value < 9.95) return `${halfUp(value, us % 1e6 === 0 ? 0 : 1)}${NARROW}${words.second}`;
  if (value < 119.5) return `${halfUp(value)}${NARROW}${words.second}`;
  return `${halfUp(value / 60)}${NARROW}${words.minute}`;
}

// Virtual time. What happened while a lab was set up, before its clock began, has a negative time and is shown at the
// beginning.
export function clock(us) {
  const tenths = Math.max(0, Math.floor(us / 100_000)), rest = tenths % 600, minutes = Math.floor(tenths / 600) % 60;
  const hours = Math.floor(tenths / 36_000);
  const tail = `${String(Math.floor(rest / 10)).padStart(2, "0")}.${rest % 10}`;
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

// The same to the millisecond.
export const clockMs = (us) => `${clock(us)}${String(Math.floor(Math.max(0, us) / 1000) % 100).padStart(2, "0")}`;

export function fill(text, params, words) {
  if (!text.includes("{")) return text;
  return text.replace(PLACE, (_, name, one, many) => {
    const value = params[name];
    if (many !== undefined) return fill(value === 1 ? one : many, params, words);
    if (value === null || value === undefined) return "";
    if (name.endsWith("_us")) return seconds(value, words);
    return typeof value === "number" ? number(value) : String(value);
  });
}

// Names as a person counts them: c2 before c10. (The server's engine knows no numeric localeCompare.)
const countOf = (name) => Number(/\d*$/.exec(name)[0]);
export const inTurn = (names) => [...new Set(names)].sort((a, b) => countOf(a) - countOf(b) || (a < b ? -1 : 1));

// Sentences one after the other: in Chinese nothing stands between a full stop and what follows.
export const sentences = (list) => list.join(" ").replaceAll(/([。！？）]) /g, "$1");

export const speaker = (words) => (code, params = {}) => fill(words[code] ?? code, params, words);

// The timeline's few words for an order: several who join are counted, and a resume that ends no pause is said as what
// it is.
export const tickCode = ({ kind, count, full_speed: isFullSpeed }) =>
  `tick.${isFullSpeed ? "full_speed" : kind}${kind === "join" && count > 1 ? "_many" : ""}`;
