// What the page says, its verbs, orders and tables.
import assert from "node:assert/strict";
import test from "node:test";

import {
  brokersOf, nextWriter, offered, orderOf, settingsOf, whole,
} from "../../../static/js/cluster/operator_orders.js";
import { copiesTable, linksList, nodesTable, partitionsTable } from "../../../static/js/cluster/tables.js";
import { chosenTitle, chosenWords, verbsOf } from "../../../static/js/cluster/verbs.js";
import { diedLine, diedWords } from "../../../static/js/cluster/died.js";
import { heardBy } from "../../../static/js/cluster/names.js";
import { cardWords, partitionShort, partitionWords, story } from "../../../static/js/cluster/words.js";
import { say } from "../fixtures/load.mjs";
import { well, sending, unnoticed, moved, back, large, ALL, NAME } from "./known.mjs";

function headline(...given) {
  const { what, means } = story(...given);
  return means ? `${what} ${means}` : what;
}

test("each verb of a broker and a link is an order with its words", () => {
  const alive = verbsOf(well.cluster, "broker-2", say), link = verbsOf(well.cluster, "broker-1>broker-2", say);
  assert.deepEqual(
    alive.map(({ id }) => id),
    ["stop", "pause", "crash", "cut_power", "lose_disk", "slow_disk", "skew_clock", "links"],
  );
  assert.deepEqual(alive[0].order, { kind: "cluster_stop", args: { broker: 2 } });
  assert.deepEqual(link.map(({ id }) => id), ["cut_link", "cut_link-broker-1", "cut_link-broker-2", "slow_link"]);
  assert.deepEqual(link[2].order, {
    kind: "cluster_cut_link", args: { one: "broker-2", other: "broker-1", one_way: true },
  });
  assert.equal(new Set(alive.map(({ key }) => key).filter(Boolean)).size, alive.filter(({ key }) => key).length);
  const half = verbsOf(moved.cluster, "broker-2>broker-3", say);
  assert.deepEqual(half.map(({ id, key }) => [id, key]), [["heal_link", "C"], ["cut_link", ""], ["slow_link", ""]]);
  assert.deepEqual(verbsOf(well.cluster, null, say), []);
});

test("the headline says what the controller has not noticed before what it has", () => {
  assert.match(headline(well.cluster, say), /^cluster.head.healthy/);
  assert.match(headline(unnoticed.cluster, say), /^cluster.head.unnoticed .*"brokers":"1"/);
  assert.match(headline(moved.cluster, say), /^cluster.head.under_replicated/);
  assert.match(headline(large.cluster, say), /^cluster.head.below_min_isr/);
  assert.match(partitionWords(sending.cluster.partitions[NAME], say), /cluster.about.hidden/);
});

test("an under-replicated partition says what one more crash would do", () => {
  const of = (isr, min_isr) =>
    partitionWords({ ...well.cluster.partitions[NAME], state: "under_replicated", isr, min_isr }, say);
  assert.match(of([1, 2], 1), /cluster.about.spare_copies .*"copies":1/);
  assert.match(of([1, 2], 2), /cluster.about.next_refuses .*"min":2/);
  assert.match(of([1], 1), /cluster.about.last_copy/);
  assert.doesNotMatch(partitionWords(well.cluster.partitions[NAME], say), /spare_copies|next_refuses|last_copy/);
});

test("a partition that moves says who has to catch up and who leaves then, and not that all copies are in sync", () => {
  const of = (adding, removing) =>
    partitionWords(
      {
        ...well.cluster.partitions[NAME], replicas: [...well.cluster.partitions[NAME].replicas, ...adding], adding,
        removing,
      },
      say,
    );
  assert.match(of([4], [1]), /cluster.about.moving .*cluster.move.adds_and_removes .*"adding":"4","removing":"1"/);
  assert.match(of([4, 5], []), /cluster.move.adds .*"adding":"4list.comma \{\}5"/);
  assert.match(of([], [3]), /cluster.move.removes .*"removing":"3"/);
  assert.doesNotMatch(of([], []), /cluster.move|about.moving/);
  const moving = structuredClone(well.cluster);
  Object.assign(moving.partitions[NAME], { adding: [4], removing: [] });
  assert.match(headline(moving, say), /cluster.head.moving .*"count":1/);
  const short = { ...moving.partitions[NAME], replicas: [1, 2, 3, 4], isr: [1, 2], state: "under_replicated" };
  assert.match(partitionWords(short, say), /cluster.about.under_replicated .*"count":2,"replicas":3/);
});

test("a card says was, now and what it means", () => {
  const crash = unnoticed.cluster.faults.at(-1), came = back.cluster.faults.find(({ verb }) => verb === "crash");
  assert.match(cardWords(crash, say).means.join(), /cluster.means.without_leader/);
  assert.match(cardWords(came, say).means.join(), /cluster.means.unavailable .*cluster.means.elections/);
  assert.match(cardWords(came, say).title, /cluster.did.crash/);
});

test("tables have a row for each thing that is drawn", () => {
  for (const { cluster } of ALL) {
    const partition = cluster.partitions[NAME];
    for (const [table, count] of [
      [copiesTable(partition, cluster.brokers, say), Object.keys(partition.copies).length],
      [partitionsTable(cluster, say), Object.keys(cluster.partitions).length],
      [nodesTable(cluster, say), Object.keys(cluster.brokers).length],
    ]) {
      assert.equal(table.rows.length, count);
      for (const row of table.rows) {
        assert.ok(
          row.length === table.head.length && row.every((cell) => typeof cell === "string" && cell !== ""),
          JSON.stringify(row),
        );
      }
    }
    assert.equal(linksList(cluster, say).length, Object.keys(cluster.links).length);
  }
});

test("the heading over the actions names what they are about", () => {
  assert.deepEqual(
    [null, "broker-2", "c1"].map((chosen) => chosenTitle(chosen, say)),
    ["cluster.verbs {}", 'cluster.broker {"broker":2}', "c1"],
  );
  assert.match(
    chosenTitle("broker-2>broker-3", (code, params = {}) =>
      code === "cluster.link_name" ? `${params.one}–${params.other}` : say(code, params),
    ),
    /verbs_link .*"2–3"/,
  );
});

test("a card about a link names it in short, and says by how much", () => {
  const card = {
    at_us: 5e6, verb: "slow_link", target: ["broker-2", "broker-3"], amount_us: 200_000, was: {}, now: {}, means: [],
  };
  const title = (more) =>
    cardWords({ ...card, ...more }, (code, params = {}) =>
      code === "cluster.link_name" ? `${params.one}–${params.other}` : say(code, params),
    ).title;
  assert.match(title({}), /^cluster.did.slow_link .*"link":"2–3","amount_us":200000/);
  assert.match(
    title({ verb: "cut_link_one_way", target: ["producer", "broker-3"] }),
    /"one":"cluster.producer \{\}".*"link":"cluster.producer \{\}–cluster.broker/,
  );
});

test("an operator's orders name the partition that is looked at", () => {
  assert.deepEqual(orderOf("elect", "a-b-12"), {
    kind: "cluster_elect", args: { topic: "a-b", partition: 12, unclean: false },
  });
  assert.deepEqual(orderOf("add_partitions", "my-t-0", { count: 9 }), {
    kind: "cluster_add_partitions", args: { topic: "my-t", count: 9 },
  });
  assert.deepEqual(orderOf("reassign", "t-0", { replicas: brokersOf(" 4, 2 x") }).args, {
    topic: "t", partition: 0, replicas: [4, 2, "x"],
  });
  assert.deepEqual(orderOf("create_topic", "t-0", { topic: "n" }), {
    kind: "cluster_create_topic", args: { topic: "n" },
  });
  const now = (state) => ({
    ...well.cluster,
    partitions: { [NAME]: { ...well.cluster.partitions[NAME], state }, "payments-0": well.cluster.partitions[NAME] },
  });
  assert.deepEqual(offered(now("healthy"), NAME), ["create_topic", "add_partitions", "reassign", "elect"]);
  assert.deepEqual(offered(now("offline"), NAME), [
    "create_topic", "add_partitions", "reassign", "elect", "elect_unclean",
  ]);
  assert.deepEqual(offered(now("healthy"), "payments-0"), [
    "create_topic", "add_partitions", "reassign", "elect", "start_writer",
  ]);
  assert.deepEqual(offered(now("healthy"), null), ["create_topic"]);
  assert.deepEqual(orderOf("start_writer", "payments-0", { writer: 2 }).args, { writer: 2, topic: "payments" });
  const clients = {
    ...well.cluster.clients, "writer-1": { kind: "producer", condition: "running", verbs: ["pause_writer"] },
  };
  assert.equal(nextWriter({ ...well.cluster, clients }), 2);
  assert.deepEqual(
    verbsOf({ ...well.cluster, clients }, "writer-1", say).map(({ key, order }) => [key, order]),
    [["Z", { kind: "cluster_pause_writer", args: { writer: 1 } }]],
  );
});

test("a chosen broker that does not simply run says what that means, and whether the controller knows", () => {
  const of = (change) => {
    const { cluster } = structuredClone(well);
    Object.assign(cluster.brokers["1"], change);
    return chosenWords(cluster, "broker-1", say);
  };
  assert.doesNotMatch(of({}), /stage_about|noticed/);
  assert.match(of({ stage: "paused" }), /cluster.stage.paused.* cluster.stage_about.paused.* cluster.unnoticed/);
  assert.match(of({ stage: "paused", is_fenced: true }), /cluster.stage_about.paused.* cluster.noticed/);
  assert.match(of({ is_fenced: true }), /cluster.stage_about.fenced/);
  assert.match(
    of({ stage: "crashed", disk: "lost" }),
    /cluster.stage.crashed.* cluster.stage_about.disk_lost.* cluster.unnoticed/,
  );
  assert.match(of({ disk: "slow" }), /cluster.stage_about.disk_slow \{\}$/);
});

test("a setting that is empty sets nothing, and what is no number stays as it is", () => {
  const typed = [
    ["cleanup_policy", "compact"], ["retention_ms", " -1 "], ["segment_ms", "  "], ["segment_bytes", "1 GB"],
  ];
  assert.deepEqual(settingsOf(typed), { cleanup_policy: "compact", retention_ms: -1, segment_bytes: "1 GB" });
  assert.equal(whole("--1"), "--1");
});

test("the standing card counts over all partitions, and says which records of the chosen one are nowhere else", () => {
  const { cluster } = structuredClone(well), of = (broker) => diedWords(cluster, broker, NAME, say);
  const lost = (acks_1, acks_all, first, last) => ({ leader: 3, acks_1, acks_all, first, last });
  cluster.crashes = {
    1: { lost: { [NAME]: lost(3, 0, 228, 230), "flights-1": lost(2, 1, 7, 8) }, offline: [] },
    2: { lost: {}, offline: [NAME] }, 3: null,
  };
  assert.deepEqual(of("1").figures.map(({ count, isLoss }) => [count, isLoss]), [["5", true], ["1", true]]);
  assert.match(of("1").note,
  /only_there .*"first":228,"last":230.*} cluster.died.elsewhere .*"count":2,"partitions":1/);
  assert.deepEqual(of("2").figures.map(({ count, isLoss }) => [count, isLoss]), [["0", false], ["0", false]]);
  assert.match(of("2").note, /cluster.died.offline .*"count":1/);
  assert.match(of("3").about, /is_down/);
  assert.deepEqual(of(null).figures, []);
  assert.match(diedLine(cluster, "1", NAME, say), /cluster.died.line .*"one":"5","all":"1"/);
  cluster.crashes["1"] = { lost: {}, offline: [] };
  assert.match(of("1").note, /cluster.died.nothing/);
});

test("the head says who leads, who is in sync, and whom the controller hears", () => {
  assert.match(partitionShort(well.cluster.partitions[NAME], say), /cluster.short .*"replicas":"1 2 3"/);
  assert.match(partitionShort({ ...well.cluster.partitions[NAME], leader: -1 }, say), /cluster.short_offline/);
  assert.deepEqual(heardBy(well.cluster), ["1", "2", "3"]);
  assert.ok(!heardBy(unnoticed.cluster).includes("1"));
  const cut = structuredClone(well.cluster);
  cut.links["broker-2>controller"].cut = ["broker-2"];
  assert.deepEqual(heardBy(cut), ["1", "3"]);
});
