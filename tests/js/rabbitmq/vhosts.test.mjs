// Of several virtual hosts the page begins with the one that a story is about, and its head says which it is; a server
// to which nothing is published is not said to keep up.
import assert from "node:assert/strict";
import test from "node:test";

import { story, vhostOf } from "../../../static/js/rabbitmq/vhosts.js";
import { load, say } from "../fixtures/load.mjs";

const [WORK] = load("rabbitmq").map(({ lanes }) => lanes.rabbitmq);

// shop and test, the same queue in both; a publisher each.
function server() {
  const panel = structuredClone(WORK.rabbitmq), graph = panel.vhosts["/"];
  panel.vhosts = Object.fromEntries(["shop", "test"].map((vhost) => [vhost, { ...structuredClone(graph), vhost }]));
  panel.history = {};
  panel.flows = { exchanges: {}, programs: {} };
  panel.refused = {};
  for (const each of Object.values(panel.vhosts)) for (const queue of Object.values(each.queues)) {
    Object.assign(queue, { growing: "", growing_by: [], ready: 0 });
  }
  return panel;
}

const grows = (graph) => Object.assign(Object.values(graph.queues)[0], { growing: "at_prefetch", growing_by: [] });
const published = (panel, vhost, rate) => {
  for (const at of [4, 9]) panel.flows.exchanges[at] = { [vhost]: { "": [rate * at, 0, 0] } };
};

test("the page begins where a queue grows, else where a consumer died, else where most queues are", () => {
  const panel = server();
  assert.equal(vhostOf(panel, null), "shop");
  Object.values(panel.vhosts.test.consumers)[0].is_gone = true;
  assert.equal(vhostOf(panel, null), "test");
  grows(panel.vhosts.shop);
  assert.equal(vhostOf(panel, null), "shop");
  grows(panel.vhosts.test);
  assert.equal(vhostOf(panel, null), "shop");
  assert.equal(vhostOf(panel, "test"), "test", "what is shown stays while no other is more of a story");
  panel.vhosts.more = structuredClone(panel.vhosts.shop);
  panel.vhosts.more.queues = { ...panel.vhosts.more.queues, other: Object.values(panel.vhosts.more.queues)[0] };
  assert.equal(vhostOf(panel, "gone"), "more");
});

test("a story of a server with several virtual hosts names its own, and what grows elsewhere", () => {
  const panel = server();
  published(panel, "shop", 5);
  assert.match(story(panel, panel.vhosts.shop, {}, say)[0], /^topology.head.in_vhost .*"vhost":"shop".*head.well/);
  assert.doesNotMatch(story(panel, panel.vhosts.shop, {}, say)[1], /sub.elsewhere/);
  grows(panel.vhosts.test);
  assert.match(story(panel, panel.vhosts.shop, {}, say)[1], /sub.elsewhere .*"vhost":"test".*growing.at_prefetch/);
  assert.match(story(panel, panel.vhosts.test, {}, say)[0], /^topology.head.in_vhost .*"vhost":"test".*head.grew/);
  panel.vhosts.empty = { ...panel.vhosts.shop, vhost: "empty", queues: {}, consumers: {} };
  assert.match(story(panel, panel.vhosts.empty, {}, say)[0], /^topology.head.nothing .*"vhost":"empty"/);
  delete panel.vhosts.test;
  assert.match(story(panel, panel.vhosts.shop, {}, say)[0], /^topology.head.well/, "one alone needs no name");
  panel.is_running = false;
  assert.match(story(panel, panel.vhosts.shop, {}, say)[0], /^topology.head.down/);
});

test("nothing that is published is said, and a publisher that is refused with the server's text", () => {
  const panel = server(), graph = panel.vhosts.shop, told = () => story(panel, graph, {}, say);
  delete panel.vhosts.test;
  assert.match(told()[0], /^topology.head.well/, "without samples nothing is known yet");
  published(panel, "shop", 0);
  Object.values(graph.queues)[0].ready = 3;
  assert.match(told()[0], /^topology.head.silent/);
  assert.match(told()[1], /topology.sub.waiting {"count":3}/);
  assert.doesNotMatch(told()[1], /sub.published/);
  const { name } = Object.values(graph.publishers)[0];
  panel.refused = { [name]: "404 NOT_FOUND - no exchange 'levels' in vhost '/'" };
  assert.match(told()[0], /^topology.sub.refused .*404 NOT_FOUND - no exchange 'levels'/);
  assert.doesNotMatch(told().join(" "), /head.well|sub.published/);
});
