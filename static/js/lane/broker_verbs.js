// What can be done to a broker of a Kafka cluster, on every page that shows one. Which verbs there are says the server;
// here is how each is written, keyed and sent.

// The key of a verb; one key may stand for two that are never there together.
export const KEYS = {
  stop: "S", crash: "X", pause: "Z", resume: "Z", come_back: "B", cut_link: "C", heal_link: "C", pause_writer: "Z",
  resume_writer: "Z",
};
const SLOW_WRITE_US = 200_000, SLOW_LINK_US = 300_000, SKEW_MS = 60_000;
// A verb that takes another one back is that other one, with the value from before.
const BACK = {
  quick_disk: ["slow_disk", { write_us: 0 }], set_clock: ["skew_clock", { skew_ms: 0 }],
  quick_link: ["slow_link", { delay_us: null }],
};
const VALUES = {
  slow_disk: { write_us: SLOW_WRITE_US }, slow_link: { delay_us: SLOW_LINK_US }, skew_clock: { skew_ms: SKEW_MS },
};

// -> [{id, verb, text, about, key, order: {kind, args}}]
export function brokerVerbs(cluster, id, say) {
  return (cluster.brokers[id]?.verbs ?? []).map((verb) => ({
    id: verb, verb, text: say(`cluster.verb.${verb}`), about: say(`cluster.verb_about.${verb}`), key: KEYS[verb] ?? "",
    order: orderOf(verb, { broker: Number(id) }),
  }));
}

export function orderOf(verb, args) {
  const [kind, values] = BACK[verb] ?? [verb, VALUES[verb]];
  return { kind: `cluster_${kind}`, args: { ...args, ...values } };
}
