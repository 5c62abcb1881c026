// Many consumers in the exchange graph: those that are named, and one node for all others of a queue.
import assert from "node:assert/strict";
import test from "node:test";

import { handedOver } from "../../../static/js/rabbitmq/dots.js";
import { layout } from "../../../static/js/rabbitmq/graph.js";
import { queueRows } from "../../../static/js/rabbitmq/queues.js";
import { foldedOf } from "../../../static/js/rabbitmq/shown.js";
import { graphWords } from "../../../static/js/rabbitmq/words.js";
import { check } from "../pulsar/known.mjs";
import { ORDERS } from "./known.mjs";

const say = (code, params) => `${code} ${JSON.stringify(params ?? {})}`;

function crowd(count) {
  const [queue] = Object.keys(ORDERS.queues), [like] = Object.values(ORDERS.consumers);
  const consumers = Object.fromEntries(Array.from({ length: count }, (_, at) => [
    `c${at + 1}-1`, { ...like, name: `c${at + 1}`, queue, unacked: at % 4 ? 0 : 2 },
  ]));
  return { graph: { ...ORDERS, consumers }, queue };
}

for (const count of [128, 512]) {
  test(`of ${count} consumers twelve are nodes, and one node counts all others`, () => {
    const { graph, queue } = crowd(count), named = Array.from({ length: 12 }, (_, at) => `c${at * 5 + 1}`);
    const folded = foldedOf(graph, named), nodes = Object.values(folded.consumers);
    const rest = nodes.find(({ more }) => more);
    assert.deepEqual(nodes.filter(({ more }) => !more).map(({ name }) => name), named);
    assert.equal(rest.more + named.length, count);
    const sum = (all) => all.reduce((total, { unacked }) => total + unacked, 0);
    assert.equal(sum(nodes), sum(Object.values(graph.consumers)));
    assert.equal(rest.holding, Object.values(graph.consumers).filter(({ name, unacked }) =>
      unacked && !named.includes(name)).length);
    const { shapes, height } = layout(folded, { width: 854, colorOf: () => 1, words: graphWords(say) });
    check(shapes);
    assert.ok(height < 1200, `${height}`);
    assert.ok(shapes.some(({ text }) => text === `picture.more {"count":${count - 12}}`));
    const steps = [["c1", "deliver"], ["c2", "deliver"]].map(([program, kind]) => ({ program, queue, kind, at_us: 5 }));
    const ways = handedOver({ of: { 7: { steps } } }, folded, 0).map(({ way }) => way);
    assert.deepEqual(ways, ["consume:c1-1", `consume:\n${queue}`], "also a message of one without a node is drawn");
  });
}

test("nothing is folded where all are named, and one alone is no others", () => {
  const { graph } = crowd(13);
  assert.equal(foldedOf(graph, null), graph);
  assert.deepEqual(foldedOf(graph, Array.from({ length: 12 }, (_, at) => `c${at + 1}`)).consumers, graph.consumers);
});

test("a queue's row names three of many readers and says how many more there are", () => {
  const { graph, queue } = crowd(512);
  const cell = queueRows(graph, {}, null, say).find(({ key }) => key === queue).cells[6];
  assert.deepEqual([cell.names, cell.more], [["c1", "c2", "c3"], 'picture.more {"count":509}']);
});
