// The pictures as tables: what a screen reader reads, and what key T shows in their place.

import { NONE, number, percent } from "../base/say.js";
import { owned } from "./space.js";
import { table as standbysTable } from "./standbys.js";

const part = (slots, space) => percent(slots / space, 1);

// Who owns how much, now and before; of Exclusive and Failover who is active; of Shared the round.
export function spaceTable(lane, say) {
  const { picture, pulsar } = lane;
  if (pulsar.failover) return standbysTable(pulsar, say);
  if (!("space" in picture)) {
    return {
      head: ["consumer", "permits", "unacked"].map((code) => say(`subscription.column.${code}`)),
      terms: [null, "permits", "in_flight"],
      rows: picture.ring.map((name) => [
        name, number(pulsar.consumers[name]?.permits ?? 0), number(pulsar.consumers[name]?.unacked ?? 0),
      ]),
    };
  }
  const now = owned(picture.now, picture), was = picture.before ? owned(picture.before, picture) : null;
  return {
    head: ["consumer", "part", "pieces", "was"].map((code) => say(`subscription.column.${code}`)),
    terms: [null, "space", null, null],
    rows: [...lane.order, ...now.keys(), ...(was?.keys() ?? [])]
      .filter((name, place, all) => all.indexOf(name) === place && (now.has(name) || was?.has(name)))
      .map((name) => [
        name || say("subscription.gap"), part(now.get(name)?.slots ?? 0, picture.space),
        number(now.get(name)?.pieces ?? 0), was ? part(was.get(name)?.slots ?? 0, picture.space) : NONE,
      ]),
  };
}

export function handedTable({ pulsar, picture }, say) {
  return {
    head: ["from", "to", "part", "pieces"].map((code) => say(`subscription.column.${code}`)),
    terms: [null, null, "space", null],
    rows: pulsar.handed.map(({ from, to, slots, pieces }) => [
      from ?? say("subscription.gap"), to ?? say("subscription.gap"), part(slots, picture.space), number(pieces),
    ]),
  };
}

// Other subscriptions on the topic: a row for each of their consumers.
export function othersTable(subscriptions, say) {
  return {
    head: ["subscription", "type", "backlog", "consumer", "finished", "unacked"].map((code) =>
      say(`subscription.column.${code}`),
    ),
    terms: [null, null, null, null, null, "in_flight"],
    rows: Object.entries(subscriptions).flatMap(([name, { type, backlog, consumers }]) =>
      Object.entries(consumers).map(([consumer, { finished, unacked }], place) => [
        ...(place ? ["", "", ""] : [name, type, number(backlog)]), consumer, number(finished), number(unacked),
      ]),
    ),
  };
}

// Slots whose old consumer still has messages of them.
export function drainingTable({ slots }, say) {
  return {
    head: ["slot", "from", "to", "unacked", "blocked"].map((code) => say(`subscription.column.${code}`)),
    terms: ["slot", null, null, "in_flight", null],
    rows: Object.entries(slots).map(([slot, { from, to, count, blocked }]) => [
      number(slot), from ?? NONE, to ?? say("subscription.gap"), number(count), number(blocked),
    ]),
  };
}
