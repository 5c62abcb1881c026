// The table of queues, the one that grows most first, and what it says of why it grows.

import { inTurn, number, rateText } from "../base/say.js";
import { fewOf } from "../lane/fold.js";
import { refusalsOf } from "./flows.js";
import { shown } from "./tried.js";

export const namesOf = (graph, ids) => ids.map((id) => graph.consumers[id]?.name ?? id);

// Queues by growth, then by what waits, then by name.
export function byGrowth(graph, rates) {
  const growth = ({ name, growing }) => (growing ? Math.max(rates[name]?.growth ?? 0, 0.001) : 0);
  return Object.values(graph.queues).sort(
    (one, other) => growth(other) - growth(one) || other.ready - one.ready || (one.name < other.name ? -1 : 1),
  );
}

// A second and more: what left the queue without an acknowledgement, as it was dropped, dead-lettered or purged; not
// of a delay queue, whose messages are meant to expire.
const LOST_LEAST = 0.5;
export const losesOf = ({ is_delay: isDelay }, rate) =>
  (!isDelay && (rate?.lost ?? 0) >= LOST_LEAST ? rate.lost : 0);

// What becomes of what a queue gives up.
export const lossOf = (graph, { dead_letters_to: exchange }) =>
  (exchange !== null && exchange in graph.exchanges ? "dead_letters" : "drops");

export const readersOf = (graph, name) => Object.entries(graph.consumers).filter(([, { queue }]) => queue === name);

function fewWords(all, say) {
  const { names, more } = fewOf(inTurn(all), say);
  return [names.join(say("list.comma")), more].filter(Boolean).join(" ");
}

export function whyWords(graph, queue, say) {
  return queue.growing
    ? say(`queue.growing.${queue.growing}`, { consumers: fewWords(namesOf(graph, queue.growing_by), say) })
    : "";
}

// -> [{key, isChosen, cells: [text or {text, names, tone}]}] for `createRows`.
export function queueRows(graph, rates, chosen, say) {
  return byGrowth(graph, rates).map((queue) => {
    const { name } = queue, rate = rates[name], readers = readersOf(graph, name);
    return {
      key: name, isChosen: chosen?.kind === "queue" && chosen.name === name,
      cells: [
        name, { text: kindWords(queue, say), look: "m s wrap kind" }, number(queue.ready), number(queue.unacked),
        perSecond(rate?.in), ackedCell(rate, readers, say),
        readers.length
          ? { ...fewOf(inTurn(readers.map(([, { name: own }]) => own)), say), look: "wrap of" }
          : { text: say("topology.none"), look: "m of" },
        { text: whyCell(graph, queue, rate, say), look: queue.growing ? "wa b wrap why" : "m wrap why" },
      ],
    };
  });
}

// Without an acknowledgement to wait for, the server counts a message as done when it has sent it.
function ackedCell(rate, readers, say) {
  const isAuto = readers.length > 0 && readers.every(([, { no_ack: noAck }]) => noAck);
  return isAuto && rate ? say("topology.settled.auto", { rate: rateText(rate.acked) }) : perSecond(rate?.acked);
}

const perSecond = (rate) => (rate === undefined ? "–" : rate.toFixed(1));

function whyCell(graph, queue, rate, say) {
  if (queue.growing) {
    const why = whyWords(graph, queue, say), growth = rate?.growth ?? 0;
    return growth >= 0.05 ? say("topology.grows", { rate: rateText(growth), why }) : say("topology.grew", { why });
  }
  const letters = Object.values(graph.dead_letters).filter((edge) => edge.queue === queue.name);
  const reasons = letters.flatMap(({ reasons: own }) => Object.entries(own)).filter(([, count]) => count);
  if (queue.is_delay && queue.ready) {
    return say("topology.delays", { exchange: queue.dead_letters_to || say("topology.default") });
  }
  const lost = losesOf(queue, rate), lostText = () => say(`topology.rate.${lossOf(graph, queue)}`, {
    rate: rateText(lost),
  });
  const texts = [
    ...refusalsOf(rate).map(([code, refused]) => say(`topology.rate.${code}`, { rate: rateText(refused) })),
    ...(!reasons.length && lost ? [lostText()] : []),
    ...reasons.map(([reason, count]) => say(`topology.dropped.${reason}`, { count })),
  ];
  return !texts.length && queue.is_full ? say("topology.full") : texts.join(say("list.comma"));
}

// How it was declared: durable or not, whose, and its arguments.
export function kindWords(queue, say) {
  const flags = ["exclusive", "auto_delete"].filter((flag) => queue[flag]);
  return [
    say(queue.durable ? "topology.kind.durable" : "topology.kind.transient"),
    ...flags.map((flag) => say(`topology.kind.${flag}`)),
    ...Object.entries(queue.arguments).map(([name, value]) => `${name}=${shown(value)}`),
  ].join(say("list.comma"));
}
