// The pictures as tables: what a screen reader reads, and what key T shows in their place.

import { NONE, number } from "../base/say.js";
import { lagOf, lanesOf, readBy, readsCommitted } from "./lanes.js";
import { epochOf, inOrder } from "./members.js";
import { codeName, moment, NAMES, noteWords } from "./rows.js";
import { statusOf, wordsOf } from "./status.js";
import { left } from "./timers.js";
import { direction } from "./trend.js";
import { doing } from "./words.js";

const figure = (value) => (value === null || value === undefined ? NONE : number(value));

export function messagesTable(group, say) {
  const rows = Object.entries(group.exchanges).reverse();
  return {
    head: ["at", "member", "message", "answer", "waited"].map((code) => say(`groups.column.${code}`)),
    terms: [null, null, null, null, null],
    rows: rows.map(([, exchange]) => [
      moment(exchange.sent_us), exchange.member, NAMES[exchange.kind],
      exchange.lost_us !== null
        ? say("groups.time.lost")
        : codeName(exchange) + (exchange.note ? ` ${noteWords(exchange.note, say)}` : "") || NONE,
      exchange.answered_us !== null && exchange.arrived_us !== null
        ? left(exchange.answered_us - exchange.arrived_us, say)
        : NONE,
    ]),
    keys: rows.map(([number_]) => number_),
  };
}

export function membersTable(group, consumers, atUs, say) {
  return {
    head: ["member", "doing", "epoch", "assigned", "owned", "target", "session", "member_id"].map((code) =>
      say(`groups.column.${code}`),
    ),
    terms: [null, null, null, null, null, null, null, null],
    rows: inOrder(group, consumers).map(([key, member]) => [
      member.consumer + (member.is_leader ? " ★" : ""), doing(member, group, say, key), figure(epochOf(member)),
      inTopics(had("assigned", key, group), group, say), inTopics((topic) => readBy(key, group, topic), group, say),
      member.target === null ? NONE : inTopics(had("target", key, group), group, say),
      group.timers[`session:${key}`] ? left(group.timers[`session:${key}`].until_us - atUs, say) : NONE,
      member.member_id ?? NONE,
    ]),
  };
}

export function partitionsTable(group, health, lags, say) {
  const isStable = readsCommitted(group), only = (...values) => (isStable ? values : []);
  return {
    head: [
      ...["partition", "owner", "start", "end", "hw"], ...only("stable"), ...["committed", "position", "lag"],
      ...only("stable_lag"), ...["lag_us", "trend", "status", "passed_over"],
    ].map((code) => say(`groups.column.${code}`)),
    terms: [
      null, null, null, null, "high_watermark", ...only("last_stable_offset"), "committed", null, "group_lag",
      ...only("last_stable_offset"), "lag_time", null, null, null,
    ],
    rows: lanesOf(group).map((row) => {
      const { name, partition } = row, own = lagOf(row, group, health), judged = statusOf(row, group, health, lags);
      const way = row.isOwn && own.lag !== null ? direction(lags[name] ?? []) : null;
      return [
        name,
        partition.owner === null ? say("groups.dark") : (group.members[partition.owner]?.consumer ?? partition.owner),
        figure(partition.start), figure(partition.end), figure(partition.high_watermark),
        ...only(figure(partition.stable)), figure(partition.committed), figure(partition.position), figure(own.lag),
        ...only(figure(own.stable_lag)), own.lag_us !== null ? left(own.lag_us, say) : NONE,
        way ? say(`groups.trend.${way}`) : NONE, judged ? wordsOf(judged, health, say) : NONE,
        figure(partition.passed_over),
      ];
    }),
  };
}

// Partitions of the lane's own topic by their numbers, those of others after the topic's name.
function inTopics(numbersOf, group, say) {
  const others = Object.keys(group.also ?? {})
    .map((topic) => [topic, numbersOf(topic)])
    .filter(([, numbers]) => numbers.length);
  const own = numbersOf(group.topic), said = own.length || !others.length ? [runs(own, say)] : [];
  return [...said, ...others.map(([topic, numbers]) => `${topic} ${runs(numbers, say)}`)].join(say("list.semicolon"));
}

const had = (what, key, group) => (topic) =>
  (topic === group.topic ? group.members : group.also[topic].members)[key]?.[what] ?? [];

export function runs(numbers, say) {
  const found = [];
  for (const value of [...numbers].sort((a, b) => a - b)) {
    if (found.length && found.at(-1)[1] === value - 1) found.at(-1)[1] = value;
    else found.push([value, value]);
  }
  return (
    found.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(say("list.comma")) || NONE
  );
}

export const statesList = (machine, state, say) =>
  machine.transitions
    .map(([from, event, to]) =>
      say("list.named", { name: `${from} → ${to}`, what: say(`groups.event.${event.replaceAll(" ", "_")}`) }),
    )
    .concat(state === null ? say("groups.unknown") : say("groups.state_now", { state }));
