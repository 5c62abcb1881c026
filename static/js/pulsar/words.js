// The page's sentences: what holds the subscription up, which rule runs, and why a consumer has nothing to do.

import { number, percent, sentences } from "../base/say.js";
import { listed } from "../lane/covers.js";
import { BROKEN, IDLE, WAITING } from "../lane/importance.js";
import { overloadWords } from "../lane/overload.js";
import { TICKS_MAX } from "./ring.js";
import { owned } from "./space.js";

// Causes worth knowing of, the worst first; the others are as they should be.
const WORTH = [
  "acks_refused", "newcomer", "behind_newcomer", "blocked", "subscription_full", "no_permits", "draining", "key_waits",
  "out_of_reach", "refused", "no_range", "paused", "holding", "switching",
];

const NAMED_MAX = 3, QUEUE_LONG = 50, QUEUE_TIMES = 3, UNEVEN = 1.2;

// What the story says of it: who is silent stands before whoever waits, often for just that consumer. rate: records
// that come a second.
export function story(lane, rate, say) {
  const silent = Object.entries(lane.pulsar.consumers)
    .filter(([, { idle }]) => idle?.code === "crashed")
    .map(([name]) => name);
  const cause = causeOf(lane, rate, say);
  if (silent.length && lane.pulsar.exists) {
    const what = say("subscription.head.crashed", { count: silent.length, who: together(silent, say) });
    return { rank: BROKEN, what, means: cause ?? "" };
  }
  if (cause !== null) return { rank: WAITING, what: cause };
  return { rank: IDLE, what: wellWords(lane, say) };
}

// What holds the subscription up, but for silent consumers; null: nothing does.
function causeOf(lane, rate, say) {
  const { pulsar } = lane, consumers = Object.entries(pulsar.consumers);
  if (!pulsar.exists) return say("subscription.head.no_subscription");
  if (!consumers.length) return say("subscription.head.nobody");
  const gap = "space" in lane.picture ? owned(lane.picture.now, lane.picture).get("")?.slots ?? 0 : 0;
  const part = gap ? percent(gap / lane.picture.space, 1) : "";
  if (gap && consumers.some(([, { idle }]) => idle?.unowned)) return say("subscription.head.gap_newcomers", { part });
  const held = consumers.filter(([, { former }]) => former).sort(([, one], [, other]) => other.former - one.former)[0];
  for (const code of WORTH) {
    if (code === "refused" && held) break;              // what a dead connection holds keeps others out, too
    const found = consumers.filter(([, { idle }]) => idle?.code === code);
    if (found.length) {
      return say(`subscription.head.${code}`, {
        count: found.length, ...params(found[0][1].idle, say, found[0][0]), consumer: found[0][0],
        who: together(
          found.map(([name]) => name),
          say,
        ),
      });
    }
  }
  if (held) return say("subscription.head.former", { consumer: held[0], count: held[1].former });
  if (pulsar.batches?.misplaced) {
    return say("subscription.head.stray", { part: percent(pulsar.batches.misplaced / pulsar.batches.messages, 0) });
  }
  const first = Object.keys(pulsar.again?.entries ?? {}).map(Number).sort((one, other) => one - other)[0];
  if (first !== undefined && !pulsar.again.max && first === pulsar.cursors["-1"].mark_delete + 1) {
    return say("subscription.head.for_ever", { position: first, times: pulsar.again.entries[first].times });
  }
  if (gap) return say("subscription.head.gap", { part });
  const behind = unevenOf(lane);
  return behind ? say("subscription.head.uneven", behind) : overloadWords(lane, rate, say) || null;
}

function wellWords({ pulsar }, say) {
  const consumers = Object.entries(pulsar.consumers);
  const connected = consumers.filter(([, known]) => known.connected).length;
  if (pulsar.again?.dead_letters) return say("subscription.head.letters", { count: pulsar.again.dead_letters });
  if (!connected) return say("subscription.head.nobody");
  if (pulsar.type === "Failover") {
    const count = new Set(Object.values(pulsar.failover.partitions).map(({ active }) => active).filter(Boolean)).size;
    return count === connected
      ? say("subscription.head.failover_all", { count })
      : say("subscription.head.failover", { count, consumers: connected });
  }
  const waiting = consumers.filter(([, { idle }]) => idle?.code === "better_level").length;
  if (waiting) return say("subscription.head.levels", { count: connected - waiting, waiting });
  return say("subscription.head.well", { count: connected });
}

const together = (names, say) =>
  names.length > NAMED_MAX ? say("subscription.head.consumers", { count: names.length }) : listed(names, say);

// Uneven ranges: the one consumer at its normal pace that owns more than its share of the hash space and whose queue
// alone has grown long.
function unevenOf({ picture, pulsar, consumers }) {
  if (!("space" in picture)) return null;
  const queues = Object.entries(pulsar.consumers)
    .filter(([, { connected }]) => connected)
    .map(([name, { queue }]) => [queue, name])
    .sort(([one], [other]) => other - one);
  if (queues.length < 2 || queues[0][0] < QUEUE_LONG || queues[0][0] < QUEUE_TIMES * queues[1][0]) return null;
  const [queue, consumer] = queues[0], part = (owned(picture.now, picture).get(consumer)?.slots ?? 0) / picture.space;
  return ["slow", "paused"].includes(consumers[consumer].state) || part * queues.length < UNEVEN
    ? null
    : { consumer, part: percent(part, 1), queue };
}

const typeName = ({ type }, say) => say(`subscription.type.${type}`);

// Which rule runs: who chooses the consumer, and who keeps a key in order.
export function rulesWords(lane, say) {
  const { pulsar } = lane;
  if (pulsar.order === null) {
    return say("subscription.rule_of", {
      rule: typeName(pulsar, say), version: say(`subscription.version.${pulsar.rule.selector}`),
    });
  }
  const chooses = say("subscription.rule_of", {
    rule: say(`pulsar.${lane.algorithm}`), version: say(`subscription.version.${pulsar.rule.selector}`),
  });
  // PIP-379 drains where the broker splits on its own; who names its ranges gets a key at once.
  const order = pulsar.order === "draining" && lane.algorithm.startsWith("sticky") ? "draining_sticky" : pulsar.order;
  return `${typeName(pulsar, say)} · ${chooses} · ${say(`subscription.order_words.${order}`)}`;
}

export const isWorth = (idle) => idle?.code === "crashed" || WORTH.includes(idle?.code);

// Why the consumer of that name is idle; null while it is not.
export function idleWords(idle, say, name) {
  return idle === null ? null : say(`subscription.idle.${idle.code}`, params(idle, say, name));
}

// Who came back after a crash waits for what its own dead connection holds, until the broker gives that up.
function params(idle, say, name) {
  const who = (one) => (one === name ? say("subscription.former_self") : one);
  const nobody = () => (idle.unowned ? say("subscription.nobody_owns") : say("subscription.nobody_holds"));
  return {
    ...idle, ...("holder" in idle ? { holder: idle.holder === null ? nobody() : who(idle.holder) } : {}),
    ...("consumer" in idle ? { consumer: who(idle.consumer) } : {}),
    ...("owner" in idle ? { owner: idle.owner === null ? say("subscription.gap") : idle.owner } : {}),
  };
}

export const spaceTitle = ({ type }, picture, say) =>
  say(
    picture.kind === "ring"
      ? "subscription.space.ring"
      : picture.kind === "ranges"
        ? "subscription.space.ranges"
        : `subscription.space.${type.toLowerCase()}`,
  );

export function spaceWords(lane, say) {
  const { picture, pulsar } = lane;
  if (picture.kind === "ring") {
    const points = picture.points ?? 0, words = say("subscription.space_words.ring", { points, space: picture.space });
    return points > TICKS_MAX ? sentences([words, say("subscription.ticks_left_out", { most: TICKS_MAX })]) : words;
  }
  if (picture.kind === "ranges") {
    const words = say("subscription.space_words.ranges", { space: picture.space });
    // What becomes of a key between two ranges depends on the version; where the broker splits on its own there is no
    // gap.
    return lane.algorithm.startsWith("sticky")
      ? `${words} ${say(`subscription.gap_words.${pulsar.rule.selector}`)}`
      : words;
  }
  if (pulsar.failover) {
    return say(`subscription.space_words.${pulsar.topics ? "topics" : pulsar.type.toLowerCase()}`, {
      count: Object.keys(pulsar.failover.partitions).length,
    });
  }
  return say("subscription.space_words.shared");
}

// One line of the list of who took what from whom.
export function handedWords({ from, to, slots, pieces, largest }, space, say) {
  const part = percent(slots / space, 1);
  const code = from === null ? "from_nobody" : to === null ? "to_nobody" : "handed_one";
  return say(`subscription.${code}`, {
    from: from ?? "", to: to ?? "", part, pieces, first: number(largest[0]), last: number(largest[1]),
  });
}
