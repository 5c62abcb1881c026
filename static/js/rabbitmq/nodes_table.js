// The nodes of the exchange graph as a table, one a row, with all that the graph shows of each: ways have a table of
// their own (words.js: waysTable).

import { number } from "../base/say.js";
import { kindWords, readersOf, whyWords } from "./queues.js";
import { shown } from "./tried.js";

// graph: a virtual host of the panel, as it is shown. -> {head, rows}
export function nodesTable(graph, say) {
  const rows = [
    ...Object.values(graph.publishers).map((each) => [
      say("topology.node.publisher"), each.name, say("topology.node.of_user", { user: each.user }),
      each.is_blocked ? say("topology.node.blocked") : "", say("topology.node.published", { count: each.published }),
    ]),
    ...Object.values(graph.exchanges).map((each) => [
      say("topology.exchange"), each.name || "“”", exchangeWords(each, say), "",
      say("topology.node.published", { count: each.published }),
    ]),
    ...Object.values(graph.queues).map((each) => [
      say("topology.head_of.queue"), each.name, kindWords(each, say), queueState(graph, each, say),
      say("topology.node.ready", { count: each.ready }),
    ]),
    ...Object.values(graph.consumers).map((each) => [
      say("topology.head_of.consumer"), each.name, windowWords(each, say), consumerState(each, say),
      each.no_ack ? "" : say("topology.node.unacked", { count: each.unacked }),
    ]),
  ];
  return { head: ["node", "name", "kind", "state", "count"].map((column) => say(`topology.twin.${column}`)), rows };
}

// Its type, how it was declared, and its arguments.
function exchangeWords(exchange, say) {
  const flags = ["auto_delete", "internal"].filter((flag) => exchange[flag]);
  return [
    exchange.type, say(exchange.durable ? "topology.kind.durable" : "topology.kind.transient"),
    ...flags.map((flag) => say(`topology.kind.${flag}`)),
    ...Object.entries(exchange.arguments ?? {}).map(([name, value]) => `${name}=${shown(value)}`),
  ].join(say("list.comma"));
}

function queueState(graph, queue, say) {
  if (queue.growing) return whyWords(graph, queue, say);
  return readersOf(graph, queue.name).length ? "" : say("topology.nobody");
}

function windowWords({ no_ack: noAck, prefetch_count: most }, say) {
  if (noAck) return say("topology.auto_ack");
  return most ? say("topology.node.prefetch", { count: number(most) }) : say("topology.node.no_limit");
}

function consumerState({ is_gone: isGone, is_active: isActive }, say) {
  if (isGone) return say("state.crashed");
  return say(isActive ? "topology.state.consumes" : "topology.state.standby");
}
