// Which place an address asks for, what the server took of it, and which answers say that it is not there.

import { Refusal } from "../base/commands.js";

const PARTS = ["broker", "topic", "partition"];
const NOWHERE = { broker: null, topic: null, partition: null };
const textOf = (value) => (value === null || value === undefined ? null : String(value));

// The server has checked the address: where it took another place than was asked for, its own counts. A part that the
// address leaves out stays out, but for the broker, which the server may have chosen.
export function placeOf(answer, asked) {
  if (answer.kind !== "lab") return { ...NOWHERE };
  const parts = PARTS.map((part) => [part, part === "broker" || asked.has(part) ? textOf(answer[part]) : null]);
  return Object.fromEntries(parts);
}

// What the address asks for and the server did not take, as `placeWords`.
export function notTaken(answer, asked) {
  if (answer.kind !== "lab") return "";
  const isOther = (part) => asked.has(part) && !isSame(asked.get(part), textOf(answer[part]));
  return placeWords(Object.fromEntries(PARTS.map((part) => [part, isOther(part) ? asked.get(part) : null])));
}

// A place as an address writes it; "" of none.
export const placeWords = (place) =>
  PARTS.filter((part) => place[part] !== null)
    .map((part) => `${part}=${place[part]}`)
    .join("&");

const isSame = (asked, taken) => asked === taken || (/^\d+$/.test(asked) && Number(asked) === Number(taken ?? NaN));

// The server says that what was asked for cannot be, or is not there: asking again would get the same answer.
export const isFinal = (error) => error instanceof Refusal && (error.status === 400 || error.status === 404);
