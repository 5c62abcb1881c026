// Where a picture on a slide is, as a text of the room: "9100000", "9100000-9300000@0.5" on a way, "now".

export function placeText({ at_us: atUs, to_us: toUs, speed }) {
  if (atUs === null) return "now";
  return toUs === null ? String(atUs) : `${atUs}-${toUs}@${speed}`;
}

// Whether a text is the address of a page that may stand on a slide.
const PAGE = /^\/embed\/(?:lab|learn)\/[\w/-]+\?(?:[\w.~%+-]+=[\w.~%+-]*&)*picture=1$/;
export const isPicturePage = (text) => PAGE.test(text ?? "");

// -> a place; null of a text that is none.
export function placeOf(text) {
  if (text === "now") return { at_us: null, to_us: null, speed: null };
  const found = /^(\d{1,15})(?:-(\d{1,15})@(\d{1,4}(?:\.\d{1,3})?))?$/.exec(text);
  if (!found) return null;
  const [, at, to, speed] = found;
  return to === undefined
    ? { at_us: Number(at), to_us: null, speed: null } : { at_us: Number(at), to_us: Number(to), speed: Number(speed) };
}
