// What of a virtual host is worth drawing: an exchange that every virtual host has is there only while somebody uses
// it, and the default exchange's own bindings, one for each queue, only with it.

const isOfServer = (name) => name === "" || name.startsWith("amq.");

// graph: a virtual host of the panel. also: names of exchanges to draw in any case. -> the same, without the unused.
export function shownOf(graph, also = []) {
  const used = new Set(also);
  for (const { exchange } of Object.values(graph.publishes)) used.add(exchange);
  for (const { exchange } of Object.values(graph.dead_letters)) used.add(exchange);
  for (const { exchange } of Object.values(graph.returns)) used.add(exchange);
  for (const { alternate } of Object.values(graph.exchanges)) used.add(alternate || null);
  for (const { source, kind, destination } of Object.values(graph.bindings)) {
    if (source) used.add(source);
    if (kind === "exchange") used.add(destination);
  }
  const kept = (all, isKept) => Object.fromEntries(Object.entries(all).filter(([name, each]) => isKept(name, each)));
  const exchanges = kept(graph.exchanges, (name) => !isOfServer(name) || used.has(name));
  return { ...graph, exchanges, bindings: kept(graph.bindings, (_, { source }) => source in exchanges) };
}

// Of many consumers the graph has those that are named (lane/fold.js); all others of a queue are one node, with `more`,
// how many they are, `holding`, how many of them have messages, and `of`, their names. named: null for all.
export function foldedOf(graph, named) {
  if (named === null) return graph;
  const consumers = {}, rest = new Map(), first = new Set(named);
  for (const [id, each] of Object.entries(graph.consumers)) {
    if (first.has(each.name)) consumers[id] = each;
    else (rest.get(each.queue) ?? rest.set(each.queue, []).get(each.queue)).push([id, each]);
  }
  for (const [queue, others] of rest) {
    if (others.length === 1) {
      const [[id, only]] = others;
      consumers[id] = only;
    } else {
      const all = others.map(([, each]) => each), sum = (total, { unacked }) => total + unacked;
      consumers[`\n${queue}`] = {
        name: "", queue, more: all.length, of: all.map(({ name }) => name), unacked: all.reduce(sum, 0),
        holding: all.filter(({ unacked }) => unacked).length, is_active: true, is_gone: false,
      };
    }
  }
  return { ...graph, consumers };
}

// A cheap summary of which nodes and edges there are: while it is the same, so is the order of the columns.
export const shapeOf = (graph) =>
  JSON.stringify([
    Object.keys(graph.publishers), Object.keys(graph.exchanges), Object.keys(graph.queues),
    Object.entries(graph.consumers).map(([id, { queue }]) => [id, queue]), Object.keys(graph.bindings),
    Object.entries(graph.publishes).map(([id, { exchange }]) => [id, exchange]),
  ]);
