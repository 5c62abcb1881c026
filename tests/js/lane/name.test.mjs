// What lanes are called: by model, by way, by id.
import assert from "node:assert/strict";
import test from "node:test";

import { speaker } from "../../../static/js/base/say.js";
import { laneName, laneTitle, tabNames } from "../../../static/js/lane/name.js";

const words = {
  "model.kafka": "Kafka", "lane.kafka": "Kafka group", "kafka.range": "Range", "kafka.sticky": "Sticky",
  "way.kafka.server_uniform": "KIP-848, uniform", "model.pulsar": "Pulsar", "lane.pulsar.Shared": "Pulsar Shared",
  "pulsar.shared": "Shared",
};
const say = speaker(words);
const name = (id, lane) => laneName(id, { lanes: { [id]: lane } }, say);

test("a comparison's lane is called by its way, any other by its id", () => {
  assert.equal(name("kafka", { model: "kafka", algorithm: "range" }), "Kafka");
  assert.equal(name("kafka-range", { model: "kafka", algorithm: "range" }), "Kafka Range");
  assert.equal(name("kafka-server_uniform", { model: "kafka", algorithm: "range" }), "Kafka KIP-848, uniform");
  assert.equal(name("kafka-range", { model: "kafka", algorithm: "sticky" }), "Kafka kafka-range");
  assert.equal(name("kafka-mine", { model: "kafka", algorithm: "range" }), "Kafka kafka-mine");
});

test("its title says the type of a subscription once, and its tab the way alone", () => {
  const lane = { model: "pulsar", algorithm: "shared", picture: { type: "Shared" } };
  const view = { lane_order: ["pulsar-shared", "own"], lanes: { "pulsar-shared": lane, own: lane } };
  assert.equal(laneTitle("pulsar-shared", view, say), "Pulsar Shared");
  assert.equal(laneTitle("own", view, say), "Pulsar Shared own");
  assert.deepEqual(tabNames(view, words), { "pulsar-shared": "Shared", own: "own" });
});
