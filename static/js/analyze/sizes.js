// Bytes as a person reads them: units of 1000 as on a disk's label, one digit below ten.

import { halfUp } from "../base/say.js";

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytes(count) {
  let value = count, unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${halfUp(value, unit > 0 && value < 9.95 ? 1 : 0)}\u202f${UNITS[unit]}`;
}
