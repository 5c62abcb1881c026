// What can be done to the chosen consumer and to the subscription: a button each, with its key. Which kinds of orders
// there are says the server's registry; which of them make sense follows from the consumer's state, and the server
// refuses what does not.

const KEYS = {
  join: "A", pause: "Z", resume: "Z", pulsar_hold_acks: "H", pulsar_release_acks: "H", slow: "W", crash: "X",
  rejoin: "B", leave: "L", pulsar_redeliver: "D", pulsar_unsubscribe: "U", pulsar_lose_receipts: "R",
};
const OF_NOBODY = ["join", "pulsar_lose_receipts"];
const BY_STATE = {
  live: ["pause", "acks", "slow", "crash", "leave"], waiting: ["pause", "acks", "slow", "crash", "leave"],
  slow: ["resume", "pause", "acks", "crash", "leave"], paused: ["resume", "acks", "crash", "leave"],
  crashed: ["rejoin", "leave"], gone: ["rejoin", "leave"],
};

// kinds: {kind: [its arguments]} of the registry. -> [{id, text, about, key, order: {kind, consumer?, args?}}]
export function verbsOf(lane, chosen, kinds, say) {
  const consumer = chosen === null ? null : lane.consumers[chosen], known = lane.pulsar.consumers[chosen];
  const ofConsumer = consumer
    ? [
        ...(BY_STATE[consumer.state] ?? []),
        ...(known?.connected && !["crashed", "gone"].includes(consumer.state)
          ? ["pulsar_redeliver", "pulsar_unsubscribe"]
          : []),
      ]
    : [];
  const wanted = ["join", ...(lane.pulsar.producer ? ["pulsar_lose_receipts"] : []), ...ofConsumer];
  const acks = known?.holds_acks ? "pulsar_release_acks" : "pulsar_hold_acks";
  return wanted
    .map((kind) => (kind === "acks" ? acks : kind))
    .filter((kind) => kind in kinds)
    .map((kind) => ({
      id: kind, text: say(`subscription.verb.${kind === "resume" && consumer.state === "slow" ? "full_speed" : kind}`),
      about: say(`subscription.verb_about.${kind}`), key: KEYS[kind],
      order: OF_NOBODY.includes(kind) ? { kind } : { kind, consumer: chosen },
    }));
}

export function chosenWords(lane, chosen, say) {
  return chosen === null
    ? say(lane.order.length ? "subscription.choose" : "subscription.choose_none")
    : say("subscription.chosen", { consumer: chosen });
}
