// Who has a lifeline in the sequence chart, and where it stands: each of a few members; of a crowd those that something
// sets apart, and the others together in one column, the last.

import { widthOf } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";
import { PICTURED, isFolded as isCrowd } from "../lane/fold.js";
import { moment } from "./rows.js";
import { isCalm, ownTimers } from "./timers.js";

const OTHERS = "@others";
export const TIME_APART = 8;
const TIME_LEAST = 74, PITCH_LEAST = 34, PITCH_OF_CROWD = 46, PITCH_MOST = 170, EDGE = 8;
const OTHERS_WIDE = 116, OTHERS_AT = 30, OTHERS_WIDE_PHONE = 76;

// Everyone who has a place in it: the group's members, and whoever says something in the exchanges that are shown; by
// colour.
export function namesOf(group, consumers, rows) {
  const names = new Set(Object.values(group.members).map(({ consumer }) => consumer));
  for (const row of rows) for (const { exchange } of row.items) names.add(exchange.member);
  return [...names].sort((a, b) => (consumers[a]?.order ?? 1e9) - (consumers[b]?.order ?? 1e9) || a.localeCompare(b));
}

// In a crowd these have a column, as far as there is room: whom the page names first, who leads, who is no member, who
// does not run, whose time runs out, and then whom else the page names.
// -> {names, others}: both in the order of `all`
function parted(all, group, { named, room, atUs }) {
  if (!isCrowd({ order: all })) return { names: all, others: [] };
  const members = Object.values(group.members), there = new Set(all), timers = ownTimers(group);
  const known = new Set(members.map(({ consumer }) => consumer));
  const leads = members.filter((member) => member.is_leader).map(({ consumer }) => consumer);
  const strangers = all.filter((name) => !known.has(name));
  const late = all.filter((name) => !isCalm(timers.get(name), atUs));
  const unwell = members.filter((member) => !isWell(member)).map(({ consumer }) => consumer);
  const [first, ...rest] = named.filter((name) => there.has(name));
  const ranked = [...(first ? [first] : []), ...leads, ...strangers, ...unwell, ...late, ...rest];
  const kept = new Set([...new Set(ranked)].slice(0, room));
  return { names: all.filter((name) => kept.has(name)), others: all.filter((name) => !kept.has(name)) };
}

export const isWell = ({ condition, is_stuck: isStuck, failed = null }) =>
  condition === "running" && !isStuck && failed === null;

// all: of `namesOf`. named: whom the page names, the first of them first.
// -> where things stand: {columns: name -> x, together: the column of `others`, null without any, columnOf(name): the
// name of their column, coordinator: x, first, pitch, width, now: y}
export function geometry(
  all, { group, available, height, foot = 0, isPhone = false, isLong = false, atUs = 0, named = [] },
) {
  // as wide as the longest time: from ten minutes on it has a digit more
  const time = Math.max(TIME_LEAST, widthOf(moment(atUs)) + TIME_APART + 2);
  const labels = isPhone ? (isLong ? 164 : 120) : 190, coordinator = time + 18, first = coordinator + labels;
  const wide = isPhone ? OTHERS_WIDE_PHONE : OTHERS_WIDE;
  const room = Math.max(1, Math.min(PICTURED, Math.floor((available - first - EDGE - wide) / PITCH_OF_CROWD)));
  const { names, others } = parted(all, group, { named, room, atUs }), aside = others.length ? wide : 0;
  const free = (available - first - EDGE - aside) / Math.max(1, names.length);
  const pitch = Math.min(PITCH_MOST, Math.max(PITCH_LEAST, free));
  const columns = Object.fromEntries(names.map((name, place) => [name, round(first + pitch * (place + 0.5))]));
  if (others.length) columns[OTHERS] = round(first + pitch * names.length + OTHERS_AT);
  const folded = new Set(others);
  return {
    time, coordinator, first, pitch, columns, isPhone, others, together: others.length ? OTHERS : null,
    columnOf: (name) => (folded.has(name) ? OTHERS : name in columns ? name : undefined),
    width: Math.max(available, Math.ceil(first + pitch * names.length + aside + EDGE)), height, now: height - foot,
  };
}
