// What of a lane can be asked about: all that its pictures name. For the panel's list, by which everything is reached
// without a mouse.

const FIGURES = ["moved", "paused", "redelivered", "out_of_order", "skew", "waiting"];
export const TOTALS = ["moved", "paused", "redelivered", "out_of_order", "lost"];
const NAMED_MAX = 200;
const each = (kind, names) => names.slice(0, NAMED_MAX).map((name) => `${kind}:${name}`);

// -> [[kind, [thing]]], in the order in which a page shows them.
export function thingsOf(lane, id) {
  const { picture } = lane, panels = [];
  if (lane.cluster) {
    const { partitions, brokers } = lane.cluster;
    panels.push(["broker", each("broker", Object.keys(brokers))]);
    panels.push(["replicas", each("replicas", Object.keys(partitions))]);
  }
  if (lane.rabbitmq) {
    const hosts = Object.entries(lane.rabbitmq.vhosts);
    for (const [kind, table] of [["queue", "queues"], ["exchange", "exchanges"]]) {
      const named = hosts.flatMap(([vhost, host]) => Object.keys(host[table]).filter(isOwn).map(at(vhost)));
      panels.push([kind, each(kind, named)]);
    }
  } else if (picture.kind === "queues") panels.push(["queue", each("queue", Object.keys(picture.queues))]);
  else if (picture.kind === "queue" && lane.model === "rabbitmq") panels.push(["queue", [`queue:${picture.name}`]]);
  return [
    ["lane", [`lane:${id}`]], ["consumer", each("consumer", lane.order)],
    ["partition", each("partition", Object.keys(picture.partitions ?? {}))], ...panels,
    ["cursor", each("cursor", Object.keys(lane.pulsar?.cursors ?? {}))],
    ["group", lane.group ? [`group:${lane.group.group_id}`] : []],
    // Figures are of changes among consumers of the lab's own.
    ...(lane.is_open ? [] : [["figure", each("figure", FIGURES)], ["total", each("total", TOTALS)]]),
  ].filter(([, things]) => things.length);
}

const isOwn = (name) => !name.startsWith("amq.");
const at = (vhost) => (name) => (vhost === "/" ? name : `${name}@${vhost}`);
