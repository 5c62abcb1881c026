// The lanes of the grid: the partitions of the lane's own topic, then those of the other topics that members subscribe
// to.

// group: of the view, with `also`: the other topics. -> [{name, number, topic, isOwn, partition, members: key -> member
// with what it has in the topic}]
export function lanesOf(group) {
  const rows = (topic, partitions, members, isOwn) => Object.entries(partitions).map(([number, partition]) => ({
    name: isOwn ? number : `${topic}-${number}`, number: Number(number), topic, isOwn, partition, members,
  }));
  const others = Object.entries(group.also ?? {}).flatMap(([topic, { partitions, members }]) => {
    const there = Object.fromEntries(
      Object.entries(group.members).map(([key, member]) => [key, { ...member, ...NOTHING, ...members[key] }]),
    );
    return rows(topic, partitions, there, false);
  });
  return [...rows(group.topic, group.partitions, group.members, true), ...others];
}

const NOTHING = { assigned: [], owned: [], paused: [], target: null, revoking: [] };
const UNKNOWN_LAG = { lag: null, stable_lag: null, lag_us: null };

// Whether its consumers read up to the last stable offset alone: then there are two lags.
export const readsCommitted = (group) => group.isolation_level === "read_committed";

// Lag and its age of a lane: of the own topic from the group's health, of others with the partition; nobody knows it
// without a coordinator.
export function lagOf({ name, isOwn, partition }, group, health) {
  if (group.coordinator === null) return UNKNOWN_LAG;
  return (isOwn ? health.partitions[name] : partition) ?? UNKNOWN_LAG;
}

// How many partitions of all topics a member reads.
export const ownedBy = (key, group) =>
  group.members[key].owned.length +
  Object.values(group.also ?? {}).reduce((sum, { members }) => sum + (members[key]?.owned.length ?? 0), 0);

// Why a member reads nothing of a partition that it has: nobody leads it, the member's poll loop is stuck, or its
// program has paused it; null: it reads.
export const heldBy = (partition, member, number) =>
  partition.leader === null
    ? "leaderless"
    : member.is_stuck
      ? "stuck"
      : member.paused?.includes(number)
        ? "paused"
        : null;

// Who has the partition of a lane: one member, but for a user's own assignor, which may give it to several.
export const readersOf = ({ number, members }) =>
  Object.values(members).filter((member) => isAtWork(member) && member.owned.includes(number));

// Whether its program runs: what a crashed, frozen or failed one had assigned it reads no more.
export const isAtWork = ({ condition, failed }) => condition === "running" && (failed ?? null) === null;

// The numbers of a topic's partitions that a member reads.
export const readBy = (key, group, topic) =>
  lanesOf(group)
    .filter((lane) => lane.topic === topic && isReading(lane, lane.members[key]))
    .map(({ number }) => number);

const isReading = ({ number, partition }, member) =>
  isAtWork(member) && member.owned.includes(number) && heldBy(partition, member, number) === null;

export const isHeld = (lane) => {
  const readers = readersOf(lane);
  return readers.length > 0 && readers.every((member) => heldBy(lane.partition, member, lane.number) !== null);
};

// Nobody has it, or who has it reads nothing there.
export const isUnread = (lane) => lane.partition.owner === null || isHeld(lane);
