// The page's sentences: how the group is, what it runs on, what one member is doing, and what a message says.

import { inTurn, sentences } from "../base/say.js";
import { BROKEN, IDLE, WAITING } from "../lane/importance.js";
import { heldBy, isHeld, lagOf, lanesOf, ownedBy, readersOf, readsCommitted } from "./lanes.js";
import { codeName, NAMES } from "./rows.js";
import { statusWords } from "./status.js";

const REBALANCING = ["PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"];

// Of the consumer protocol: it has not taken the group epoch's target up, or waits for what others still hold.
export const isBehind = ({ epoch, state }, group) => epoch !== null && (epoch < group.generation || state !== "STABLE");

// Its poll loop has been stuck for so long that its heartbeats have stopped, and as a static member it keeps its place;
// its epoch is -2 then.
const isOverdue = ({ is_stuck: isStuck, generation, epoch, member_id: id }) =>
  isStuck && id !== null && (epoch === -2 || (generation !== null && generation < 0));

// Out of the group, and it does not know: what it owned before it reads on.
const isZombie = ({ condition, member_id: id, is_stuck: isStuck, owned }, group) =>
  group.coordinator !== null && condition === "running" && id === null && !isStuck && owned.length > 0;

// A static member that restarts: its process is over, and its place is kept.
const isAway = ({ condition, instance_id: instance }) => condition === "gone" && Boolean(instance);

export const counts = (group) => {
  const members = Object.values(group.members).filter(({ member_id }) => member_id !== null), lanes = lanesOf(group);
  const partitions = lanes.map(({ partition }) => partition);
  const named = (found) => inTurn(found.map(({ consumer }) => consumer));
  return {
    members: members.length, partitions: partitions.length,
    dark: partitions.filter(({ owner }) => owner === null).length,
    waiting: members.filter(({ awaits }) => awaits === "join").length,
    silent: named(members.filter((member) => (member.condition !== "running" && !isAway(member)) || isOverdue(member))),
    away: named(members.filter(isAway)),
    stuck: named(members.filter((member) => member.condition === "running" && member.is_stuck && !isOverdue(member))),
    overdue: members.filter(isOverdue).length,
    zombie: named(Object.values(group.members).filter((member) => isZombie(member, group))),
    held: lanes.filter(isHeld).length, leaderless: partitions.filter(({ leader }) => leader === null).length,
    idle: Object.entries(group.members).filter(
      ([key, { member_id: id, condition }]) => id !== null && condition === "running" && !ownedBy(key, group),
    ).length,
    twice: lanes.filter(
      (lane) => readersOf(lane).filter((member) => heldBy(lane.partition, member, lane.number) === null).length > 1,
    ).length,
    behind: members.filter((member) => isBehind(member, group)).length,
  };
};

// What the story says of it.
export const story = (group, say) => ({ rank: rankOf(group), what: headline(group, say) });

function rankOf(group) {
  const now = counts(group), isDown = group.coordinator === null || now.silent.length > 0;
  if (isDown || (!now.members && now.zombie.length)) return BROKEN;
  const waits = !now.members || REBALANCING.includes(group.state) || now.dark || now.leaderless || now.twice;
  return waits || ["away", "stuck", "zombie"].some((code) => now[code].length) ? WAITING : IDLE;
}

export function headline(group, say) {
  const now = counts(group);
  if (group.coordinator === null) return say("groups.head.no_coordinator", now);
  if (!now.members && now.zombie.length) {
    return say("groups.head.zombie", { names: now.zombie.join(say("list.comma")), count: now.zombie.length });
  }
  if (!now.members) return say(group.pending ? "groups.head.pending" : "groups.head.empty", { count: group.pending });
  if (group.state === "PreparingRebalance") {
    return say(now.waiting < now.members ? "groups.head.joining" : "groups.head.gathering", now);
  }
  if (group.state === "CompletingRebalance") return say("groups.head.syncing", now);
  // A group of KIP-848 that waits for nobody but static members who are away.
  const code = now.away.length ? "away" : "silent";
  if (group.state === "Reconciling" && now.behind === now.away.length + now.overdue) {
    return say(`groups.head.${code}`, { ...now, names: now[code].join(say("list.comma")), count: now[code].length });
  }
  if (REBALANCING.includes(group.state)) return say(`groups.head.${group.state.toLowerCase()}`, now);
  for (const code of ["silent", "away", "stuck", "zombie"]) {
    if (now[code].length) {
      return say(`groups.head.${code}`, { ...now, names: now[code].join(say("list.comma")), count: now[code].length });
    }
  }
  return say(`groups.head.${["dark", "leaderless", "twice", "idle"].find((found) => now[found]) ?? "stable"}`, now);
}

// Whom the coordinator of a group of KIP-848 assigns to though they speak the classic protocol: an upgrade member by
// member is under way.
const isTranslated = (member, group) => group.protocol === "consumer" && member.protocol === "classic";
const classicOf = (group) =>
  inTurn(
    Object.values(group.members)
      .filter((member) => isTranslated(member, group))
      .map(({ consumer }) => consumer),
  );

// What stands behind a member's name: its group.instance.id, and in a group of both protocols that it speaks the
// classic one.
export const tagsOf = (member, group, say) =>
  [
    ...(member.instance_id === null
      ? []
      : [member.instance_id === member.consumer ? say("groups.static") : member.instance_id]),
    ...(isTranslated(member, group) ? [say("groups.classic")] : []),
  ].join(say("list.comma"));

export function sub(group, say) {
  if (group.coordinator === null) {
    return sentences([
      say("groups.sub_group", { group: group.group_id }),
      say("groups.sub_nobody", { partition: group.offsets_partition }),
    ]);
  }
  const protocol = say(
    group.protocol === "consumer"
      ? "groups.protocol.consumer"
      : group.is_cooperative
        ? "groups.protocol.cooperative"
        : "groups.protocol.eager",
  );
  const what =
    group.assignor === null
      ? say("groups.sub_unassigned", { group: group.group_id, protocol })
      : say("groups.sub", { group: group.group_id, protocol, assignor: group.assignor });
  const classic = classicOf(group);
  const asked = classic.length
    ? [
        say("groups.sub_classic", {
          names: classic.join(say("list.comma")), count: classic.length, assignor: group.assignor,
        }),
      ]
    : [];
  return sentences([
    what, ...asked, ...(group.is_old ? [say("groups.sub_old")] : []),
    ...(group.auto_offset_reset === "earliest" ? [] : [say("groups.sub_reset", { reset: group.auto_offset_reset })]),
    ...(readsCommitted(group) ? [say("groups.sub_committed")] : []),
    say("groups.sub_where", { broker: group.coordinator, partition: group.offsets_partition }),
  ]);
}

// lags: partition -> its lags of the last seconds. overload: what is said where more comes in than the members handle.
export function gridWords(group, health, say, { lags = {}, overload = "" } = {}) {
  const { dark, held, twice, partitions } = counts(group), said = [];
  if (dark || !held) said.push(say(dark ? "groups.grid_dark" : "groups.grid_lit", { dark, partitions }));
  if (held) said.push(say("groups.grid_held", { held, partitions }));
  if (twice) said.push(say("groups.grid_twice", { twice }));
  const isAlone = Object.keys(group.also ?? {}).length === 0;
  said.push(
    group.coordinator === null
      ? say("groups.grid_lag_unknown")
      : say(isAlone ? "groups.grid_lag" : "groups.grid_lag_in", {
          topic: group.topic, lag: health.lag, lag_us: rounded(health.lag_us),
          status: statusWords(group, health, lanesOf(group), { lags, isOverloaded: Boolean(overload) }, say),
        }),
  );
  if (health.passed_over) said.push(say("groups.grid_passed", { count: health.passed_over }));
  if (overload) said.push(overload);
  if (group.coordinator !== null && readsCommitted(group)) said.push(stableWords(group, health, say));
  return sentences(said);
}

// The lag up to the last stable offset, of all topics, and what open transactions keep from being read.
function stableWords(group, health, say) {
  const lags = lanesOf(group).map((row) => lagOf(row, group, health));
  const sum = (figure) => lags.reduce((total, own) => total + (own[figure] ?? 0), 0);
  const lag = sum("stable_lag"), hidden = sum("lag") - lag;
  return say(hidden ? "groups.grid_open" : "groups.grid_stable", { lag, hidden });
}

// To a tenth of a second: what changes with each frame cannot be read.
export const rounded = (us) => (us === null ? null : Math.floor(us / 100_000) * 100_000);

// What holds the group up, a sentence each: {text, until: words or "", cure: what to do about it, "" where the sentence
// says so}. The worst comes first; what several wait to hear is one sentence.
export const findingsOf = (group, health, atUs, say) => [
  ...faultsOf(group, say).map((text) => ({ text, until: "", cure: "" })),
  ...merged(health.findings).map(({ code, members, timer, ends_us: endsUs, partitions, count }) => {
    const member = members.join(say("list.comma"));
    return {
      text: say(`groups.finding.${code}`, { member, members: members.length, count: count || partitions, partitions }),
      until:
        timer === null
          ? ""
          : endsUs === null
            ? timer
            : say("groups.until", { timer, left_us: Math.max(0, rounded(endsUs - atUs)) }),
      cure: say(`groups.cure.${code}`, { member }),
    };
  }),
];

// What ended members whose own assignor failed, and where: an exception stands as Python says it.
const OTHERS_NAMED_MAX = 3;
const faultWords = ({ line, code, params, reason }, [consumer, ...others], say) => {
  const said = say(line ? "kafka.assignor_failed" : "kafka.assignor_ended", {
    consumer, line, reason: code ? say(`assignor.reason.${code}`, params) : reason,
  });
  if (!others.length) return said;
  return others.length > OTHERS_NAMED_MAX
    ? say("groups.own.so_many", { said, count: others.length })
    : say("groups.own.so_too", { said, others: others.join(say("list.comma")) });
};

// A sentence for each fault, with all whom it ended, as long as they have not started again.
// Whose assignor the group runs, and what a user's own has failed with.
export function ownState({ group }, say) {
  const failed = faultsOf(group, say);
  return {
    text: failed.length ? sentences(failed) : say(group.is_own ? "groups.own.runs" : "groups.own.none"),
    isWrong: failed.length > 0, isOwn: group.is_own,
  };
}

export function faultsOf(group, say) {
  const same = new Map();
  for (const { consumer, fault } of Object.values(group.members)) {
    if (!fault) continue;
    const key = JSON.stringify(fault);
    same.set(key, { fault, names: inTurn([...(same.get(key)?.names ?? []), consumer]) });
  }
  return [...same.values()].map(({ fault, names }) => faultWords(fault, names, say));
}

// Of several members that hear something with their next heartbeats, the last one's counts; of those that a phase waits
// for, all have one timer.
const SAME_TIMER = ["join_waits", "silent_waits", "frozen_waits", "taking_owner"];

function merged(findings) {
  const rows = [];
  for (const { code, member, timer, ends_us: endsUs, partitions, count } of findings) {
    const isUnheard = code.endsWith("_unheard");
    const isSame = (row) =>
      row.code === code &&
      row.timer === timer &&
      (isUnheard || (SAME_TIMER.includes(code) && row.ends_us === endsUs));
    const row = rows.find(isSame) ?? { code, members: [], timer, ends_us: endsUs, partitions: 0, count: 0 };
    if (!rows.includes(row)) rows.push(row);
    if (member !== null) row.members = inTurn([...row.members, member]);
    row.partitions += partitions.length;
    row.count += count;
    if (isUnheard && endsUs !== null) row.ends_us = Math.max(row.ends_us ?? endsUs, endsUs);
  }
  return rows;
}

// What a member does, in a few words.
export function doing(member, group, say, key = null) {
  if (member.fault) return faultWords(member.fault, [member.consumer], say);
  if (member.failed !== null) {
    return say(member.failed ? "groups.doing.failed_with" : "groups.doing.failed", { error: member.failed });
  }
  if (isAway(member)) return say("groups.doing.away");
  if (member.condition !== "running") {
    return say(
      member.member_id === null && member.condition !== "gone"
        ? `groups.doing.${member.condition}_out`
        : `groups.doing.${member.condition}`,
    );
  }
  if (member.is_stuck) {
    if (isOverdue(member)) return say("groups.doing.stuck_silent");
    const isOut = group.coordinator !== null && member.member_id === null;
    return say(isOut ? "groups.doing.stuck_out" : "groups.doing.stuck");
  }
  if (member.phase === "closing") return say("groups.doing.closing");
  if (isZombie(member, group)) return say("groups.doing.zombie", { count: member.owned.length });
  if (member.is_starting) return say("groups.doing.starting");
  if (group.coordinator === null) {
    return say(member.is_searching ? "groups.doing.searching" : "groups.doing.unanswered");
  }
  if (member.member_id === null) return say("groups.doing.outside");
  if (member.awaits) return say(`groups.doing.awaits_${member.awaits}`);
  if (member.state && member.state !== "STABLE") return say(`groups.doing.${member.state}`);
  const count = key === null ? member.owned.length : ownedBy(key, group);
  return count ? say("groups.doing.reads", { count }) : say("groups.doing.idle");
}

// A message in full: {title, times: [[word, text]], asked: [[name, value]], answered: [[name, value]], tone}. together:
// how many are drawn as one with it.
export function messageWords(exchange, group, moment, say, together = 1) {
  const { member, broker } = exchange, from = say("groups.from", { member, count: broker, broker });
  const at = (us) => (us === null ? say("groups.not_yet") : moment(us));
  const times = [["sent", at(exchange.sent_us)]];
  if (exchange.arrived_us !== null || exchange.received_us === null) times.push(["arrived", at(exchange.arrived_us)]);
  if (exchange.answered_us !== null || exchange.received_us === null) {
    times.push(["answered", at(exchange.answered_us)]);
  }
  times.push(exchange.lost_us !== null ? ["lost", at(exchange.lost_us)] : ["received", at(exchange.received_us)]);
  return {
    title: NAMES[exchange.kind],
    about: together > 1 ? say("groups.one_of", { from, count: together }) : from,
    code: exchange.code ? codeName(exchange) : "",
    times: times.map(([word, text]) => [say(`groups.time.${word}`), text]), asked: exchange.fields,
    answered: exchange.answer,
  };
}

export const epochWords = (group, say) =>
  group.coordinator === null
    ? say("groups.unknown")
    : group.protocol === "consumer"
      ? say("groups.epochs_words", {
          epoch: group.generation, assigned: group.assignment_epoch ?? 0, behind: counts(group).behind,
        })
      : say("groups.generation_words");
