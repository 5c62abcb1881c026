// The page's sentences: how the cluster is, what the large partition's state means, and what a fault has done.

import { clock, number, sentences } from "../base/say.js";
import { BROKEN, CHANGED, IDLE, WAITING } from "../lane/importance.js";
import { linkName, nodeWords } from "./names.js";

const WORST = ["offline", "below_min_isr", "under_replicated"];

// What the story says of it.
export function story(cluster, say) {
  const unnoticed = Object.entries(cluster.brokers)
    .filter(([, { condition, is_fenced }]) => condition !== "running" && !is_fenced)
    .map(([id]) => id);
  if (unnoticed.length) {
    const brokers = unnoticed.join(say("list.comma"));
    return { rank: BROKEN, what: say("cluster.head.unnoticed", { brokers, count: unnoticed.length }) };
  }
  const worst = WORST.find((state) => cluster.counts[state]);
  if (worst) {
    const rank = worst === "offline" ? BROKEN : WAITING;
    return { rank, what: say(`cluster.head.${worst}`, { count: cluster.counts[worst] }) };
  }
  const moving = Object.values(cluster.partitions).filter(({ adding }) => adding.length).length;
  const what = say(moving ? "cluster.head.moving" : "cluster.head.healthy", { count: moving });
  return { rank: moving ? CHANGED : IDLE, what };
}

export function sub(cluster, say) {
  const brokers = Object.values(cluster.brokers);
  const up = brokers.filter(({ condition, stage }) => condition === "running" && stage !== "down").length;
  return say("cluster.sub", {
    brokers: brokers.length, up, partitions: Object.keys(cluster.partitions).length,
    truncation: say(`cluster.truncation.${cluster.settings.truncation}`),
  });
}

// The large partition in a line.
export function partitionShort({ leader, leader_epoch: epoch, isr, replicas, min_isr: min }, say) {
  const known = { isr: isr.join(" "), replicas: [...replicas].sort((a, b) => a - b).join(" "), min };
  return leader < 0 ? say("cluster.short_offline", known) : say("cluster.short", { leader, epoch, ...known });
}

// The large partition: its state, what is in sync, what that means for producers and consumers.
export function partitionWords(partition, say) {
  const isr = partition.isr.join(" ");
  const hidden = partition.end === null ? 0 : partition.end - partition.high_watermark;
  const { adding, removing, replicas, state } = partition, isMoving = adding.length + removing.length > 0;
  const about = say(state === "healthy" && isMoving ? "cluster.about.moving" : `cluster.about.${state}`, {
    leader: partition.leader, epoch: partition.leader_epoch, isr, count: partition.isr.length,
    replicas: replicas.length - adding.length, min: partition.min_isr,
  });
  return sentences([
    about, ...(isMoving ? [moves(partition, say)] : []), ...spare(partition, say),
    ...(hidden ? [say("cluster.about.hidden", { count: hidden })] : []),
  ]);
}

// A move that is under way: who has to catch up, and who leaves then.
function moves({ adding, removing }, say) {
  const code = adding.length && removing.length ? "adds_and_removes" : adding.length ? "adds" : "removes";
  return say(`cluster.move.${code}`, {
    adding: adding.join(say("list.comma")), removing: removing.join(say("list.comma")), count: adding.length,
    old: removing.length,
  });
}

// What one more crash would do to an under-replicated partition.
function spare({ state, isr, min_isr }, say) {
  if (state !== "under_replicated") return [];
  const copies = isr.length - 1;
  const code =
    copies === 0
      ? "cluster.about.last_copy"
      : copies < min_isr
        ? "cluster.about.next_refuses"
        : "cluster.about.spare_copies";
  return [say(code, { copies, min: min_isr })];
}

// A card after a fault: {title, was, now, means: [..]}. card: of the view's faults.
export function cardWords(card, say) {
  const target = card.target.map((name) => nodeWords(name, say));
  return {
    title: say(`cluster.did.${card.verb}`, {
      one: target[0], other: target[1] ?? "", link: card.target.length > 1 ? linkName(card.target, say) : "",
      amount_us: card.amount_us,
    }),
    when: clock(card.at_us),
    was: counted(card.was, say),
    now: counted(card.now, say),
    means: card.means.map(({ code, ...params }) =>
      say(`cluster.means.${params.reason ? `${code}.${params.reason}` : code}`, params),
    ),
  };
}

function counted(counts, say) {
  const parts = Object.entries(counts).filter(([, count]) => count);
  return parts
    .map(([state, count]) => say("cluster.counted", { count: number(count), state: say(`cluster.state.${state}`) }))
    .join(say("list.comma"));
}
