// The tables in place of the graph: every node and every way, with all that is drawn of it.
import assert from "node:assert/strict";
import test from "node:test";

import { nodesTable } from "../../../static/js/rabbitmq/nodes_table.js";
import { shownOf } from "../../../static/js/rabbitmq/shown.js";
import { waysTable } from "../../../static/js/rabbitmq/words.js";
import { load, say } from "../fixtures/load.mjs";

const LANES = load("rabbitmq").map(({ lanes }) => lanes.rabbitmq), [WORK] = LANES;
const graphs = (lane) => Object.values(lane.rabbitmq.vhosts);

test("the tables have every node of the graph, with all that is drawn of it", () => {
  for (const lane of LANES) for (const graph of graphs(lane).map((each) => shownOf(each))) {
    const { head, rows } = nodesTable(graph, say), count = (kind) => Object.keys(graph[kind]).length;
    for (const row of rows) {
      assert.ok(row.length === head.length && row.every((text) => typeof text === "string"));
      assert.ok(!/undefined|NaN/.test(row.join(" ")));
    }
    const nodes = ["publishers", "exchanges", "queues", "consumers"].reduce((sum, kind) => sum + count(kind), 0);
    assert.equal(rows.length, nodes);
  }
  const graph = structuredClone(WORK.rabbitmq.vhosts["/"]), own = { ...graph.exchanges[""], name: "alone" };
  graph.exchanges = {
    alone: { ...own, type: "headers", durable: true, auto_delete: true, internal: true, arguments: { a: 1 } },
    brief: { ...own, name: "brief", type: "fanout", durable: false, auto_delete: false, internal: false },
  };
  const [publisher] = Object.values(graph.publishers), [first, second, third] = Object.values(graph.consumers);
  Object.assign(publisher, { is_blocked: true, user: "till" });
  Object.assign(first, { is_active: false, prefetch_count: 0 });
  Object.assign(second, { is_gone: true });
  Object.assign(third, { no_ack: true });
  const { rows } = nodesTable(graph, say), of = (name) => rows.find(([, own]) => own === name).join(" | ");
  assert.match(of("alone"), /headers.*kind.durable.*kind.auto_delete.*kind.internal.*a=1/);
  assert.match(of("brief"), /fanout.*kind.transient/);
  assert.doesNotMatch(of("brief"), /auto_delete|internal/);
  assert.match(of(publisher.name), /"user":"till".*node.blocked/);
  assert.match(of(first.name), /node.no_limit.*state.standby/);
  assert.match(of(second.name), /state.crashed/);
  assert.match(of(third.name), /topology.auto_ack/);
  assert.doesNotMatch(of(third.name), /node.unacked/);
});

test("the table gives a consumer with auto-ack no window", () => {
  const graph = structuredClone(WORK.rabbitmq.vhosts["/"]), [first, second] = Object.values(graph.consumers);
  Object.assign(first, { no_ack: true, prefetch_count: 1, unacked: 0 });
  const rows = waysTable(graph, say).rows.filter(([what]) => what.startsWith("topology.way.consume"));
  assert.equal(rows[0].at(-1), "topology.auto_ack {}");
  const { unacked, prefetch_count: most } = second;
  assert.equal(rows[1].at(-1), most ? `${unacked}/${most}` : `${unacked}`);
});
