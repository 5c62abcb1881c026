// A consistent-hash exchange in words: what it hashes of a message, the bucket of that, and whose the buckets are.

import { number, percent } from "../base/say.js";
import { shown } from "./tried.js";

// The type's name, as exchange.declare has it.
export const HASHED = "x-consistent-hash";

// hashed: of a row of the server's answer. where: "try" or "path.why".
export function hashWords(where, { by, name, value, is_present: isPresent, hash, bucket, count }, say) {
  if (bucket < 0) return say("topology.try.hash.empty");
  const which = isPresent ? by : "missing", key = by === "key" ? value || "“”" : shown(value);
  const place = { hash: number(hash), bucket: number(bucket), last: number(count - 1) };
  return say(`topology.${where}.hash.${which}`, { name, value: key, ...place });
}

// Of a binding: the buckets that it has, counted from 0.
export function bucketsWords({ first, own }, say) {
  if (!own) return say("topology.buckets.none");
  const ends = { first: number(first), last: number(first + own - 1) };
  return say(own === 1 ? "topology.buckets.one" : "topology.buckets.some", ends);
}

// How much of what comes the destination of a binding gets: its part of all buckets; null where its exchange has none.
export function shareOf(edge, graph) {
  if (graph.exchanges[edge.source]?.type !== HASHED) return null;
  const count = countsOf(graph)[edge.source];
  return count ? edge.buckets / count : 0;
}

// Exchange -> all of its buckets; once for each frame.
const counted = new WeakMap();
function countsOf(graph) {
  if (!counted.has(graph)) {
    const counts = {};
    for (const { source, buckets } of Object.values(graph.bindings)) counts[source] = (counts[source] ?? 0) + buckets;
    counted.set(graph, counts);
  }
  return counted.get(graph);
}

export const shareWords = (edge, graph, say) => {
  const share = shareOf(edge, graph);
  if (share === null) return "";
  return share ? percent(share, share < 0.1 ? 1 : 0) : say("topology.buckets.none");
};
