// What an operator orders at the controller: a topic, more partitions of one, other replicas for the large partition,
// an election.

export const KEYS = {
  create_topic: "N", add_partitions: "A", reassign: "M", elect: "E", elect_unclean: "U", start_writer: "W",
};

// The order of each verb, for the partition that is looked at. -> {kind, args}
export function orderOf(verb, name, values = {}) {
  const partition =
    name === null
      ? {}
      : { topic: name.slice(0, name.lastIndexOf("-")), partition: Number(name.slice(name.lastIndexOf("-") + 1)) };
  switch (verb) {
    case "create_topic":
      return { kind: "cluster_create_topic", args: values };
    case "add_partitions":
      return { kind: "cluster_add_partitions", args: { topic: partition.topic, count: values.count } };
    case "reassign":
      return { kind: "cluster_reassign", args: { ...partition, replicas: values.replicas } };
    case "start_writer":
      return { kind: "cluster_start_writer", args: { writer: values.writer, topic: partition.topic } };
    default:
      return { kind: "cluster_elect", args: { ...partition, unclean: verb === "elect_unclean" } };
  }
}

// "4, 2 5" -> [4, 2, 5]; what is no number stays as it is, so that the server says what is wrong with it.
export const brokersOf = (text) =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((word) => (/^\d+$/.test(word) ? Number(word) : word));
// Likewise a number, of which -1 is one.
export const whole = (text) => (/^-?\d+$/.test(text.trim()) ? Number(text) : text);
// What a topic sets for its own logs, of the texts in a form: one that is empty sets nothing.
export const settingsOf = (texts) =>
  Object.fromEntries(texts.filter(([, text]) => text.trim()).map(([name, text]) => [name, whole(text)]));

const WRITERS_MAX = 8;

// The number of the next writer; null: there are as many as there may be.
export function nextWriter(cluster) {
  const taken = Object.keys(cluster.clients)
    .map((name) => name.match(/^writer-(\d+)$/)?.[1])
    .filter(Boolean)
    .map(Number);
  return Array.from({ length: WRITERS_MAX }, (_, place) => place + 1).find((number) => !taken.includes(number)) ?? null;
}

// Which of the verbs make sense now: nobody is elected uncleanly where somebody leads, and a writer has another topic
// than the lane's own.
// name: of the partition that is looked at, or null.
export function offered(cluster, name) {
  if (name === null) return ["create_topic"];
  const isOwn = name.slice(0, name.lastIndexOf("-")) === cluster.topic;
  const isLed = cluster.partitions[name].state !== "offline";
  return Object.keys(KEYS).filter((verb) =>
    verb === "elect_unclean" ? !isLed : verb === "start_writer" ? !isOwn && nextWriter(cluster) !== null : true,
  );
}
