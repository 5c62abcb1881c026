// Where there are more consumers than rows: which are named, by one rule, and the phases that count the others. Named
// are, in this order, who is selected, who changed last (a third of the room), then the largest and the smallest share
// by turns, and then as they came. A consumer without a share is no extreme: its phase counts it.

import { LETTERS } from "./pictures/size.js";

export const LISTED_MAX = 24, NAMED = 3, PICTURED = 12;
const KEPT_US = 10e6;
export const PHASES = ["silent", "waiting", "active", "idle", "gone"];
const PHASE_OF = { crashed: "silent", frozen: "silent", failed: "silent", waiting: "waiting", gone: "gone" };

export const isFolded = ({ order }) => order.length > LISTED_MAX;

export const phaseOf = ({ state, share }) => PHASE_OF[state] ?? (share ? "active" : "idle");

// -> [[phase, names]], without those that nobody is in; together they are all of `names`.
export function phasesOf({ consumers }, names) {
  const found = Object.fromEntries(PHASES.map((phase) => [phase, []]));
  for (const name of names) found[phaseOf(consumers[name])].push(name);
  return Object.entries(found).filter(([, own]) => own.length);
}

// Whom the orders of a view's timeline were about, the last one first.
export const changedLast = (timeline) =>
  [...new Set(Object.keys(timeline).map(Number).sort((one, other) => other - one)
    .map((position) => timeline[position].consumer).filter(Boolean))];

// lane: of the view. of: the names to choose from. changed: of `changedLast`. -> at most `room` of them, in the rule's
// order.
export function namedOf({ consumers }, { of, room, selected = null, changed = [] }) {
  const there = new Set(of), chosen = new Set(there.has(selected) ? [selected] : []);
  for (const name of changed.filter((each) => there.has(each)).slice(0, Math.ceil(room / 3))) chosen.add(name);
  const place = new Map(of.map((name, index) => [name, index]));
  const byShare = of.filter((name) => consumers[name].share)
    .sort((one, other) => consumers[other].share - consumers[one].share || place.get(one) - place.get(other));
  for (let low = 0, high = byShare.length - 1; low <= high && chosen.size < room; low += 1, high -= 1) {
    chosen.add(byShare[low]);
    if (chosen.size < room) chosen.add(byShare[high]);
  }
  for (const name of of) if (chosen.size < room) chosen.add(name);
  return [...chosen].slice(0, room);
}

// In a sentence or a cell: all of a few, of more the first ones and how many others there are.
// -> {names, more: a text, empty where all are named}
export function fewOf(names, say) {
  const isAll = names.length <= NAMED + 1;
  const shown = isAll ? names : names.slice(0, NAMED);
  return { names: shown, more: isAll ? "" : say("picture.more", { count: names.length - NAMED }) };
}

// Who is there beside those that are listed, by phase; empty where all are.
export function restWords(lane, listed, say) {
  const shown = new Set(listed), rest = lane.order.filter((name) => !shown.has(name));
  if (!rest.length) return "";
  const phases = phasesOf(lane, rest).map(([phase, names]) => say(`fold.${phase}`, { count: names.length }));
  return say("rows.more", { count: rest.length, phases: phases.join(say("list.comma")) });
}

// Those whose name holds what is typed, all where nothing is.
export const matching = (names, typed) => {
  const wanted = typed.trim().toLowerCase();
  return wanted ? names.filter((name) => name.toLowerCase().includes(wanted)) : names;
};

// Who holds a partition of the lane's picture, or held it before the last change; of a picture without partitions all.
function holdersOf({ order, picture }) {
  if (!picture.partitions) return order;
  const found = new Set();
  for (const { assigned, owner, before } of Object.values(picture.partitions)) {
    found.add(assigned ?? owner ?? before);
  }
  return order.filter((name) => found.has(name));
}

// Whom a picture of partitions has a row for: all of a few; of a larger group those that hold or held one, as many as
// have room for a name in `height`, the last row being that of all others. named: who comes first. They stand as they
// came. -> {names, hidden: how many have no row}
export function rowsOf(lane, named, height) {
  if (lane.order.length <= PICTURED) return { names: lane.order, hidden: 0 };
  const of = holdersOf(lane), there = new Set(of), room = Math.min(PICTURED, Math.floor(height / LETTERS) - 1);
  const kept = (named ?? []).filter((name) => there.has(name));
  const names = new Set([...new Set([...kept, ...namedOf(lane, { of, room })])].slice(0, room));
  return { names: of.filter((name) => names.has(name)), hidden: lane.order.length - names.size };
}

// Shares move with every record, and names that moved with them could not be read: they are chosen again after a
// change, for another selection, and every ten seconds of the lab.
// -> (id, view, selected): {rows, picture}, whom the lane's list and its picture name
export function createNaming() {
  const kept = new Map();
  return (id, view, selected = null) => {
    const lane = view.lanes[id], { bill, sentence, order } = lane;
    const key = [
      selected, order.length, Object.keys(view.timeline).length, bill?.position, bill?.settled, sentence.code,
      Math.floor(view.at_us / KEPT_US),
    ].join();
    const old = kept.get(id);
    if (old?.key === key) return old;
    const given = { selected, changed: changedLast(view.timeline) };
    const found = {
      key, rows: namedOf(lane, { of: order, room: NAMED, ...given }),
      picture: namedOf(lane, { of: holdersOf(lane), room: PICTURED, ...given }),
    };
    kept.set(id, found);
    return found;
  };
}
