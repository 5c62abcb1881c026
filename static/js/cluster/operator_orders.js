// What an operator orders at the controller: a topic, other replicas for the large partition, an election.

export const KEYS = { create_topic: "N", reassign: "M", elect: "E", elect_unclean: "U" };

// The order of each verb, for the partition that is looked at. -> {kind, args}
export function orderOf(verb, name, values = {}) {
  const partition = name === null ? {} : { topic: name.slice(0, name.lastIndexOf("-")), partition: Number(name.slice(name.lastIndexOf("-") + 1)) };
  switch (verb) {
    case "create_topic": return { kind: "cluster_create_topic", args: values };
    case "reassign": return { kind: "cluster_reassign", args: { ...partition, replicas: values.replicas } };
    default: return { kind: "cluster_elect", args: { ...partition, unclean: verb === "elect_unclean" } };
  }
}

// "4, 2 5" -> [4, 2, 5]; what is no number stays as it is, so that the server says what is wrong with it.
export const brokersOf = (text) => text.split(/[\s,]+/).filter(Boolean).map((word) => (/^\d+$/.test(word) ? Number(word) : word));
// Likewise a number.
export const whole = (text) => (/^\d+$/.test(text.trim()) ? Number(text) : text);

// Which of the verbs make sense now: nobody is elected uncleanly where somebody leads. partition: the large one, or null.
export const offered = (partition) => (partition === null ? ["create_topic"] : Object.keys(KEYS).filter((verb) => verb !== "elect_unclean" || partition.state === "offline"));
