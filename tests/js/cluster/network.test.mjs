// Nodes, links, the producer and what is on the wire.
import assert from "node:assert/strict";
import test from "node:test";

import { cutsBetween, wordsAt } from "../../../static/js/cluster/cuts.js";
import { along, crossed, linkLines } from "../../../static/js/cluster/links.js";
import { boxesOf, columnsOf, layout as network } from "../../../static/js/cluster/network.js";
import * as producer from "../../../static/js/cluster/producer.js";
import { chosenWords, verbsOf } from "../../../static/js/cluster/verbs.js";
import { flightOf, flown, held as onWire, waysOf } from "../../../static/js/cluster/wire.js";
import { widthOf } from "../../../static/js/drawing/labels.js";
import { say } from "../fixtures/load.mjs";
import { well, sending, back, large, NAME, drawn, check } from "./known.mjs";

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
