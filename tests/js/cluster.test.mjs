// The cluster page's pictures are arithmetic over the server's numbers: every copy to one scale, every word from the
// catalogue, no shape twice.
import assert from "node:assert/strict";
import test from "node:test";

import { cutsBetween, wordsAt } from "../../static/js/cluster/cuts.js";
import { along, crossed, linkLines } from "../../static/js/cluster/links.js";
import * as map from "../../static/js/cluster/map.js";
import { boxesOf, columnsOf, layout as network } from "../../static/js/cluster/network.js";
import { brokersOf, nextWriter, offered, orderOf } from "../../static/js/cluster/operator_orders.js";
import { geometry, layout as copies } from "../../static/js/cluster/partition.js";
import * as producer from "../../static/js/cluster/producer.js";
import { layout as series, rowsOf as samplesOf } from "../../static/js/cluster/series.js";
import { copiesTable, linksList, nodesTable, partitionsTable } from "../../static/js/cluster/tables.js";
import { chosenTitle, chosenWords, verbsOf } from "../../static/js/cluster/verbs.js";
import { rise, windowOf } from "../../static/js/cluster/window.js";
import { flightOf, flown, held as onWire, waysOf } from "../../static/js/cluster/wire.js";
import { cardWords, headline, partitionWords } from "../../static/js/cluster/words.js";
import { widthOf } from "../../static/js/drawing/labels.js";
import { load, say } from "./fixtures/load.mjs";

const [well, sending, unnoticed, moved, back, large] = load("cluster").map((view) => ({
  ...view, cluster: view.rigs.kafka.cluster,
}));
const ALL = [well, sending, unnoticed, moved, back, large], NAME = "flights-0", HEIGHT = 600;

function drawn({ cluster, at_us: atUs }, width = 920, chosen = null) {
  const partition = cluster.partitions[NAME], held = Object.keys(partition.copies);
  const grid = columnsOf(cluster, width, held, 4000), place = geometry(partition, grid, HEIGHT);
  const ways = waysOf(cluster, NAME);
  const lines = linkLines(cluster, grid, { held, chosen, leader: partition.leader, busy: ways.map(({ key }) => key) });
  return {
    grid, place, lines,
    shapes: [
      ...network(cluster, grid, lines, { say, chosen }),
      ...copies(NAME, partition, grid, place, { brokers: cluster.brokers, say }),
      ...onWire(cluster, grid, lines, ways, { atUs, say }),
    ],
  };
}

function check(shapes) {
  const ids = shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, place) => ids.indexOf(id) !== place)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(value !== undefined && !/NaN|undefined|Infinity/.test(String(value)), `${shape.id} ${name} = ${value}`);
    }
  }
  for (const { id, tag, width, height } of shapes) {
    if (tag === "rect") assert.ok(width > 0 && height > 0, `${id} is ${width} by ${height}`);
  }
}

test("every picture of every moment is whole", () => {
  for (const view of ALL) {
    for (const width of [330, 920, 1400]) check(drawn(view, width).shapes);
    check(map.layout(view.cluster, { width: 300, chosen: NAME, say }));
    for (const one of Object.values(view.cluster.producers)) check(producer.layout(one, { width: 300, say }));
  }
});

test("the producer has a box for each request, as the words above count them, " +
  "and one for each batch that waits", () => {
  const batch = (one, count = 2, attempts = 0) => ({
    number: one, partition: `t-${one % 7}`, sequence: one * 10, count, attempts,
  });
  const made = structuredClone(Object.values(sending.cluster.producers)[0]);
  const flights = [[1, 2, 3], [4], [5, 6], [7, 8, 9, 10], [11, 12]].map((numbers) => ({
    sent_us: 0, batches: numbers.map((one) => batch(one, 2, one === 6 ? 1 : 0)),
  }));
  Object.assign(made, {
    max_in_flight: 5, in_flight: { 1: flights, 2: [{ sent_us: 0, batches: [] }] },
    waiting: { "t-0": [batch(20), batch(21)] },
  });
  const shapes = producer.layout(made, {
    width: 1200,
    say: (code, params) =>
      code === "cluster.request_batches" ? `${params.count} batches +${params.records}` : say(code, params),
  });
  check(shapes);
  const boxes = shapes.filter(({ id, tag }) => tag === "rect" && id.startsWith("batch-"));
  assert.deepEqual(
    boxes.map(({ id }) => id),
    [1, 4, 5, 7, 11, 20, 21].map((one) => `batch-${one}`),
  );
  assert.deepEqual(
    boxes.map((box) => / retry/.test(box.class)),
    [false, false, true, false, false, false, false],
  );
  assert.deepEqual(
    shapes.filter(({ id }) => id.startsWith("batch-words-")).map(({ text }) => text),
    ["3 batches +6", "4 #40 +2", "2 batches +4", "4 batches +8", "2 batches +4", "6 #200 +2", "0 #210 +2"],
  );
  const narrow = producer.layout(made, { width: 330, say: () => "4 batches +8" });
  const shown = narrow.filter(({ id, tag, y }) => tag === "rect" && id.startsWith("batch-") && y === 4).length;
  assert.equal(narrow.find(({ id }) => id === "more-1").text, `+${5 - shown}`);
  assert.equal(producer.table(made, say).rows.length, 14, "the table has each batch");
});

test("a strip ends where its log ends, and the flag stands at its own high watermark", () => {
  const { shapes, place } = drawn(sending), { copies: all } = sending.cluster.partitions[NAME];
  const of = (id) => shapes.find((shape) => shape.id === id);
  for (const [broker, copy] of Object.entries(all)) {
    const at = (offset) => Math.round((place.base - rise(place.window, offset)) * 10) / 10;
    assert.equal(of(`copy-${broker}-body`).y, at(Math.min(copy.high_watermark, copy.end)));
    if (copy.high_watermark < copy.end) assert.equal(of(`copy-${broker}-unseen`).y, at(copy.end));
    assert.equal(Boolean(of(`copy-${broker}-unseen`)), copy.high_watermark < copy.end);
    assert.match(
      of(`copy-${broker}-pole`).d,
      new RegExp(` ${Math.round((place.base - rise(place.window, copy.high_watermark)) * 10) / 10}H`),
    );
  }
});

test("a copy whose broker does nothing says why in the word of its broker's box", () => {
  const view = structuredClone(well), [broker, copy] = Object.entries(view.cluster.partitions[NAME].copies)[0];
  Object.assign(copy, { role: "not_running", leader_epoch: null });
  for (const stage of ["paused", "crashed", "down", "starting"]) {
    view.cluster.brokers[broker].stage = stage;
    const box = drawn(view).shapes.find(({ id }) => id === `broker-stage-${broker}`);
    const foot = drawn(view).shapes.find(({ id }) => id === `foot-${broker}-0`);
    assert.equal(foot.text, say(`cluster.stage.${stage}`));
    assert.equal(foot.text, box.title);
    assert.ok([foot.text, "‖", "×", "…"].includes(box.text));
    assert.equal(copiesTable(view.cluster.partitions[NAME], view.cluster.brokers, say).rows[0][1], foot.text);
  }
});

test("a copy whose log starts later than the others' says where", () => {
  const view = structuredClone(well), [broker, copy] = Object.entries(view.cluster.partitions[NAME].copies)[0];
  copy.start = copy.end - 1;
  const starts = drawn(view).shapes.filter(({ id }) => id.endsWith("-start"));
  assert.deepEqual(starts.map(({ id }) => id), [`copy-${broker}-start`]);
  assert.match(starts[0].text, new RegExp(`"offset":${copy.start}`));
  assert.equal(drawn(well).shapes.some(({ id }) => id.endsWith("-start")), false);
});

test("a leader's fill is full, a follower's pale; who is outside the ISR has another outline", () => {
  const { shapes } = drawn(moved), { copies: all } = moved.cluster.partitions[NAME];
  for (const [broker, copy] of Object.entries(all)) {
    assert.equal(
      shapes.find(({ id }) => id === `copy-${broker}-body`)["fill-opacity"],
      copy.role === "leads" ? 1 : 0.35,
    );
    assert.match(shapes.find(({ id }) => id === `copy-${broker}-wall`).class, copy.is_in_isr ? / in/ : / out/);
  }
  assert.deepEqual(Object.values(all).map(({ is_in_isr: isIn }) => isIn), [false, true, true]);
});

test("the window stands still while everything fits, and follows when it must", () => {
  const copy = (end) => ({
    1: { start: 0, high_watermark: end, end }, 2: { start: 0, high_watermark: end - 1, end: end - 1 },
  });
  const first = windowOf(copy(100), 300), next = windowOf(copy(101), 300, first);
  assert.equal(next, first);
  const later = windowOf(copy(first.high + 1), 300, next);
  assert.ok(later.low > first.low && later.high > first.high + 1);
});

test("a stroke across a link crosses it, beside it does not", () => {
  const { cluster } = well, grid = columnsOf(cluster, 920, ["1", "2", "3"]), lines = linkLines(cluster, grid);
  const { x, y } = lines.find(({ key }) => key === "broker-1>broker-2");
  assert.deepEqual(crossed(lines, [x, y - 8], [x, y + 8]), ["broker-1>broker-2"]);
  assert.deepEqual(crossed(lines, [x - 8, y - 4], [x + 8, y - 4]), []);
  const arc = lines.find(({ key }) => key === "broker-1>broker-3");
  assert.deepEqual(crossed(lines, [arc.x - 30, arc.y - 12], [arc.x - 30, arc.y + 12]), ["broker-1>broker-3"]);
});

test("among nine brokers only the links that matter are drawn, and a chosen broker shows all of its own", () => {
  const keys = (chosen) => drawn(large, 920, chosen).shapes.filter(({ id }) => id.startsWith("link-")).length;
  assert.ok(keys(null) < 15 && keys("broker-5") > keys(null));
  assert.ok(drawn(large).grid.width <= 920);
});

test("each verb of a broker and a link is an order with its words", () => {
  const alive = verbsOf(well.cluster, "broker-2", say), link = verbsOf(well.cluster, "broker-1>broker-2", say);
  assert.deepEqual(
    alive.map(({ id }) => id),
    ["stop", "pause", "crash", "cut_power", "lose_disk", "slow_disk", "skew_clock"],
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

test("what happened between two frames flies, and what was cut off falls", () => {
  const before = well.cluster.partitions[NAME], now = structuredClone(before);
  now.copies["2"].end += 2;
  now.copies["1"].followers["3"].end += 1;
  assert.deepEqual(
    flown(before, now, say).map(({ kind, from, to }) => [kind, from, to]),
    [
      ["answer", "1", "2"], ["request", "3", "1"],
    ],
  );
  assert.deepEqual(flown(null, now, say), []);
  const cut = structuredClone(before);
  cut.copies["3"].end -= 3;
  assert.deepEqual(cutsBetween(before, cut), [
    { broker: "3", from: cut.copies["3"].end, to: before.copies["3"].end, count: 3 },
  ]);
  assert.deepEqual(cutsBetween(null, cut), []);
  assert.equal(wordsAt(100, 160, 300), 94, "above what falls");
  assert.equal(wordsAt(100, 104, 300), 76, "clear of the log's new end");
  assert.equal(wordsAt(320, 340, 300), 288, "clear of the words below the strip");
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

const COLORS = {
  identity: Array.from({ length: 7 }, (_, place) => `#10${place}`), ink: "#000", rule: "#000", panel: "#fff",
  muted: "#555", font: "x",
};

test("the chart is what the lab has kept of the partition, in steps, and in no consumer's colour", () => {
  const history = {
    8: { "other-0": { leader: 1, high_watermark: 3, ends: { 1: 3 } } },
    9: { [NAME]: { leader: 1, high_watermark: 5, ends: { 1: 7, 2: 5, 10: 6 } } },
    10: { [NAME]: { leader: null, high_watermark: null, ends: { 1: 7, 2: 5, 10: 6 } } },
  };
  const rows = samplesOf(history, NAME);
  assert.deepEqual(rows.map(({ at, high_watermark: hw }) => [at, hw]), [[9, 5], [10, null]]);
  assert.deepEqual(
    rows.map(({ copies: all }) => Object.values(all).map(({ lag }) => lag)),
    [
      [0, 2, 1], [null, null, null],
    ],
  );
  const { traces } = series(rows, { say, colors: COLORS });
  assert.deepEqual(traces.map(({ name }) => name).slice(0, 4), ["LEO 1", "LEO 2", "LEO 10", "HW"]);
  assert.equal(traces.length, 7);
  for (const { x, y, line } of traces) {
    assert.equal(x.length, y.length);
    assert.equal(line.shape, "hv");
    assert.ok(!COLORS.identity.includes(line.color));
  }
  assert.equal(new Set(traces.slice(0, 3).map(({ line }) => line.dash)).size, 3);
  assert.deepEqual(samplesOf(undefined, NAME), []);
});

test("times under the chart stand apart, however many samples there are and on a phone", () => {
  for (const [every, isNarrow, width] of [[1, false, 700], [1, true, 250], [7, false, 700], [46, true, 250]]) {
    for (const last of [40, 100, 180]) {
      const rows = Array.from({ length: Math.ceil(last / every) }, (_, place) => ({
        at: 600 + place * every, high_watermark: 1, copies: { 1: { end: 1, lag: 0 } },
      }));
      const { tickvals } = series(rows, { say, colors: COLORS, isNarrow }).layout.xaxis;
      const span = rows.at(-1).at - rows[0].at;
      if (span < 60) continue;
      assert.ok(tickvals.length >= 2 && (tickvals[1] - tickvals[0]) / span * width >= 40, `${tickvals} over ${span}`);
    }
  }
});

test("clients stand beside the controller, the reader first, and their cables go to the leader", () => {
  const { cluster } = crowd(), grid = columnsOf(cluster, 920, ["1", "2", "3"], 10, "c9");
  const { leader } = cluster.partitions[NAME];
  assert.ok(grid.clients.c9.x > grid.clients.c1.x && grid.clients.producer.x === 1);
  const inPlace = (found) =>
    Object.entries(found.clients)
      .filter(([name]) => name !== "producer")
      .sort(([, a], [, b]) => a.x - b.x)
      .map(([name]) => name);
  for (const width of [600, 920, 1400]) {
    const shown = inPlace(columnsOf(cluster, width, ["1", "2", "3"], 10, "c9"));
    const others = shown.filter((name) => name !== "c9");
    assert.deepEqual(
      others,
      Array.from({ length: 12 }, (_, place) => `c${place + 1}`)
        .filter((name) => name !== "c9")
        .slice(0, others.length),
      "the first ones, in their order",
    );
    assert.ok(shown.includes("c9") && shown.length > 2);
  }
  const narrow = columnsOf(cluster, 330, ["1", "2", "3"], 10, "c9");
  assert.deepEqual(Object.keys(narrow.clients), ["producer", "c9"]);
  assert.equal(narrow.more.consumer.count, 11);
  const keys = (options) =>
    linkLines(cluster, grid, { leader, reader: "c9", held: ["1", "2", "3"], ...options })
      .filter(({ isClient }) => isClient)
      .map(({ key }) => key);
  assert.deepEqual(keys({}).sort(), [`broker-${leader}>c9`, `broker-${leader}>producer`].sort());
  assert.equal(keys({ chosen: "producer" }).length, 4);
  const line = linkLines(cluster, grid, { leader, reader: "c9" }).find(
    ({ key }) => key === `broker-${leader}>producer`,
  );
  assert.deepEqual(crossed([line], [line.x, line.y - 12], [line.x, line.y + 12]), [line.key]);
  check(network(cluster, grid, linkLines(cluster, grid, { leader, reader: "c9" }), { say, reader: "c9" }));
});

test("a client is chosen to see its links, and a link of it can be cut from either end", () => {
  const { cluster } = crowd();
  assert.deepEqual(verbsOf(cluster, "c1", say), []);
  assert.match(chosenWords(cluster, "producer", say), /cluster.producer.*cluster.client_links/);
  const [cut, fromBroker, fromClient] = verbsOf(cluster, "broker-1>producer", say);
  assert.deepEqual(
    [cut.key, fromBroker.order.args, fromClient.order.args],
    ["C", { one: "broker-1", other: "producer", one_way: true }, { one: "producer", other: "broker-1", one_way: true }],
  );
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
    [["P", { kind: "cluster_pause_writer", args: { writer: 1 } }]],
  );
});

test("all of 96 partitions are in sight, and a second topic stands under its name", () => {
  const names = Object.keys(large.cluster.partitions);
  assert.ok(map.height(names, 300) < 370);
  const two = [...names.slice(0, 3), "payments-0"], { labels, tiles } = map.placesOf(two, 300);
  assert.deepEqual(labels.map(({ topic }) => topic), ["flights", "payments"]);
  assert.ok(tiles[3].y > labels[1].y && labels[1].y > tiles[2].y);
  assert.deepEqual(map.placesOf(names, 300).labels, []);
});

// Three brokers, a producer, and twelve consumers that all have a connection to each broker.
function crowd() {
  const view = structuredClone(well), names = Array.from({ length: 12 }, (_, place) => `c${place + 1}`);
  const whole = { cut: [], slow: {}, verbs: ["cut_link", "slow_link"] };
  for (const name of names) {
    view.cluster.clients[name] = { kind: "consumer", condition: "running", verbs: [] };
    for (const broker of ["1", "2", "3"]) view.cluster.links[`broker-${broker}>${name}`] = structuredClone(whole);
  }
  return view;
}

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

// A leader at 231, whose log starts at 146; a follower close to it; and one that stopped at 42.
function farBehind(start = 146) {
  const view = structuredClone(well), { copies: all } = view.cluster.partitions[NAME];
  Object.assign(all["1"], {
    start, end: 231, high_watermark: 225, stable: 225,
    epochs: [
      [0, start], [1, 200],
    ],
    role: "leads",
  });
  Object.assign(all["2"], {
    start, end: 228, high_watermark: 225, stable: 225,
    epochs: [
      [0, start], [1, 200],
    ],
    role: "follows",
  });
  Object.assign(all["3"], {
    start: 0, end: 42, high_watermark: 39, stable: 39, epochs: [[0, 0]], role: "not_running", is_in_isr: false,
  });
  Object.assign(view.cluster.partitions[NAME], { end: 231, high_watermark: 225, leader: 1 });
  return view;
}

test("a copy far behind stands at its own offsets, below a break of the scale, " +
  "and what it lacks is an empty shell", () => {
  for (const [start, height] of [
    [146, HEIGHT], [0, HEIGHT], [0, 470], [146, 470],
  ]) {
    const view = farBehind(start), partition = view.cluster.partitions[NAME];
    const grid = columnsOf(view.cluster, 920, ["1", "2", "3"], 231), place = geometry(partition, grid, height);
    const shapes = copies(NAME, partition, grid, place, { brokers: view.cluster.brokers, say });
    const of = (id) => shapes.find((shape) => shape.id === id);
    check(shapes);
    const y = (offset) => place.base - rise(place.window, offset), { parts } = place.window;
    for (const { high_watermark: hw, end } of Object.values(partition.copies)) {
      for (const offset of [hw, end]) {
        assert.ok(
          parts.some(({ low, high }) => low <= offset && offset <= high),
          `${offset} of ${JSON.stringify(parts)}`,
        );
      }
    }
    assert.equal(parts.length, 2);
    assert.ok(y(39) < place.base - 4 || parts[0].low === 39, "not at the foot of another part");
    assert.ok(y(39) > y(42) && y(42) > y(225) && y(225) > y(231));
    assert.equal(of("copy-3-hw").y, Math.round(y(39) * 10) / 10 - 1);
    assert.ok(of("copy-3-lacks") && of("copy-3-behind").text === "−189" && !of("copy-1-lacks") && !of("copy-2-lacks"));
    const left = parts[1].low - Math.max(start, parts[0].high);
    assert.match(
      of("copy-1-left-out-0").title,
      new RegExp(`"count":${left}}`),
      "a log that spans the break is torn there",
    );
    assert.equal(Boolean(of("copy-1-start")), start > 0, "one that starts within it says where");
    assert.ok(of("break-0") && !of("copy-3-left-out-0"));
    const axis = shapes
      .filter(({ id, tag }) => tag === "text" && /^(tick|break|level)-/.test(id))
      .sort((a, b) => a.y - b.y);
    axis
      .slice(1)
      .forEach(({ id, y: at }, place) => assert.ok(at - axis[place].y >= 12, `${id} meets ${axis[place].id}`));
  }
});

test("a scale without a copy far behind has no break, and one that is no longer needed goes", () => {
  assert.equal(drawn(well).place.window.parts.length, 1);
  const view = farBehind(), { copies: all } = view.cluster.partitions[NAME], broken = windowOf(all, 300);
  Object.assign(all["3"], { end: 229, high_watermark: 225 });
  assert.equal(windowOf(all, 300, broken).parts.length, 1);
  all["2"].end = 230;
  const next = windowOf(farBehind().cluster.partitions[NAME].copies, 300);
  assert.equal(
    windowOf(farBehind().cluster.partitions[NAME].copies, 300, next),
    next,
    "it stays while everything fits",
  );
});

test("every offset of every copy is in sight and offsets rise, however the copies end", () => {
  const one = (end, hw = end, start = 0) => ({ start, end, high_watermark: hw });
  for (const ends of [
    [1000, 10, 400], [1000, 0], [5000, 4990, 39], [90, 80, 3], [1_000_000, 1, 2], [300, 150, 149],
    [1000, 700, 500, 300, 10], [0, 0, 0], [7, 0],
  ]) {
    for (const height of [120, 172, 336]) {
      const view = windowOf(Object.fromEntries(ends.map((end, place) => [place, one(end)])), height);
      for (const end of ends) {
        assert.ok(
          view.parts.some(({ low, high }) => low <= end && end <= high),
          `${end} of ${ends} at ${height}: ${JSON.stringify(view.parts)}`,
        );
      }
      const sorted = [...new Set(ends)].sort((a, b) => a - b), places = sorted.map((end) => rise(view, end));
      places.slice(1).forEach((place, at) => assert.ok(place > places[at], `${sorted[at + 1]} above ${sorted[at]}`));
      assert.ok(places.every((place) => place >= 0 && place <= height + 1e-6));
      view.parts.slice(1).forEach(({ low }, at) => assert.ok(low > view.parts[at].high));
    }
  }
});

test("epochs have brackets beside the strip, and no words on its records", () => {
  for (const width of [330, 920, 1400]) {
    const view = farBehind(), partition = view.cluster.partitions[NAME];
    const grid = columnsOf(view.cluster, width, ["1", "2", "3"], 231), place = geometry(partition, grid, HEIGHT);
    const shapes = copies(NAME, partition, grid, place, { brokers: view.cluster.brokers, say });
    const left = grid.columns[1] - place.strip.width / 2 - place.strip.shift;
    const words = shapes.filter(({ id, tag }) => /^copy-1-epoch-\d+-\d+$/.test(id) && tag === "text");
    const brackets = shapes.filter(({ id }) => /^copy-1-epoch.*-bracket$/.test(id));
    assert.equal(brackets.length, 2);
    assert.ok(
      words.length >= 1 && words.every(({ x, class: name }) => x < left && name.includes("end")),
      `${words.length} at ${width}`,
    );
    assert.ok(words.every(({ x, text }) => x - widthOf(text) >= grid.columns[1] - grid.pitch / 2), `cut at ${width}`);
  }
});

test("copies are drawn in ink: colours are consumers'", () => {
  for (const view of ALL) for (const { id, fill } of drawn(view).shapes) assert.ok(!/--id-|#id-/.test(fill ?? ""), id);
});

test("on a phone no words of the copies reach into the next column or beyond the picture", () => {
  const wide = (code, params = {}) =>
    ({
      "cluster.outside_isr": "outside the ISR", "cluster.role.leads": "leader, epoch 1",
      "cluster.ahead": "12 more than its leader", "cluster.role.follows": "follows 1",
      "cluster.role.not_running": "not running", "cluster.epoch_short": "epoch 1", "cluster.in_isr": "in the ISR",
      "cluster.torn": "174 more", "cluster.starts_at": "starts at 146",
    })[code] ?? say(code, params);
  for (const [width, end] of [[334, 231], [334, 1231], [358, 12]]) {
    const view = farBehind(0), partition = view.cluster.partitions[NAME];
    Object.assign(partition.copies["1"], { end, high_watermark: end - 1, stable: end - 1 });
    Object.assign(partition, { end, high_watermark: end - 1 });
    const grid = columnsOf(view.cluster, width, ["1", "2", "3"], end), place = geometry(partition, grid, 520);
    const shapes = copies(NAME, partition, grid, place, { brokers: view.cluster.brokers, say: wide });
    assert.ok(grid.width <= width, `it need not be scrolled: ${grid.width} of ${width}`);
    for (const { id, x, y, text, class: name = "" } of shapes.filter(({ tag }) => tag === "text")) {
      const size = widthOf(text) * (name.includes("n ") || name.startsWith("n") ? 1 : 0.87);
      const left = name.includes("end") ? x - size : name.includes("mid") ? x - size / 2 : x;
      assert.ok(left >= -1 && left + size <= grid.width + 1, `${id} "${text}" at ${width}: ${left} to ${left + size}`);
      assert.ok(y < 520, `${id} at ${y}`);
    }
  }
});

test("words of messages in flight are in nobody's way, on a phone too: neither one another's nor a node's", () => {
  const view = crowd(), { cluster, at_us: atUs } = view, short = (code) => code.slice(-8), [topic] = NAME.split("-");
  const wire = [
    ["producer", "broker-1"], ["broker-1", "producer"], ["broker-1", "c1"], ["c1", "broker-1"],
    ["controller", "broker-1"], ["broker-1", "controller"], ["broker-2", "broker-1"], ["broker-3", "broker-1"],
    ["broker-1", "broker-3"],
  ];
  for (const width of [334, 940]) {
    for (const dueUs of [null, atUs + 5_000, atUs + 50_000, atUs + 95_000]) {
      cluster.wire = Object.fromEntries(
        wire.map(([from, to], place) => [
          `m${place}`, { from, to, kind: "fetch", parts: [[topic, 0, 5, 0]], due_us: dueUs, delay_us: 100_000 },
        ]),
      );
      const grid = columnsOf(cluster, width, ["1", "2", "3"], 20, "c1"), ways = waysOf(cluster, NAME);
      const lines = linkLines(cluster, grid, { leader: 1, reader: "c1", busy: ways.map(({ key }) => key) });
      const shapes = onWire(cluster, grid, lines, ways, { atUs, say: short });
      const words = shapes.filter(({ tag }) => tag === "text").map(({ x, y, text, class: name }) => {
        const size = widthOf(text), left = name.endsWith(" end") ? x - size : name.includes(" mid ") ? x - size / 2 : x;
        return [left, y - 12, left + size, y + 4];
      });
      assert.ok(words.length >= 4, `${words.length} at ${width}`);
      assert.ok( shapes.filter(({ tag }) => tag === "circle").length === wire.length);
      const all = [...words, ...boxesOf(cluster, grid)];
      words.forEach((one, place) => all.slice(place + 1).forEach((other) => {
        assert.ok(
          one[2] <= other[0] || one[0] >= other[2] || one[3] <= other[1] || one[1] >= other[3],
          `${one} meets ${other} at ${width}`,
        );
      }));
    }
  }
});

test("a message is on the line of its own link, and on no other's", () => {
  const view = crowd(), { cluster, at_us: atUs } = view, [topic] = NAME.split("-");
  const names = ["controller", "broker-1", "broker-2", "broker-3", "producer", "c1"];
  const distance = ([px, py], { points }) => Math.min(...points.slice(1).map(([bx, by], place) => {
    const [ax, ay] = points[place];
    const along = Math.min(
      1,
      Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)),
    );
    return Math.hypot(px - ax - along * (bx - ax), py - ay - along * (by - ay));
  }));
  for (const width of [334, 838, 1200]) {
    for (const from of names) {
      for (const to of names.filter((one) => `${from}>${one}` in cluster.links || `${one}>${from}` in cluster.links)) {
        cluster.wire = {
          m: { from, to, kind: "fetch", parts: [[topic, 0, 5, 0]], due_us: atUs + 40_000, delay_us: 100_000 },
        };
        const grid = columnsOf(cluster, width, ["1", "2", "3"], 20, "c1"), ways = waysOf(cluster, NAME);
        const lines = linkLines(cluster, grid, { leader: 1, reader: "c1", busy: ways.map(({ key }) => key) });
        const dot = onWire(cluster, grid, lines, ways, { atUs, say }).find(({ id }) => id === "wire-m");
        const at = [dot.cx, dot.cy];
        const near = lines.filter((line) => distance(at, line) <= 5.1).map(({ key }) => key);
        assert.ok(near.includes(ways[0].key), `${from} to ${to} at ${width}: ${near}`);
        if (from.startsWith("broker") && to.startsWith("broker")) assert.deepEqual(near, [ways[0].key]);
      }
    }
  }
});

test("an answer that names no partition is no message about one", () => {
  const { cluster } = structuredClone(well);
  const message = (kind, parts) => ({ kind, from: "broker-1", to: "broker-2", parts, due_us: null, delay_us: 1 });
  cluster.wire = {
    a: message("fetched", []), b: message("heartbeat", []), c: message("fetched", [["flights", 1, 0, 1, 2, 0, -1, -1]]),
    d: message("fetched", [["flights", 0, 0, 1, 2, 0, -1, -1]]), e: message("registration", []),
  };
  assert.deepEqual(waysOf(cluster, NAME).flatMap(({ messages }) => messages.map(({ id }) => id)), ["d", "e"]);
});

test("links between brokers share no way, and among three none crosses another", () => {
  for (const view of [well, large]) {
    const grid = columnsOf(view.cluster, 1200, Object.keys(view.cluster.partitions[NAME].copies));
    const lines = linkLines(view.cluster, grid, {
      held: Object.keys(view.cluster.partitions[NAME].copies), chosen: "broker-5",
    }).filter(({ run }) => run);
    assert.ok(lines.length >= 3);
    for (const line of lines) {
      const others = lines.filter((other) => other !== line);
      for (const [place, point] of line.points.slice(1).entries()) {
        const from = line.points[place];
        const shares = (other) => other.points[0][0] === from[0] || other.points.at(-1)[0] === from[0];
        assert.deepEqual(others.filter(shares).map(({ key }) => key), []);
        if (view === well) {
          assert.deepEqual(
            crossed(others, [from[0] + 0.01, from[1] + 0.01], [point[0] - 0.01, point[1] - 0.01]),
            [],
            `${line.key} at ${place}`,
          );
        }
      }
      assert.ok(line.y < grid.below);
    }
  }
});

test("a dot flies along the level part of its own link, and back the other way", () => {
  const { cluster } = well, grid = columnsOf(cluster, 920, ["1", "2", "3"]);
  const lines = linkLines(cluster, grid, { held: ["1", "2", "3"] });
  const there = flightOf({ kind: "request", from: "3", to: "1", text: "fetch 7" }, lines);
  const back = flightOf({ kind: "answer", from: "1", to: "3", text: "+1" }, lines);
  const { run } = lines.find(({ key }) => key === "broker-1>broker-3");
  assert.deepEqual([there.from, there.to], [[run.right, run.y], [run.left, run.y]]);
  assert.deepEqual([back.from, back.to], [there.to, there.from]);
  assert.ok(there.words.y < run.y && back.words.y > run.y);
  assert.equal(flightOf({ kind: "request", from: "3", to: "9", text: "" }, lines), null);
});

test("what a read_committed consumer cannot see has its mark", () => {
  const { cluster, at_us: atUs } = structuredClone(well), copy = cluster.partitions[NAME].copies["1"];
  copy.stable = copy.high_watermark - 2;
  const { shapes } = drawn({ cluster, at_us: atUs });
  assert.equal(shapes.find(({ id }) => id === "copy-1-lso").text, `LSO ${copy.stable}`);
  assert.equal(shapes.some(({ id }) => id === "copy-2-lso"), false);
});

test("the lag axis has a few numbers, also where a copy has more than its leader", () => {
  const rows = [0, 1].map((at) => ({
    at, high_watermark: 5, copies: { 1: { end: 5, lag: 0 }, 2: { end: 57 + at, lag: -52 - at } },
  }));
  assert.equal(series(rows, { say, colors: COLORS }).layout.yaxis2.dtick, 50);
});
