// What brokers, clients and links are called, and how they are, in few words.

// In which a broker's process is not simply running.
export const STAGES = ["starting", "recovering", "shutting_down", "down", "paused", "crashed"];

export const nodeName = (id) => `broker-${id}`;
export const idOf = (name) => name.slice(name.indexOf("-") + 1);
export const isBroker = (name) => name.startsWith("broker-");
export const topicOf = (partition) => partition.slice(0, partition.lastIndexOf("-"));
export const numberOf = (partition) => Number(partition.slice(partition.lastIndexOf("-") + 1));

// The key of the link between two nodes; undefined: there is none.
export const keyOf = (links, from, to) => [`${from}>${to}`, `${to}>${from}`].find((key) => key in links);

// What is said of a broker in one word: its process, else what the controller thinks of it.
export const stageOf = (broker) =>
  STAGES.includes(broker.stage)
    ? broker.stage
    : broker.disk !== "ok"
      ? `disk_${broker.disk}`
      : broker.is_fenced
        ? "fenced"
        : "running";

export const nodeWords = (name, say) =>
  ["controller", "producer"].includes(name)
    ? say(`cluster.${name}`)
    : isBroker(name)
      ? say("cluster.broker", { broker: Number(idOf(name)) })
      : name;

export const brokerWords = (id, broker, say) =>
  say("cluster.broker_label", {
    broker: Number(id), stage: say(`cluster.stage.${stageOf(broker)}`), count: broker.leads,
  });

// What is said of a client: whether its process runs.
export function clientWords(name, cluster, say) {
  const { kind, condition } = cluster.clients[name];
  const words = kind === "producer" ? nodeWords(name, say) : say("cluster.consumer", { consumer: name });
  return say("list.named", { name: words, what: say(`cluster.stage.${condition}`) });
}

export function linkWords(key, cluster, say) {
  const [one, other] = key.split(">").map((name) => nodeWords(name, say)), { cut } = cluster.links[key];
  const state = cut.length === 2 ? "cut" : cut.length ? "cut_one_way" : "whole";
  return say(`cluster.link.${state}`, { one, other, sender: cut.length ? nodeWords(cut[0], say) : "" });
}

// A link in short: two brokers go by their numbers. ends: its nodes' names.
export function linkName(ends, say) {
  const isNumbered = ends.every(isBroker);
  const short = (name) => (isNumbered ? idOf(name) : nodeWords(name, say));
  return say("cluster.link_name", { one: short(ends[0]), other: short(ends[1]) });
}

// Whom the controller hears of: brokers that run, that it has not fenced, and whose link to it is whole.
export const heardBy = (cluster) =>
  Object.entries(cluster.brokers)
    .filter(([id, { condition, is_fenced: isFenced }]) => {
      const key = keyOf(cluster.links, nodeName(id), "controller");
      return condition === "running" && !isFenced && !cluster.links[key]?.cut.length;
    })
    .map(([id]) => id);
