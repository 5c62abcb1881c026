// How the log page writes bytes and times: the browser's half of what dashboard/logs/presentation.py writes, and what
// only the browser says.

import { NONE, halfUp, number } from "../base/say.js";

const NARROW = "\u202f", UNITS = ["B", "kB", "MB", "GB", "TB"];

// Decimal units, three digits: 999 B, 16.3 kB, 1.07 GB.
export function size(bytes) {
  if (bytes === null || bytes === undefined) return NONE;
  let value = bytes, unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : halfUp(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0)}${NARROW}${UNITS[unit]}`;
}

// A limit that is a power of two, as it was set: 64 MiB.
export const mebibytes = (bytes) => `${Number((bytes / 2 ** 20).toFixed(2))}${NARROW}MiB`;

// A record's time, in UTC; none is written as -1 in the format.
export function instant(ms) {
  if (ms === null || ms === undefined || ms < 0) return String(ms ?? NONE);
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? number(ms) : date.toISOString().replace("T", " ");
}

// A setting's duration in its largest unit: 90 s, 12 h, 7 d.
export function duration(ms, words) {
  const [value, unit] = ms < 120_000 ? [ms / 1000, words.second] : ms < 7_200_000 ? [ms / 60_000, words.minute]
    : ms < 172_800_000 ? [ms / 3_600_000, words["log.hour"]] : [ms / 86_400_000, words["log.day"]];
  return `${Number(value.toFixed(1))}${NARROW}${unit}`;
}

// A span of virtual time in its two largest units: 42 s, 12 min, 1 h 40 min, 3 d 4 h.
export function span(us, words) {
  const seconds = Math.floor(us / 1e6), unit = (value, code) => `${value}${NARROW}${words[code]}`;
  if (seconds < 60) return unit(seconds, "second");
  if (seconds < 3600) return unit(Math.floor(seconds / 60), "minute");
  const hours = Math.floor(seconds / 3600);
  const [first, second] =
    hours < 48
      ? [unit(hours, "log.hour"), [Math.floor(seconds / 60) % 60, "minute"]]
      : [unit(Math.floor(hours / 24), "log.day"), [hours % 24, "log.hour"]];
  return second[0] ? `${first} ${unit(...second)}` : first;
}

export const address = (byte, digits = 3) => byte.toString(16).padStart(digits, "0");

// Roughly how wide a text is drawn: 13 px figures in the fixed-width face, other letters somewhat less.
export const figuresWidth = (text) => text.length * 7.9;
export const textWidth = (text) => [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 13 : 7), 0);
