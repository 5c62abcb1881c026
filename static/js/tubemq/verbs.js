// What one can do to the chosen client: the lab's verbs of a consumer.

const BY_STATE = {
  live: ["pause", "slow", "crash", "leave"], waiting: ["pause", "slow", "crash", "leave"],
  slow: ["resume", "pause", "crash", "leave"], paused: ["resume", "crash", "leave"],
  crashed: ["rejoin", "leave"], gone: ["rejoin", "leave"],
};
const KEYS = { join: "A", pause: "Z", resume: "Z", slow: "W", full_speed: "W", crash: "X", rejoin: "B", leave: "L" };

// -> [{id, text, about, key, order}] for `createVerbs`.
export function verbsOf(lane, chosen, say) {
  const consumer = chosen === null ? null : lane.consumers[chosen];
  const orders = [
    { kind: "join" },
    ...(consumer ? (BY_STATE[consumer.state] ?? []).map((kind) => ({ kind, consumer: chosen })) : []),
  ];
  return orders.map((order) => {
    const id = order.kind, shown = id === "resume" && consumer.state === "slow" ? "full_speed" : id;
    const [text, about] = ["verb", "verb_about"].map((family) => say(`balance.${family}.${shown}`));
    return { id, order, text, about, key: KEYS[shown] };
  });
}
