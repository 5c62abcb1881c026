// In which order the nodes of each column stand, so that few lines cross: dagre's, which knows nothing of columns of
// ours; its ranks are not used. A binding from exchange to exchange stays within a column and does not count.

import { Graph, layout as arrange } from "../../vendor/dagre/dagre.esm.js";

const SIZE = { width: 100, height: 40 };

// Ids of the graph, which no name can confuse.
export const idOf = (kind, name) => `${kind}:${name}`;

// view: the topology. -> {publisher, exchange, queue, consumer}: names of each column from top to bottom.
export function ordered(view) {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 10, ranksep: 80 });
  graph.setDefaultEdgeLabel(() => ({}));
  const columns = {
    publisher: view.publishers, exchange: view.exchanges, queue: view.queues, consumer: view.consumers,
  };
  for (const [kind, nodes] of Object.entries(columns)) {
    for (const name of Object.keys(nodes)) graph.setNode(idOf(kind, name), { ...SIZE });
  }
  const join = (from, to, id) => {
    if (graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to, {}, id);
  };
  for (const [id, edge] of Object.entries(view.publishes)) {
    join(idOf("publisher", edge.publisher), idOf("exchange", edge.exchange), id);
  }
  for (const [id, edge] of Object.entries(view.bindings)) {
    if (edge.kind === "queue") join(idOf("exchange", edge.source), idOf("queue", edge.destination), id);
  }
  for (const [id, { queue }] of Object.entries(view.consumers)) join(idOf("queue", queue), idOf("consumer", id), id);
  arrange(graph);
  const heightOf = (kind, name) => graph.node(idOf(kind, name)).y;
  return Object.fromEntries(
    Object.entries(columns).map(([kind, nodes]) => [
      kind,
      Object.keys(nodes).sort((one, other) => heightOf(kind, one) - heightOf(kind, other) || (one < other ? -1 : 1)),
    ]),
  );
}
