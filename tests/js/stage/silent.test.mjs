// A crash that nothing has noticed yet is said as long as it goes on, whatever has happened since; who is counted is
// the same everywhere.
import assert from "node:assert/strict";
import test from "node:test";

import { speaker } from "../../../static/js/base/say.js";
import { sub } from "../../../static/js/lane/caption.js";
import { sentence } from "../../../static/js/lane/sentence.js";
import { present } from "../../../static/js/stage/present.js";
import { load, say } from "../fixtures/load.mjs";

const LANES = ["pulsar", "kafka", "tubemq", "rabbitmq"];

function crashed(names, code, params) {
  const view = load("start");
  for (const id of LANES) {
    const { consumers } = view.lanes[id];
    for (const name in consumers) consumers[name].state = names.includes(name) ? "crashed" : "live";
    view.lanes[id].sentence = { code: code(id), params };
  }
  return view;
}

test("after a join each lane still names the crash, before what happened last", () => {
  const view = crashed(["c1"], (id) => `${id}.join`, { consumer: "c3" });
  for (const id of LANES) {
    const said = sentence(view.lanes[id], view, say);
    assert.match(said, /^silent \{"count":1,"who":"c1"\}/, id);
    assert.match(said, new RegExp(`${id}.join`), id);
  }
});

test("of two silent ones only the one is added whom the lane's sentence does not name, " +
  "and none where it names the only one", () => {
  const both = crashed(["c1", "c2"], (id) => `${id}.crash_pending`, { consumer: "c2" });
  const one = crashed(["c2"], (id) => `${id}.crash_pending`, { consumer: "c2" });
  const earlier = crashed(["c1"], (id) => `${id}.crash_noticed`, { consumer: "c1" });
  const heldUp = crashed(["c1"], () => "kafka.held_up", { consumer: "c2", silent: "c1" });
  for (const id of LANES) {
    assert.match(sentence(both.lanes[id], both, say), /^silent \{"count":1,"who":"c1"\}/, id);
    assert.doesNotMatch(sentence(one.lanes[id], one, say), /^silent/, id);
    assert.match(sentence(earlier.lanes[id], earlier, say), /^silent/, id);
    assert.doesNotMatch(sentence(heldUp.lanes[id], heldUp, say), /^silent/, id);
  }
});

test("the line below the title counts a silent consumer, as the brokers do, and says so", () => {
  const view = crashed(["c1"], (id) => `${id}.join`, { consumer: "c2" });
  view.caption = { code: "join", params: { consumer: "c2" } };
  view.consumer_count = 1;
  const words = { "sub.silent": "{consumer_count}, {silent_count} silent", sub: "{consumer_count}" };
  assert.equal(sub(view, speaker(words), false), "2, 1 silent");
  assert.equal(sub(view, speaker(words)), "2, 1 silent sub.lanes", "on a page of all lanes");
  view.lanes.kafka.consumers.c1.state = "live";
  assert.equal(
    sub(view, speaker(words), false),
    "1",
    "alive in one lane, it is among those that are counted already",
  );
});

test("fair counts whom the skew counts: a removed consumer as long as it keeps a share", () => {
  const view = load("start");
  for (const id of LANES) {
    const lane = view.lanes[id], [first] = lane.order, shares = [0.34, 0.42, 0.24];
    lane.order = ["c1", "c2", "c3"];
    lane.consumers = Object.fromEntries(
      lane.order.map((name, place) => [
        name,
        { ...lane.consumers[first], name, state: place ? "live" : "gone", share: shares[place], share_before: null },
      ]),
    );
    const fair = () => present(view, {}, { only: [id], withTwins: false }).lanes[0].slots.fair;
    assert.match(fair(), /^33/, id);
    lane.consumers.c1.share = 0;
    assert.match(fair(), /^50/, id);
  }
});
