// A server has several virtual hosts and the page shows one: which one it begins with, and how its story says where it
// is and what happens elsewhere.

import { sentences } from "../base/say.js";
import { byGrowth, whyWords } from "./queues.js";
import { ratesOf } from "./rates.js";
import { story as storyOf } from "./words.js";

const growingIn = (panel, graph) => byGrowth(graph, ratesOf(panel, graph.vhost)).find(({ growing }) => growing);

// The one that a story would be about: where a queue grows, else where a consumer has died, else the one with the most
// queues. held: the one that is shown, kept while another is not more of a story, or null.
export function vhostOf(panel, held) {
  const rankOf = (graph) => {
    if (panel.is_running && growingIn(panel, graph)) return 2;
    return Object.values(graph.consumers).some(({ is_gone: isGone }) => isGone) ? 1 : 0;
  };
  const ranked = Object.entries(panel.vhosts).map(([name, graph]) => ({
    name, rank: rankOf(graph), size: Object.keys(graph.queues).length,
  }));
  const best = ranked.reduce((first, each) => {
    const isBetter = each.rank > first.rank || (each.rank === first.rank && each.size > first.size);
    return isBetter ? each : first;
  });
  const kept = ranked.find(({ name }) => name === held);
  return kept && kept.rank >= best.rank ? held : best.name;
}

// -> words.js: story, which names the virtual host where there are several with queues, and says what grows elsewhere.
export function story(panel, graph, rates, say) {
  const [head, meaning, ...more] = storyOf(panel, graph, rates, say);
  const others = Object.values(panel.vhosts).filter(({ vhost }) => vhost !== graph.vhost);
  const isOne = others.every(({ queues }) => !Object.keys(queues).length);
  if (!panel.is_running || panel.alarms.length || isOne) return [head, meaning, ...more];
  const elsewhere = others.map((other) => [other, growingIn(panel, other)]).filter(([, queue]) => queue)
    .map(([other, queue]) => say("topology.sub.elsewhere", {
      vhost: other.vhost, queue: queue.name, why: whyWords(other, queue, say),
    }));
  const isNamed = !Object.keys(graph.queues).length;           // an empty one says its name already
  return [
    isNamed ? head : say("topology.head.in_vhost", { vhost: graph.vhost, head }),
    sentences([meaning, ...elsewhere].filter(Boolean)), ...more,
  ];
}
