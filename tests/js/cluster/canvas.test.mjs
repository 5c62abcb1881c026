// The canvas: boxes, links and the words at them, the clients, and what is on the wire.
import assert from "node:assert/strict";
import test from "node:test";

import { crossed, linkLines } from "../../../static/js/cluster/links.js";
import { chosenWords, verbsOf } from "../../../static/js/cluster/verbs.js";
import { dots, flightOf, flown, waysOf } from "../../../static/js/cluster/wire.js";
import { say } from "../fixtures/load.mjs";
import { ALL, LANE, NAME, PHONE, WIDE, boxOf, check, crowd, drawn, large, meet, sending, well } from "./known.mjs";

// Words as short as those of the page.
const brief = (code, { offset = "", hw = "", leader = "", consumer = "" } = {}) =>
  [code.split(".").at(-1).slice(0, 9), offset, hw, leader, consumer].filter((part) => part !== "").join(" ");

test("every canvas of every moment is whole, and within its box", () => {
  for (const view of ALL) {
    for (const width of [PHONE, LANE, WIDE, 1200]) {
      for (const chosen of [null, "broker-1", "producer", "controller"]) {
        const { shapes, places } = drawn(view, width, { chosen });
        check(shapes);
        for (const { id, tag, x, y, width: wide, height } of shapes.filter(({ tag: one }) => one === "rect")) {
          assert.ok(x >= -5 && x + wide <= places.width + 5, `${id} ${tag} at ${width}: ${x} + ${wide}`);
          assert.ok(y >= -5 && y + height <= places.height + 5, `${id} at ${width}: ${y} + ${height}`);
        }
      }
    }
  }
});

test("brokers stand in one row in boxes of one size, on a phone as narrow as 112", () => {
  for (const [width, least] of [[PHONE, 112], [LANE, 112], [WIDE, 200]]) {
    const boxes = Object.values(drawn(well, width).places.boxes);
    assert.equal(new Set(boxes.map(({ y }) => y)).size, 1);
    assert.equal(new Set(boxes.map((box) => `${box.width}/${box.height}`)).size, 1);
    assert.ok(boxes[0].width >= least, `${boxes[0].width} at ${width}`);
    boxes.slice(1).forEach((box, place) => assert.ok(box.x >= boxes[place].x + boxes[place].width + 4));
  }
});

test("of nine brokers those with a copy have boxes with their logs, the others are folded in a row below", () => {
  for (const width of [PHONE, WIDE]) {
    const { places, of } = drawn(large, width), held = Object.keys(large.cluster.partitions[NAME].copies);
    assert.deepEqual(Object.keys(places.boxes), held);
    assert.equal(Object.keys(places.folded).length, 9 - held.length);
    const low = Math.max(...Object.values(places.boxes).map(({ y, height }) => y + height));
    for (const [id, { y }] of Object.entries(places.folded)) {
      assert.ok(y > low && of(`broker-${id}`) && !of(`copy-${id}-leo`));
    }
  }
});

test("where more copies are than one row takes they stand in two, each with its log", () => {
  const view = structuredClone(large), partition = view.cluster.partitions[NAME];
  const [copy] = Object.values(partition.copies).filter(({ role }) => role === "follows");
  for (const id of Object.keys(view.cluster.brokers)) partition.copies[id] ??= structuredClone(copy);
  const { places, shapes, of } = drawn(view);
  assert.equal(places.rows, 2);
  for (const id of Object.keys(view.cluster.brokers)) assert.ok(of(`copy-${id}-leo`), id);
  check(shapes);
});

test("a link between neighbours is beside them, with the request above its line and the answer below", () => {
  const { lines, shapes } = drawn(well, WIDE, { words: brief }), { leader } = well.cluster.partitions[NAME];
  for (const line of lines.filter(({ words, isClient, isIdle }) => words && !isClient && !isIdle)) {
    const said = (kind) => shapes.filter(({ id }) => id.startsWith(`said-${kind}-${line.key}-`));
    const y = line.words.middle ?? line.points[0][1];
    assert.ok(said("request").length && said("answer").length, line.key);
    assert.ok(said("request").every((one) => one.y < y) && said("answer").every((one) => one.y > y + 8), line.key);
    assert.ok([line.one, line.other].includes(`broker-${leader}`));
  }
});

test("a link of two followers says that it is idle, and who leads", () => {
  for (const leader of [1, 2, 3]) {
    const view = structuredClone(well), partition = view.cluster.partitions[NAME];
    for (const id of ["1", "2", "3"]) partition.copies[id].role = Number(id) === leader ? "leads" : "follows";
    partition.leader = leader;
    const { shapes } = drawn(view, WIDE, { words: brief });
    const idle = shapes.filter((shape) => shape["data-said"] === "idle");
    assert.equal(idle.length, 1);
    assert.equal(idle[0].text, leader === 2 ? "idle 2" : "idle_shor");
    assert.ok(!idle[0].id.includes(`broker-${leader}`));
  }
});

test("words are in nobody's way: neither in a box that they are not of, nor on one another", () => {
  for (const view of [well, sending, crowd()]) {
    for (const leader of [1, 2, 3]) {
      const one = structuredClone(view), partition = one.cluster.partitions[NAME];
      const roles = partition.copies;
      for (const id of ["1", "2", "3"]) roles[id].role = Number(id) === leader ? "leads" : "follows";
      partition.leader = leader;
      for (const width of [PHONE, LANE, WIDE]) {
        const { shapes, places } = drawn(one, width, { words: brief });
        const said = shapes.filter(({ id, tag }) => tag === "text" && id.startsWith("said-"));
        const boxes = [...Object.values(places.boxes), places.producer, places.consumers].filter(Boolean)
          .map(({ x, y, width: wide, height }) => [x, y, x + wide, y + height]);
        said.forEach((words, place) => {
          for (const box of boxes) assert.ok(!meet(boxOf(words), box), `${words.id} "${words.text}" at ${width}`);
          for (const other of said.slice(place + 1)) {
            assert.ok(!meet(boxOf(words), boxOf(other)), `${words.id} meets ${other.id} at ${width}`);
          }
        });
        assert.ok(said.length >= 2, `${said.length} at ${width}`);
      }
    }
  }
});

test("a message is on the line of its own link, and on no other's", () => {
  const view = crowd(), { cluster, at_us: atUs } = view, [topic] = NAME.split("-");
  const names = ["controller", "broker-1", "broker-2", "broker-3", "producer", "c9"];
  const distance = ([px, py], { points }) => Math.min(...points.slice(1).map(([bx, by], place) => {
    const [ax, ay] = points[place];
    const along = Math.min(
      1,
      Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)),
    );
    return Math.hypot(px - ax - along * (bx - ax), py - ay - along * (by - ay));
  }));
  for (const width of [PHONE, LANE, WIDE]) {
    for (const from of names) {
      for (const to of names.filter((one) => `${from}>${one}` in cluster.links || `${one}>${from}` in cluster.links)) {
        cluster.wire = {
          m: { from, to, kind: "fetch", parts: [[topic, 0, 5, 0]], due_us: atUs + 40_000, delay_us: 100_000 },
        };
        const ways = waysOf(cluster, NAME), { lines } = drawn({ ...view, playing: false }, width);
        const [dot] = dots(lines, ways, { atUs, say }), line = lines.find(({ key }) => key === ways[0].key);
        if (width === PHONE && [from, to].some((one) => ["producer", "c9"].includes(one))) {
          assert.equal(dot, undefined);
          continue;
        }
        assert.ok(distance([dot.cx, dot.cy], line) <= 0.2, `${from} to ${to} at ${width}`);
        if (from.startsWith("broker") && to.startsWith("broker")) {
          const near = lines.filter((one) => distance([dot.cx, dot.cy], one) <= 5).map(({ key }) => key);
          assert.deepEqual(near, [ways[0].key], `${from} to ${to} at ${width}`);
        }
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

test("what is on its way is said in ink, what has arrived is muted", () => {
  const view = structuredClone(well), [topic] = NAME.split("-"), { leader } = view.cluster.partitions[NAME];
  const other = leader === 1 ? 2 : 1;
  view.playing = false;
  view.cluster.wire = {
    m: {
      from: `broker-${other}`, to: `broker-${leader}`, kind: "fetch", parts: [[topic, 0, 5, 0]], due_us: null,
      delay_us: 1,
    },
  };
  const { shapes } = drawn(view, WIDE, { words: brief }), key = `broker-1>broker-${Math.max(leader, other)}`;
  const request = shapes.find(({ id }) => id === `said-request-${key}-0`);
  const answer = shapes.find(({ id }) => id === `said-answer-${key}-0`);
  assert.equal(request.text, "fetch 5");
  assert.ok(!/ m$/.test(request.class) && / m$/.test(answer.class));
});

test("a stroke across a link crosses it, beside it does not", () => {
  const { lines } = drawn(well), line = lines.find(({ key }) => key === "broker-1>broker-2");
  const [[ax, y], [bx]] = line.points, x = (ax + bx) / 2;
  assert.deepEqual(crossed(lines, [x, y - 8], [x, y + 8]), ["broker-1>broker-2"]);
  assert.deepEqual(crossed(lines, [x - 8, y - 4], [x + 8, y - 4]), []);
});

test("links between brokers share no way, and among three none crosses another", () => {
  for (const width of [PHONE, LANE, WIDE]) {
    const lines = drawn(well, width).lines.filter(({ isClient, one, other }) => !isClient && ![one,
      other].includes("controller"));
    for (const line of lines) {
      const others = lines.filter((other) => other !== line);
      for (const [place, point] of line.points.slice(1).entries()) {
        const from = line.points[place];
        const inner = (a, b) => a + Math.sign(b - a) * 0.01;
        const part = [[inner(from[0], point[0]), inner(from[1], point[1])], [inner(point[0], from[0]), inner(point[1],
          from[1])]];
        assert.deepEqual(crossed(others, ...part), [], `${line.key} at ${width}`);
      }
    }
  }
});

test("the clients' lines to the leader never cross one another, whoever leads", () => {
  for (const leader of [1, 2, 3]) {
    const view = crowd();
    view.cluster.partitions[NAME].leader = leader;
    for (const width of [WIDE, 1200]) {
      const [one, two] = drawn(view, width).lines.filter(({ isClient }) => isClient);
      for (const [place, point] of one.points.slice(1).entries()) {
        assert.deepEqual(crossed([two], one.points[place], point), [], `leader ${leader} at ${width}`);
      }
    }
  }
});

test("among nine brokers only the links that matter are drawn, and a chosen broker shows all of its own", () => {
  const keys = (chosen) => drawn(large, WIDE, { chosen }).lines.length;
  assert.ok(keys(null) < 8 && keys("broker-5") > keys(null));
});

test("the controller's links are drawn where one is impaired, or it is chosen", () => {
  const links = (view, chosen = null) => drawn(view, WIDE,
    { chosen }).lines.filter(({ key }) => /controller/.test(key));
  const view = structuredClone(well);
  assert.equal(links(view).length, 0);
  assert.ok(!drawn(view).of("controller"));
  assert.equal(links(view, "controller").length, 3);
  view.cluster.links["broker-1>controller"].cut = ["broker-1"];
  assert.equal(links(view).length, 1);
  assert.ok(drawn(view).of("controller"));
});

test("the reader of the partition is named with its position, the others in their order, and each can be pressed",
() => {
  const view = crowd(), { of, shapes, lines } = drawn(view, WIDE, { words: brief }),
    { leader } = view.cluster.partitions[NAME];
  assert.match(of("reader-words").text, /c9/);
  assert.ok(of("client-c9").role === "button" && of("swatch-c9").fill.includes("id-"));
  const swatches = shapes.filter(({ id }) => /^swatch-c\d+$/.test(id)).map(({ id }) => id.slice(7));
  const shown = swatches.filter((one) => one !== "c9");
  assert.deepEqual(shown, shown.map((_, place) => `c${place + 1}`));
  assert.ok(shown.length >= 1 && of("more-consumer").text === `+${11 - shown.length}`);
  assert.equal(of("reads").of, "c9");
  const clients = lines.filter(({ isClient }) => isClient).map(({ key }) => key).sort();
  assert.deepEqual(clients, [`broker-${leader}>c9`, `broker-${leader}>producer`].sort());
  assert.equal(drawn(view, WIDE, { chosen: "producer" }).lines.filter(({ client }) => client === "producer").length, 3);
});

test("who has no room is counted, and pressing the count chooses one after the other", () => {
  const view = crowd();
  const next = (chosen) => drawn(view, WIDE, { words: brief, chosen }).of("more-hit-consumer")["data-part"];
  const first = next(null), second = next(first);
  assert.ok(first !== second && second !== next(second));
  assert.ok(drawn(view, WIDE, { words: brief, chosen: first }).of(`swatch-${first}`));
  for (const writer of ["writer-1", "writer-2", "writer-3"]) {
    view.cluster.clients[writer] = { kind: "producer", condition: "running", verbs: ["pause_writer"] };
    view.cluster.producers[writer] = structuredClone(Object.values(view.cluster.producers)[0]);
  }
  const { of } = drawn(view, WIDE, { words: (code) => (code === "cluster.producer" ? "Producer" : "x") });
  assert.ok(of("client-writer-1") && of("client-writer-2") && of("more-producer").text === "+1");
  assert.equal(of("more-hit-producer")["data-part"], "writer-3");
});

test("acks is a switch with three places of which one is pressed, and in flight are its places for the leader", () => {
  const view = structuredClone(sending), [[, producer]] = Object.entries(view.cluster.producers);
  producer.acks = 1;
  const { leader } = view.cluster.partitions[NAME], batch = { number: 1, partition: NAME, count: 3, sequence: -1,
    attempts: 0 };
  producer.in_flight = { [leader]: [{ sent_us: 0, batches: [batch, { ...batch, count: 2 }] }] };
  producer.max_in_flight = 5;
  const { of } = drawn(view);
  assert.deepEqual([0, 1, -1].map((acks) => of(`acks-${acks}`)["aria-pressed"]), ["false", "true", "false"]);
  assert.equal(of("flight-count-0").text, "5");
  assert.deepEqual([0, 1, 4].map((place) => of(`flight-${place}`).class), ["place full", "place", "place"]);
  assert.match(of("flights-of").text, /"count":1,"most":5/);
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

test("a broker's links are listed when they are asked for, and choosing one leads to its verbs", () => {
  const { cluster } = well, of = (areOpen) => verbsOf(cluster, "broker-1", say, areOpen);
  assert.ok(of(false).at(-1).opens && !of(false).some(({ chooses }) => chooses));
  const keys = of(true).map(({ chooses }) => chooses).filter(Boolean);
  assert.deepEqual(keys.sort(), ["broker-1>broker-2", "broker-1>broker-3", "broker-1>controller"]);
  assert.deepEqual(verbsOf(cluster, "controller", say).map(({ chooses }) => chooses).length, 3);
});

test("what happened between two frames flies along its own link, and back the other way", () => {
  const before = well.cluster.partitions[NAME], now = structuredClone(before), { lines } = drawn(well);
  now.copies["2"].end += 2;
  now.copies["1"].followers["3"].end += 1;
  assert.deepEqual(flown(before, now).map(({ kind, from, to }) => [kind, from, to]), [
    ["answer", "1", "2"], ["request", "3", "1"],
  ]);
  assert.deepEqual(flown(null, now), []);
  const there = flightOf({ kind: "request", from: "3", to: "1" }, lines),
    line = lines.find(({ key }) => key === "broker-1>broker-3");
  assert.deepEqual(there.points, [...line.points].reverse());
  assert.deepEqual(flightOf({ kind: "answer", from: "1", to: "3" }, lines).points, line.points);
  assert.equal(flightOf({ kind: "request", from: "3", to: "9" }, lines), null);
});

test("lines know nothing of brokers that have no place", () => {
  const { places } = drawn(well), view = structuredClone(well);
  delete places.boxes[3];
  assert.ok(linkLines(view.cluster, places, { held: ["1", "2"],
  leader: 1 }).every(({ key }) => !key.includes("broker-3")));
});
