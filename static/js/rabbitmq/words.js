// What the page says of a server: the story in its head, the graph's labels, permissions, and what it has answered.

import { number, rateText, sentences } from "../base/say.js";
import { BROKEN, IDLE, WAITING } from "../lane/importance.js";
import { messageName } from "./path_words.js";
import { droppedTexts, flowTexts, flowsOf, isSilent, refusalsOf } from "./flows.js";
import { byGrowth, losesOf, lossOf, namesOf, readersOf, whyWords } from "./queues.js";
import { shareWords } from "./hashed.js";
import { shown } from "./tried.js";

// A second and more: what an exchange drops or a queue refuses.
const DROPPED_LEAST = 0.1;

// -> [what happens, what it means, how important it is].
export function story(panel, graph, rates, say) {
  if (!panel.is_running) return [say("topology.head.down"), diskWords(panel, say), BROKEN];
  const [resource] = panel.alarms;
  if (resource) {
    const what = say("topology.head.alarm", { resource: say(`topology.resource.${resource}`) });
    return [what, say("topology.sub.alarm"), BROKEN];
  }
  const queues = byGrowth(graph, rates), [first] = queues;
  if (!first) return [say("topology.head.nothing", { vhost: graph.vhost }), say("topology.sub.nothing"), IDLE];
  if (first.growing) return [...growing(panel, graph, first, rates, say), WAITING];
  const left = queues.find(({ name, ready, is_delay: isDelay }) => ready && !isDelay && !readersOf(graph, name).length);
  const flows = flowsOf(panel, graph.vhost);
  const flow = sentences([...refusedTexts(panel, graph, say), ...flowTexts(flows, rates, say)]);
  const dropping = Object.entries(flows.exchanges).find(([, { dropped }]) => dropped >= DROPPED_LEAST);
  if (dropping) {
    const [name, { dropped }] = dropping, rate = rateText(dropped);
    return [say("topology.head.dropped", { exchange: name || say("topology.default"), rate }), flow, WAITING];
  }
  if (left) return [say("topology.head.left", { queue: left.name, count: left.ready }), flow, WAITING];
  const [refusing] = refusalTexts(rates, say);
  if (refusing) return [refusing, flow, WAITING];
  const lossy = queues.find((queue) => losesOf(queue, rates[queue.name]));
  if (lossy) {
    const rate = rateText(losesOf(lossy, rates[lossy.name]));
    return [say(`topology.head.${lossOf(graph, lossy)}`, { queue: lossy.name, rate }), flow, WAITING];
  }
  const [refused] = refusedTexts(panel, graph, say);
  if (refused) return [refused, sentences(flowTexts(flows, rates, say)), WAITING];
  if (isSilent(panel, flows)) {
    const count = queues.reduce((sum, { ready }) => sum + ready, 0);
    const means = sentences([flow, say("topology.sub.waiting", { count })].filter(Boolean));
    return [say("topology.head.silent"), means, WAITING];
  }
  const full = queues.find(({ is_full: isFull }) => isFull);
  if (full) return [say("topology.head.full", { queue: full.name }), flow, WAITING];
  const changed = queues.find(({ ready, has_changed: hasChanged }) => hasChanged && ready);
  if (changed) return [say("topology.head.changed", { queue: changed.name, count: changed.ready }), flow, WAITING];
  return [say("topology.head.well", { count: queues.length }), flow, IDLE];
}

// By name of the queue, those that refuse what comes to them.
const refusalTexts = (rates, say) =>
  Object.entries(rates).flatMap(([queue, own]) =>
    refusalsOf(own).filter(([, rate]) => rate >= DROPPED_LEAST).map(([code, rate]) =>
      say(`topology.head.${code}`, { queue, rate: rateText(rate) })));

// What a server that is down comes back with: of one, the picture has what is on its disk.
function diskWords({ vhosts }, say) {
  const queues = Object.values(vhosts).flatMap((graph) => Object.values(graph.queues));
  const messages = queues.reduce((sum, { ready }) => sum + ready, 0);
  return say(queues.length ? "topology.sub.down" : "topology.sub.down_empty", { queues: queues.length, messages });
}

// What the server refused a publisher, which a row of the consumers does not say.
const refusedTexts = ({ refused }, { publishers }, say) =>
  Object.values(publishers).filter(({ name }) => name in refused)
    .map(({ name }) => say("topology.sub.refused", { program: name, reply: refused[name] }));

function growing(panel, graph, queue, rates, say) {
  const rate = rates[queue.name];
  const why = whyWords(graph, queue, say), names = namesOf(graph, queue.growing_by).join(say("list.comma"));
  const head = (rate?.growth ?? 0) >= 0.05
    ? say("topology.head.grows", { queue: queue.name, rate: rateText(rate.growth), why })
    : say("topology.head.grew", { queue: queue.name, why });
  const cure = say(`topology.cure.${queue.growing}`, { consumers: names });
  const flows = flowsOf(panel, graph.vhost);
  const also = [...refusedTexts(panel, graph, say), ...droppedTexts(flows, say), ...refusalTexts(rates, say)];
  if (!rate) return [head, sentences([cure, ...also])];
  const flow = say("topology.sub.flow", { in: rateText(rate.in), acked: rateText(rate.acked) });
  return [head, sentences([flow, cure, ...also])];
}

// For graph.js.
export const graphWords = (say) => ({
  heads: Object.fromEntries(
    ["publisher", "exchange", "queue", "consumer"].map((kind) => [kind, say(`topology.column.${kind}`)]),
  ),
  key: (edge, graph) => keyWords(edge, graph, say),
  deadLetter: ({ reasons }) =>
    Object.entries(reasons).filter(([, count]) => count)
      .map(([reason, count]) => say(`topology.dropped.${reason}`, { count })).join(say("list.comma")) ||
    say("topology.dead_letters"),
  returned: ({ routing_key: key, returned }) => say("topology.returned", { key: key || "“”", count: returned }),
  nobody: () => say("topology.nobody"),
  real: () => say("client.real"),
  type: ({ type }) => type,
  auto: () => say("topology.auto_ack"),
  more: (count) => say("picture.more", { count }),
  holding: ({ holding, unacked }) => say("topology.holding", { holding, unacked }),
  dropped: ({ dropped }) => say("topology.exchange_dropped", { count: dropped }),
  nacked: ({ nacked }) => say("topology.nacked", { count: nacked }),
});

// What a binding asks for: its key, or of a headers exchange its arguments.
export function bindingKey({ routing_key: key, arguments: wanted }) {
  const pairs = Object.entries(wanted).map(([name, value]) => (value === null ? name : `${name}=${shown(value)}`));
  return [key, ...pairs].filter(Boolean).join(" ");
}

// The same with the share of a consistent-hash exchange's messages that its weight is.
const keyWords = (edge, graph, say) => [bindingKey(edge), shareWords(edge, graph, say)].filter(Boolean).join(" · ");

// What a user may do in a virtual host.
export function mayWords(panel, user, vhost, say) {
  const known = panel.users[user], patterns = known?.permissions[vhost];
  if (!patterns) return say("topology.may_nothing", { user, vhost });
  const of = (what) => patterns[what] || say("topology.may_none");
  const may = say("topology.may", { user, configure: of("configure"), write: of("write"), read: of("read") });
  const topics = Object.entries(known.topic_permissions[vhost] ?? {}).map(([exchange, keys]) => {
    const patterns = { write: keys.write || say("topology.may_none"), read: keys.read || say("topology.may_none") };
    return say("topology.may_topics", { exchange, user, ...patterns });
  });
  return sentences([may, ...topics]);
}

// What `rabbitmqctl` would have done, each a turning point of the server.
const CONTROLLED = [
  "permissions", "topic_permissions", "user", "change_user", "delete_user", "vhost", "delete_vhost", "import",
];

// A turning point of the operator's connection or of the server, in words; null for any other. -> {text, isBad}
export function answerWords({ kind, inputs, data }, say) {
  const verb = say(`topology.form.${data?.verb}`);
  if (kind === "rabbitmq.operator.refused") {
    const reply = `${inputs.reply_code} ${inputs.reply_text}`;
    return { text: say("topology.answer.refused", { verb, reply }), isBad: true };
  }
  const controlled = CONTROLLED.find((one) => kind === `rabbitmq.server.${one}`);
  if (controlled) {
    const verb = say(`topology.form.${controlled}`), more = sentences(leftOutWords(data?.left_out ?? {}, say));
    return { text: say(more ? "topology.answer.done_but" : "topology.answer.done", { verb, more }), isBad: false };
  }
  // An import is answered by the server as a whole: what it declares in each virtual host is no answer of its own.
  if (kind !== "rabbitmq.operator.answered" || data.verb === "import") return null;
  if (data.verb === "get") return { text: gotWords(data, say), isBad: false };
  if (data.verb === "publish") {
    const way = ["nacked", "returned", "unrouted"].find((one) => data[one]) ?? "published";
    const to = { key: data.routing_key, exchange: data.exchange || say("topology.default") };
    return { text: say(`topology.answer.${way}`, to), isBad: way !== "published" };
  }
  if (data.verb === "declare_queue" && data.queue) {
    return { text: say("topology.answer.declared", { verb, queue: data.queue }), isBad: false };
  }
  const counted = data.verb === "purge" || data.verb === "delete_queue";
  const code = counted ? "topology.answer.count" : "topology.answer.done";
  return { text: say(code, { verb, count: data.count ?? 0 }), isBad: false };
}

// What an imported file has and this broker lacks, by name.
function leftOutWords(leftOut, say) {
  return Object.entries(leftOut).map(([section, names]) =>
    say(`topology.left_out.${section}`, { names: names.join(say("list.comma")) }));
}

function gotWords(data, say) {
  if (data.empty) return say("topology.answer.empty", { queue: data.name });
  return say(data.redelivered ? "topology.answer.got_again" : "topology.answer.got", {
    message: data.message < 0 ? say("client.message") : messageName(data.message, data.by_hand, say),
    key: data.routing_key, left: data.left,
  });
}

// What a consumer holds of its prefetch count: with auto-ack it has no window.
function heldWords({ no_ack: noAck, unacked, prefetch_count: most }, say) {
  if (noAck) return say("topology.auto_ack");
  return most ? `${number(unacked)}/${number(most)}` : number(unacked);
}

// Tables in place of the graph: every way of a message, a row each.
export function waysTable(graph, say) {
  const program = (id) => graph.publishers[id]?.name ?? id, name = (exchange) => exchange || "“”";
  const rows = [
    ...Object.values(graph.publishes).map((edge) => [
      say("topology.way.publish"), program(edge.publisher), "", name(edge.exchange), number(edge.published),
    ]),
    ...Object.values(graph.bindings).map((edge) => [
      say("topology.way.binding"), name(edge.source), keyWords(edge, graph, say), edge.destination, number(edge.routed),
    ]),
    ...Object.values(graph.exchanges).filter(({ alternate }) => alternate).map((each) => [
      say("topology.way.alternate"), name(each.name), "", each.alternate, "",
    ]),
    ...Object.values(graph.exchanges).filter(({ dropped }) => dropped).map((each) => [
      say("topology.way.dropped"), name(each.name), "", "", number(each.dropped),
    ]),
    ...Object.values(graph.queues).filter(({ refused, nacked }) => refused > nacked).map((each) => [
      say("topology.way.refused_silently"), each.name, "", "", number(each.refused - each.nacked),
    ]),
    ...Object.values(graph.queues).filter(({ nacked }) => nacked).map((each) => [
      say("topology.way.refused"), each.name, "", "", number(each.nacked),
    ]),
    ...Object.values(graph.publishers).filter(({ nacked }) => nacked).map((each) => [
      say("topology.way.nacked"), "", "", each.name, number(each.nacked),
    ]),
    ...Object.values(graph.consumers).map((each) => [
      say("topology.way.consume"), each.queue, "", each.name, heldWords(each, say),
    ]),
    ...Object.values(graph.dead_letters).map((edge) => [
      say("topology.way.dead_letter"), edge.queue, edge.routing_key, name(edge.exchange),
      number(Object.values(edge.reasons).reduce((sum, count) => sum + count, 0)),
    ]),
    ...Object.values(graph.returns).map((edge) => [
      say("topology.way.return"), name(edge.exchange), edge.routing_key, program(edge.publisher), number(edge.returned),
    ]),
  ];
  return { head: ["what", "from", "key", "to", "count"].map((column) => say(`topology.twin.${column}`)), rows };
}
