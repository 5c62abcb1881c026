// What a file that is taken away is called: the lab, the panel and the moment.

const part = (text) => text.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 60);

// "1:02:14.3" -> "1h02m14.3s": a colon has no place in the name of a file.
export function momentPart(clock) {
  const parts = clock.split(":"), units = ["s", "m", "h"];
  return parts.map((figure, place) => figure + units[parts.length - 1 - place]).join("");
}

// clock: of the moment, null where there is none.
export const fileName = ({ lab, clock }, panel, ending) =>
  `${[lab, panel].map(part).concat(clock === null ? [] : momentPart(clock)).filter(Boolean).join("_")}.${ending}`;
