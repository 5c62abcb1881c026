// The Pulsar page's pictures are arithmetic over the server's numbers: everything to scale, every part once, every word
// from the catalogue.
import assert from "node:assert/strict";
import test from "node:test";

import * as batches from "../../static/js/pulsar/batches.js";
import { rows as consumerRows } from "../../static/js/pulsar/consumers.js";
import * as cursor from "../../static/js/pulsar/cursor.js";
import { findings, layout as editorBar, written } from "../../static/js/pulsar/editor.js";
import * as ladder from "../../static/js/pulsar/ladder.js";
import * as lens from "../../static/js/pulsar/lens.js";
import { isSticky, joinOf, knowsLevels } from "../../static/js/pulsar/newcomer.js";
import * as ranges from "../../static/js/pulsar/ranges.js";
import * as ring from "../../static/js/pulsar/ring.js";
import * as round from "../../static/js/pulsar/round.js";
import { layout as series, rowsOf } from "../../static/js/pulsar/series.js";
import { handovers, owned, seen, windowOf } from "../../static/js/pulsar/space.js";
import * as standbys from "../../static/js/pulsar/standbys.js";
import { drainingTable, handedTable, othersTable, spaceTable } from "../../static/js/pulsar/tables.js";
import { chosenWords, verbsOf } from "../../static/js/pulsar/verbs.js";
import { lines } from "../../static/js/pulsar/what_if.js";
import { handedWords, headline, idleWords, rulesWords, spaceTitle, spaceWords } from "../../static/js/pulsar/words.js";
import { load, say } from "./fixtures/load.mjs";

const RATE = 0;                                        // nothing comes in: no load is beyond what consumers handle
const RIGS = load("pulsar").map(({ rigs }) => rigs.pulsar);
const [
  joined,
  newcomer,
  draining,
  sticky,
  failover,
  shared,
  exclusive,
  nobody,
  crowd,
  mixed,
  keyBased,
  letters,
  retry,
  refusedAcks,
  sharedBatches,
  failoverBatches,
] = RIGS;
const colorOf = (rig) => (name) => rig.consumers[name]?.color ?? null;
const hashed = RIGS.filter(({ picture }) => "space" in picture);

function check(shapes) {
  const ids = shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, place) => ids.indexOf(id) !== place)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(value !== undefined && !/NaN|undefined|Infinity/.test(String(value)), `${shape.id} ${name} = ${value}`);
    }
  }
  for (const { id, tag, width, height, r } of shapes) {
    if (tag === "rect") assert.ok(width > 0 && height > 0, `${id} is ${width} by ${height}`);
    if (tag === "circle") assert.ok(Number(r) > 0, `${id} has radius ${r}`);
  }
  return shapes;
}

function spaceOf(rig, size) {
  const { picture, pulsar } = rig, window = windowOf(picture.space / 3, picture.space / 24, picture.space);
  const slots = Object.keys(pulsar.draining?.slots ?? {}).map(Number);
  if (picture.kind === "ring") {
    return [
      ...ring.bands(picture, colorOf(rig), size),
      ...ring.marks(picture, size, {
        lens: window, slot: 7, draining: slots,
        lines: [
          ["4", "big b"], ["on the ring", ""],
        ],
      }),
    ];
  }
  return [
    ...ranges.bands(picture, colorOf(rig), size, say),
    ...ranges.marks(picture, size, { lens: window, slot: 7, draining: slots, number: String }),
  ];
}

test("every picture of every moment is whole, on a phone and on a wide screen", () => {
  for (const rig of RIGS) for (const width of [290, 620, 1100]) {
    for (const one of Object.values(rig.pulsar.cursors)) {
      check(cursor.layout(one, { width, order: rig.order, colorOf: colorOf(rig), say }));
    }
    if ("space" in rig.picture) {
      check(spaceOf(rig, width));
      for (const span of [16, rig.picture.space / 300, rig.picture.space]) {
        check(
          lens.layout(rig.picture, {
            window: windowOf(rig.picture.space / 2, span, rig.picture.space), width, colorOf: colorOf(rig),
            slot: rig.picture.space / 2, draining: rig.pulsar.draining?.slots ?? {}, say,
          }),
        );
      }
    } else if (rig.pulsar.failover) {
      check(standbys.layout(rig.pulsar, { width, colorOf: colorOf(rig), chosen: rig.order[0], say }));
    } else
      check(
        round.layout(rig.picture, rig.pulsar.consumers, {
          width, colorOf: colorOf(rig), permitsMost: rig.pulsar.queue_size, chosen: null, say,
        }),
      );
  }
});

test("what changed hands in the picture is what the server counts, giver by giver", () => {
  for (const rig of hashed.filter(({ picture }) => picture.before)) {
    const { picture, pulsar } = rig, counted = new Map();
    for (const [from, to, giver, taker] of handovers(picture, picture.kind === "ring")) {
      const key = `${picture.names[giver]}>${picture.names[taker]}`;
      counted.set(key, (counted.get(key) ?? 0) + to - from);
    }
    for (const { from, to, slots } of pulsar.handed) {
      assert.equal(counted.get(`${from ?? undefined}>${to ?? undefined}`), slots);
    }
    if (pulsar.handed.length < 24) assert.equal(counted.size, pulsar.handed.length);
  }
});

test("the pieces of all owners are the whole space, before and now", () => {
  for (const { picture } of hashed) for (const cut of [picture.now, picture.before].filter(Boolean)) {
    assert.equal([...owned(cut, picture).values()].reduce((sum, { slots }) => sum + slots, 0), picture.space);
  }
});

test("a newcomer on the ring has all of its points, each to scale", () => {
  const ticks = ring.bands(joined.picture, colorOf(joined), 440).filter(({ id }) => id.startsWith("tick-"));
  assert.equal(ticks.length, 4);
  const { names, now } = joined.picture, mine = now.owners.filter((owner) => names[owner] === "c4").length;
  const dashes = ticks.find(({ id }) => id === "tick-c4")["stroke-dasharray"].split(" ").length;
  assert.ok(mine > 60 && dashes / 2 > mine * 0.8, `${mine} points, ${dashes / 2} ticks`);
});

test("the lens shows its window and nothing else, cut to it, and stays within the space", () => {
  const { picture } = draining;
  assert.deepEqual(windowOf(0, 100, 1000), { from: 0, to: 100 });
  assert.deepEqual(windowOf(999, 100, 1000), { from: 900, to: 1000 });
  assert.deepEqual(windowOf(500, 1e9, 1000), { from: 0, to: 1000 });
  const window = windowOf(32_768, 2_000, picture.space), pieces = seen(picture.now, picture, window);
  assert.equal(pieces[0][0], window.from);
  assert.equal(pieces.at(-1)[1], window.to);
  pieces.slice(1).forEach(([from], place) => assert.equal(from, pieces[place][1]));
  const drawn = lens.layout(picture, {
    window: { from: 0, to: picture.space }, width: 600, colorOf: colorOf(draining), slot: null,
    draining: draining.pulsar.draining.slots, say,
  });
  assert.equal(
    drawn.filter(({ id }) => id.startsWith("drain-count-")).length,
    Object.keys(draining.pulsar.draining.slots).length,
  );
});

test("a point of the picture is the slot that is drawn there", () => {
  const { picture } = joined, size = 440, { centre, rim } = ring.geometry(size);
  for (const part of [0, 0.25, 0.6, 0.9]) {
    const turn = part * 2 * Math.PI;
    const slot = ring.slotAt([centre + rim * Math.sin(turn), centre - rim * Math.cos(turn)], picture, size);
    assert.ok(Math.abs(slot / picture.space - part) < 1e-6 || part === 0);
  }
  assert.equal(ring.slotAt([centre, centre], picture, size), null);
  assert.equal(ranges.slotAt([300, 5], draining.picture, 600), 32_768);
});

test("the strip's marks stand where the numbers say, and entries have the colour of who holds them", () => {
  const one = newcomer.pulsar.cursors["-1"], width = 900;
  const shapes = cursor.layout(one, { width, order: newcomer.order, colorOf: colorOf(newcomer), say });
  const of = (id) => shapes.find((shape) => shape.id === id);
  const { at } = cursor.scaleOf(one, width);
  assert.match(of("mark").d, new RegExp(`^M${at(one.mark_delete + 1)} `));
  assert.match(of("read-at").d, new RegExp(`^M${at(one.read)} `));
  assert.match(of("join-c4").d, new RegExp(`^M${at(one.joins.c4)} `));
  assert.equal(of(`entry-${one.mark_delete + 1}`).fill, "var(--id-1)");
  const cells = shapes.filter(({ id }) => id.startsWith("entry-"));
  assert.equal(cells.length, Math.min(96, one.end - one.mark_delete - 1));
  assert.equal(
    cells.filter(({ class: look }) => look.includes("acked")).length,
    one.near.filter(([who]) => who === -1).reduce((sum, [, count]) => sum + count, 0),
  );
});

function refusing(...names) {
  const rig = structuredClone(exclusive);
  const one = Object.values(rig.pulsar.consumers).find(({ idle }) => idle?.code === "refused");
  for (const name in rig.pulsar.consumers) {
    if (rig.pulsar.consumers[name].idle?.code === "refused") delete rig.pulsar.consumers[name];
  }
  for (const name of names) rig.pulsar.consumers[name] = structuredClone(one);
  return rig;
}

test("the headline names a crashed consumer before whoever waits for it", () => {
  const crashed = structuredClone(newcomer);
  Object.assign(crashed.pulsar.consumers.c1, { idle: { code: "crashed", deadline_us: 1 } });
  assert.match(
    headline(crashed, RATE, say),
    /^subscription\.head\.crashed .*"count":1,"who":"c1".*subscription\.head\.newcomer .*"c4"/,
  );
  for (const known of Object.values(crashed.pulsar.consumers)) if (known.idle?.code !== "crashed") known.idle = null;
  assert.match(headline(crashed, RATE, say), /^subscription\.head\.crashed [^.]*$/);
  assert.deepEqual(consumerRows(crashed, "c2", say).filter(({ isBad }) => isBad).length, 1);
});

test("where more comes in than the consumers handle the headline says by how much", () => {
  const handled = Object.values(crowd.consumers)
    .filter(({ state, share }) => state === "live" && share !== 0)
    .reduce((sum, { capacity }) => sum + capacity, 0);
  assert.match(headline(crowd, handled, say), /head.well/);
  assert.match(headline(crowd, handled + 6, say), /^overload .*"excess":6/);
});

test("the headline and the lines of the table name the cause", () => {
  const { position, older } = newcomer.pulsar.consumers.c4.idle;
  assert.match(headline(newcomer, RATE, say), new RegExp(`head.newcomer .*"older":${older}.*"consumer":"c4"`));
  assert.match(
    idleWords(newcomer.pulsar.consumers.c2.idle, say),
    new RegExp(`idle.behind_newcomer .*"position":${position}.*"holder":"c1"`),
  );
  assert.match(headline(sticky, RATE, say), /head.gap .*50/);
  assert.match(headline(failover, RATE, say), /head.switching/);
  assert.match(headline(exclusive, RATE, say), /head.refused .*ConsumerBusy/);
  assert.match(headline(refusing("c2", "c3"), RATE, say), /"who":"list.and {.*first.*c2.*last.*c3/);
  assert.match(headline(refusing("c2"), RATE, say), /"who":"c2"/);
  assert.match(headline(refusing("c2", "c3", "c4", "c5"), RATE, say), /"who":"subscription.head.consumers {.*4/);
  assert.match(headline(nobody, RATE, say), /head.nobody/);
  assert.match(headline(crowd, RATE, say), /head.well .*17/);
  const rows = consumerRows(newcomer, "c2", say);
  assert.deepEqual(rows.map(({ isBad }) => isBad), [true, true, true, true]);
  assert.deepEqual(rows.map(({ isChosen }) => isChosen), [false, true, false, false]);
  assert.equal(rows[0].cells[3], String(newcomer.pulsar.consumers.c1.unacked));
});

test("a message without a key that goes by its number is promised to nobody", () => {
  const rows = lines(
    {
      key: "", hash: null, slot: null, range: null, partition: null, topic: null, consumer: null, joins: {}, leaves: {},
    },
    draining,
    say,
  );
  assert.deepEqual(
    rows.map(([, text]) => text),
    [say("subscription.answer.spread_hash"), say("subscription.answer.spread")],
  );
});

test("the page says which rule runs", () => {
  assert.match(
    rulesWords(newcomer, say),
    /^subscription.type.Key_Shared {} · .*version.3.2 .* · subscription.order_words.recently_joined/,
  );
  assert.match(rulesWords(draining, say), /order_words.draining(?!_)/);
  assert.match(rulesWords({ ...draining, algorithm: "sticky" }, say), /order_words.draining_sticky/);
  assert.doesNotMatch(rulesWords(shared, say), /order_words/);
  assert.match(rulesWords(failover, say), /"rule":"subscription.type.Failover {}".*version.3.2/);
  assert.deepEqual(spaceTable(joined, say).rows.map(([name]) => name), joined.order);
  for (const rig of RIGS) assert.ok(spaceTitle(rig.pulsar, rig.picture, say) && spaceWords(rig, say));
  assert.match(spaceWords(sticky, say), /gap_words.3.2/);
  const current = { ...sticky, pulsar: { ...sticky.pulsar, rule: { selector: "current", order: "current" } } };
  assert.match(spaceWords(current, say), /gap_words.current/);
  assert.doesNotMatch(spaceWords(draining, say), /gap_words/);
  assert.match(
    handedWords({ from: null, to: "c1", slots: 5, pieces: 1, largest: [0, 4] }, 10, say),
    /from_nobody .*50/,
  );
});

test("one active consumer a partition, the next one framed, and nobody reads in the second of a switch", () => {
  const { partitions, order } = failover.pulsar.failover;
  const shapes = standbys.layout(failover.pulsar, { width: 700, colorOf: colorOf(failover), chosen: null, say });
  for (const [partition, { active, next, switching }] of Object.entries(partitions)) {
    const cells = order.map(([name]) => shapes.find(({ id }) => id === `cell-${partition}-${name}`));
    assert.deepEqual(
      cells.filter(({ class: look }) => look === "o").map(({ id }) => id),
      [`cell-${partition}-${active}`],
    );
    assert.deepEqual(
      cells.filter(({ class: look }) => look === "next").map(({ id }) => id),
      [`cell-${partition}-${next}`],
    );
    assert.equal(/wait-/.test(cells.find(({ class: look }) => look === "o").fill), switching);
  }
  assert.ok(Object.values(partitions).some(({ switching }) => switching));
});

test("the tables say what the pictures show", () => {
  for (const rig of RIGS) {
    const { head, rows, terms } = spaceTable(rig, say);
    assert.ok(
      head.length === terms.length &&
        rows.every((row) => row.length === head.length && row.every((text) => typeof text === "string")),
    );
    const table = cursor.table(rig.pulsar.cursors, say);
    assert.ok(table.rows.every((row) => row.length === table.head.length));
  }
  assert.equal(handedTable(joined, say).rows.length, joined.pulsar.handed.length);
  assert.equal(
    drainingTable(draining.pulsar.draining, say).rows.length,
    Object.keys(draining.pulsar.draining.slots).length,
  );
});

test("verbs follow from the consumer's state and from the registry", () => {
  const kinds = {
    join: [], pause: [], resume: [], pulsar_hold_acks: [], pulsar_release_acks: [], slow: [], crash: [], leave: [],
    rejoin: [], pulsar_redeliver: [], pulsar_unsubscribe: [], pulsar_lose_receipts: ["seconds"],
  };
  const of = (rig, name, known = kinds) => verbsOf(rig, name, known, say).map(({ id }) => id);
  assert.deepEqual(of(newcomer, null), ["join"]);
  assert.deepEqual(of(newcomer, "c1"), [
    "join", "resume", "pulsar_hold_acks", "crash", "leave", "pulsar_redeliver", "pulsar_unsubscribe",
  ]);
  assert.deepEqual(of(newcomer, "c2"), [
    "join", "pause", "pulsar_hold_acks", "slow", "crash", "leave", "pulsar_redeliver", "pulsar_unsubscribe",
  ]);
  assert.deepEqual(of(shared, "c2"), ["join", "rejoin", "leave"]);
  assert.deepEqual(of(newcomer, "c2", { join: [] }), ["join"]);
  assert.deepEqual(
    of(exclusive, "c2").includes("pulsar_unsubscribe"),
    false,
    "who was refused has no subscription to take away",
  );
  const waits = { ...newcomer, pulsar: { ...newcomer.pulsar, producer: {} } };
  assert.deepEqual(
    verbsOf(waits, null, kinds, say).map(({ order }) => order),
    [{ kind: "join" }, { kind: "pulsar_lose_receipts" }],
  );
  const keys = verbsOf(newcomer, "c2", kinds, say).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
  assert.match(chosenWords(nobody, null, say), /choose_none/);
});

test("an answer names where a key goes, and nothing that nobody knows", () => {
  const answer = {
    key: "k", hash: 9, slot: 3, range: [0, 7], partition: null, consumer: "c1",
    joins: { name: "c5", consumer: "c5", refused: null }, leaves: { c1: null },
  };
  const texts = lines(answer, joined, say).map(([word, text]) => `${word}=${text}`).join("\n");
  assert.match(texts, /answer.join .*c5.*answer.moves .*c5/);
  assert.match(lines({ ...answer, key: "" }, joined, say)[0][1], /answer.keyless .*9/);
  assert.match(texts, /answer.leave .*c1.*answer.moves_nowhere/);
  assert.match(
    lines({ ...answer, slot: null, range: null, consumer: null }, shared, say)
      .map(([, text]) => text)
      .join(),
    /answer.any/,
  );
  assert.match(
    lines({ ...answer, partition: 1, joins: { name: "c2", consumer: null, refused: "no" } }, exclusive, say)
      .map(([, text]) => text)
      .join(),
    /answer.refused/,
  );
});

test("typed ranges show gaps, overlaps and the broker's word", () => {
  const answer = {
    ranges: [[30_000, 40_000]], refused: { kind: "range_conflict", message: "Range conflict", conflict: "c3" },
    covered: 40_001, space: 65_536, gaps: [[40_001, 65_535]], overlaps: [[30_000, 32_767, "c3"]],
  };
  check(editorBar(answer, sticky.pulsar.consumers, { who: "c1", width: 500, colorOf: colorOf(sticky) }));
  assert.deepEqual(findings(answer, say).map(([, isBad]) => isBad), [false, true, true]);
  assert.deepEqual(findings({ ...answer, refused: null, overlaps: [] }, say).map(([, isBad]) => isBad), [false, false]);
  assert.equal(written([[0, 1], [4, 5]]), "0-1, 4-5");
});

const identity = ["a", "b", "c", "d", "e", "f", "g"];

test("the chart is what the lab has kept, whenever the page was opened, " +
  "with a gap where a consumer was not there", () => {
  const view = {
    rigs: { pulsar: { pulsar: { history: { 9: { c1: 40, c2: 50 }, 10: { c1: 42 }, 11: { c1: 40, c4: 10 } } } } },
    history: { 8: { pulsar: 3 }, 9: { pulsar: 1.25 }, 10: { pulsar: null }, 11: { pulsar: 1.5 } },
  };
  const rows = rowsOf(view, "pulsar");
  const { traces } = series(rows, { say, colors: { identity }, colorOf: colorOf(joined) });
  assert.deepEqual(
    rows.map(({ at, skew }) => [at, skew]),
    [
      [9, 1.25], [10, null], [11, 1.5],
    ],
  );
  assert.deepEqual(
    traces.map(({ name, y }) => [name.split(" ")[0], y]),
    [
      ["c1", [4, 4.2, 4]], ["c2", [5, null, null]], ["c4", [null, null, 1]], ["subscription.skew", [1.25, null, 1.5]],
    ],
  );
  assert.deepEqual(rowsOf({ rigs: { pulsar: { pulsar: {} } } }, "pulsar"), [], "a view from before the lab kept it");
});

test("times under the chart stand apart, though samples of many consumers are few", () => {
  for (const [every, isNarrow, width] of [
    [1, false, 700], [1, true, 250], [7, false, 700], [8, true, 250],
  ]) {
    for (const last of [100, 180]) {
      const rows = Array.from({ length: Math.ceil(last / every) }, (_, place) => ({
        at: 601 + place * every, rates: { c1: 1 }, skew: 1,
      }));
      const { tickvals, ticktext } = series(rows, { say, colors: { identity }, colorOf: colorOf(joined), isNarrow })
        .layout.xaxis;
      assert.equal(ticktext.length, tickvals.length);
      assert.ok(
        tickvals.length >= 2 && ((tickvals[1] - tickvals[0]) / (rows.at(-1).at - 601)) * width >= 40,
        `${tickvals}`,
      );
    }
  }
});

test("an even share is the floor of the skew's axis, so that little looks like little", () => {
  const colors = { identity }, range = (...skews) => series(
    skews.map((skew, at) => ({ at, rates: { c1: 1 }, skew })), { say, colors, colorOf: colorOf(joined) },
  ).layout.yaxis2.range;
  assert.deepEqual(range(1.02, 1.03), [1, 1.5]);
  assert.deepEqual(range(null, 1), [1, 1.5]);
  assert.deepEqual(range(1.2, 4), [1, 4.2]);
});

test("a column for each entry: who got it above, each key in its owner's colour, and what went astray outlined", () => {
  for (const rig of [mixed, keyBased]) for (const width of [290, 620, 1100]) {
    const known = rig.pulsar.batches, shapes = check(batches.layout(known, { width, colorOf: colorOf(rig), say }));
    const entries = batches.shown(known, width);
    const cells = shapes.filter(({ id }) => id.startsWith("cell-"));
    const strays = cells.filter((shape) => shape.class === "stray");
    assert.equal(shapes.filter(({ id }) => /^who-\d/.test(id)).length, entries.length);
    assert.equal(cells.length, entries.reduce((sum, [, { keys }]) => sum + keys.length, 0));
    assert.equal(strays.length, entries.reduce((sum, [, entry]) => sum + batches.misplacedIn(entry), 0));
    for (const { x, width: wide } of cells) assert.ok(x >= 0 && x + wide <= width, `${x} + ${wide} in ${width}`);
    assert.ok(Math.max(...cells.map(({ y, height }) => y + height)) <= batches.tall(known, width));
    assert.equal(strays.length > 0, rig === mixed);
  }
  const [[position, entry]] = batches.shown(mixed.pulsar.batches, 290);
  const cell = batches
    .layout(mixed.pulsar.batches, { width: 290, colorOf: colorOf(mixed), say })
    .find(({ id }) => id === `cell-${position}-0`);
  assert.match(
    cell.title,
    new RegExp(`^subscription\\.batch_message .*"owner":"${entry.to}","consumer":"${entry.to}"`),
  );
});

test("where keys have no owner a column has one colour, nothing is astray, " +
  "and of several partitions each entry says its own", () => {
  for (const rig of [sharedBatches, failoverBatches]) {
    const known = rig.pulsar.batches, shapes = check(batches.layout(known, { width: 620, colorOf: colorOf(rig), say }));
    const entries = batches.shown(known, 620);
    assert.ok(!known.has_owners && known.misplaced === 0 && entries.length > 3);
    assert.equal(shapes.filter((shape) => shape.class === "stray").length, 0);
    for (const [key, { to }] of entries) {
      const fills = shapes
        .filter(({ id }) => id.startsWith(`cell-${key}-`) || id === `who-${key}`)
        .map(({ fill }) => fill);
      assert.equal(new Set(fills).size, 1, `entry ${key} of ${to}`);
    }
    assert.ok(
      shapes
        .filter(({ id }) => id.startsWith("cell-"))
        .every(({ title }) => title.startsWith("subscription.batch_any")),
    );
    assert.match(
      batches.words(known, say),
      new RegExp(`^subscription\\.batches_any .*"entries":${known.entries},"messages":${known.messages}`),
    );
    assert.match(batches.kind(known, say), /default_any/);
    assert.deepEqual(
      batches.table(known, say).head.map((text) => text.split(".").at(-1).split(" ")[0]),
      ["entry", "sent_to", "messages", "keys", "sent_times"],
    );
  }
  const named = batches.shown(failoverBatches.pulsar.batches, 9999).map(([, { part }]) => part);
  assert.deepEqual([...new Set(named)].sort(), [0, 1, 2]);
  assert.match(
    batches
      .layout(failoverBatches.pulsar.batches, { width: 290, colorOf: colorOf(failoverBatches), say })
      .find(({ id }) => id.startsWith("at-")).text,
    /^\d:\d+$/,
  );
  assert.match(batches.kind(mixed.pulsar.batches, say), /batching\.default /);
});

test("the words of batches are the server's counts, and the headline says it where keys went astray", () => {
  const { entries, messages, misplaced } = mixed.pulsar.batches, said = batches.words(mixed.pulsar.batches, say);
  assert.match(
    said,
    new RegExp(
      `^subscription\\.batches_words .*"entries":${entries},"messages":${messages},.*"misplaced":${misplaced},`,
    ),
  );
  assert.ok(misplaced > 0 && said.includes(`"each":"${(messages / entries).toFixed(1)}"`));
  assert.match(
    headline(mixed, RATE, say),
    new RegExp(`^subscription\\.head\\.stray .*${Math.round((misplaced / messages) * 100)}`),
  );
  assert.match(batches.words(keyBased.pulsar.batches, say), /^subscription\.batches_right /);
  assert.doesNotMatch(headline(keyBased, RATE, say), /stray/);
  assert.match(batches.ackWords(mixed.pulsar.batches, say), /batches_whole/);
  assert.match(batches.ackWords(keyBased.pulsar.batches, say), /batches_index/);
});

test("the table of batches has every entry, the newest first", () => {
  const { rows, head } = batches.table(mixed.pulsar.batches, say), numbers = rows.map(([position]) => Number(position));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  assert.equal(rows.length, Object.keys(mixed.pulsar.batches.recent).length);
  for (const row of rows) assert.equal(row.length, head.length);
});

test("each message stands on its ladder as often as it was delivered, and the foot counts the dead letters", () => {
  for (const rig of [letters, retry]) for (const width of [290, 620, 1100]) {
    const { again } = rig.pulsar, shapes = check(ladder.layout(again, { width, colorOf: colorOf(rig), say }));
    const columns = shapes.filter(({ id }) => id.startsWith("record-"));
    const drawn = columns.map(({ id }) => again.entries[id.slice(7)]);
    assert.ok(drawn.length > 0 && drawn.length <= again.count);
    assert.equal(
      shapes.filter(({ id }) => id.startsWith("time-")).length,
      drawn.reduce((sum, { times }) => sum + times + 1, 0),
    );
    assert.equal(
      shapes.find(({ id }) => id === "more")?.text,
      again.count > drawn.length ? `+${again.count - drawn.length}` : undefined,
    );
    assert.match(shapes.find(({ id }) => id === "letters").text, new RegExp(`"count":${again.dead_letters}`));
    for (const { y = 0, height = 0 } of shapes) assert.ok(y + height <= ladder.tall(again), `${y} + ${height}`);
    for (const { id, x = 0, width: wide = 0 } of shapes) {
      assert.ok(x + wide <= width, `${id} ends at ${x + wide} of ${width}`);
    }
  }
  assert.match(ladder.words(letters.pulsar.again, say), /again_words .*again_max .*"max":3/);
  assert.match(ladder.words(retry.pulsar.again, say), /again_retry/);
  assert.equal(ladder.table(letters.pulsar.again, say).rows.length, letters.pulsar.again.count);
});

test("a ladder without an end counts on, and the headline names the entry that mark-delete cannot pass", () => {
  const endless = structuredClone(letters), [first] = Object.keys(endless.pulsar.again.entries);
  endless.pulsar.again.max = 0;
  endless.pulsar.again.entries[first].times = 41;
  endless.pulsar.cursors["-1"].mark_delete = Number(first) - 1;
  const shapes = check(ladder.layout(endless.pulsar.again, { width: 620, colorOf: colorOf(endless), say }));
  assert.equal(shapes.find(({ id }) => id === `times-${first}`).text, "×42");
  assert.equal(shapes.filter(({ id }) => id.startsWith(`time-${first}-`)).length, 8);
  assert.equal(shapes.some(({ id }) => id === "letters"), false);
  assert.match(headline(endless, RATE, say), new RegExp(`head.for_ever .*"position":${first},"times":41`));
  assert.match(ladder.words(endless.pulsar.again, say), /again_for_ever/);
});

test("who acknowledges cumulatively where that is refused says so", () => {
  const [row] = consumerRows(refusedAcks, null, say);
  assert.match(row.state, /acks_refused/);
  assert.match(headline(refusedAcks, RATE, say), /head.acks_refused/);
});

test("a process that is silent is called so, whatever its client was last", () => {
  const stateOf = (state, known) =>
    consumerRows(
      {
        ...joined, consumers: { ...joined.consumers, c1: { ...joined.consumers.c1, state } },
        pulsar: {
          ...joined.pulsar, consumers: { ...joined.pulsar.consumers, c1: { ...joined.pulsar.consumers.c1, ...known } },
        },
      },
      null,
      say,
    )[0].state;
  for (const known of [{ holds_acks: true }, { refused_acks: 3 }, { refused: "ConsumerBusy" }, {}]) {
    assert.match(stateOf("crashed", known), /^state.crashed/);
  }
  assert.match(stateOf("live", { holds_acks: true }), /state.holding/);
  assert.match(stateOf("paused", { holds_acks: true }), /^state.paused/);
  assert.match(stateOf("slow", {}), /^state.slow/);
});

test("other subscriptions have a row for each consumer, named once", () => {
  const { rows, head } = othersTable(
    {
      audit: {
        type: "Shared", backlog: 7,
        consumers: { "audit-1": { finished: 3, unacked: 1 }, "audit-2": { finished: 4, unacked: 0 } },
      },
    },
    say,
  );
  assert.deepEqual(rows, [["audit", "Shared", "7", "audit-1", "3", "1"], ["", "", "", "audit-2", "4", "0"]]);
  assert.equal(head.length, 6);
});

test("the headline names who waits, not whom it waits for", () => {
  const waits = structuredClone(draining);
  for (const known of Object.values(waits.pulsar.consumers)) known.idle = null;
  waits.pulsar.consumers.c4.idle = { code: "draining", slot: 7, consumer: "c1", count: 2 };
  assert.match(headline(waits, RATE, say), /head.draining .*"consumer":"c4"/);
});

test("the entries of a short topic are wide enough to be told apart", () => {
  const short = {
    ...newcomer.pulsar.cursors["-1"], mark_delete: -1, read: 5, end: 9, holes: {}, hole_count: 0, joins: {},
    near: [
      [0, 4], [-2, 1], [-3, 4],
    ],
  };
  for (const [width, least] of [[290, 22], [700, 18]]) {
    const cells = check(cursor.layout(short, { width, order: newcomer.order, colorOf: colorOf(newcomer), say })).filter(
      ({ id }) => /^entry-/.test(id),
    );
    assert.equal(cells.length, 9);
    for (const { width: wide } of cells) assert.ok(wide >= least, `${wide} of ${width}`);
  }
});

test("four consumers of Failover fit on a phone", () => {
  assert.ok(failover.order.length >= 3 && standbys.wide(failover.pulsar.failover, 332) <= 332);
  const shapes = standbys.layout(failover.pulsar, { width: 332, colorOf: colorOf(failover), chosen: null, say });
  for (const { id, x = 0, width = 0 } of shapes) assert.ok(x + width <= 332, `${id} ends at ${x + width}`);
});

test("several topics without partitions are called by their names", () => {
  const many = structuredClone(failover);
  many.pulsar.topics = 3;
  many.pulsar.partitions = 0;
  for (const panel of [many.pulsar.failover.partitions, many.pulsar.cursors]) {
    for (const [partition, known] of Object.entries(panel)) {
      delete panel[partition];
      panel[`topic-${partition}`] = known;
    }
  }
  const shapes = check(standbys.layout(many.pulsar, { width: 700, colorOf: colorOf(many), chosen: null, say }));
  assert.match(shapes.find(({ id }) => id === "head-partition").text, /subscription\.topic/);
  assert.ok(shapes.some(({ title }) => title?.includes('"where":"topic-1"')));
  assert.match(spaceWords(many, say), /space_words.topics .*"count":3/);
  const answer = {
    key: "", hash: 1, slot: null, range: null, partition: null, topic: null, consumer: null,
    joins: { name: "c9", consumer: null, refused: null }, leaves: {},
  };
  assert.match(lines(answer, many, say).at(-1)[1], /in_turn/);
  assert.ok(
    lines({ ...answer, key: "k", topic: "persistent://public/default/topic-2", consumer: "c2" }, many, say).some(
      ([, text]) => text === "topic-2",
    ),
  );
});

test("where every consumer is active the headline speaks of no standbys", () => {
  const all = structuredClone(failover), names = all.order;
  for (const known of Object.values(all.pulsar.consumers)) known.idle = null;
  const partitions = Object.values(all.pulsar.failover.partitions);
  assert.match(
    headline(
      {
        ...all,
        pulsar: {
          ...all.pulsar,
          failover: {
            ...all.pulsar.failover,
            partitions: Object.fromEntries(names.map((active, place) => [place, { ...partitions[0], active }])),
          },
        },
      },
      RATE,
      say,
    ),
    /head.failover_all/,
  );
  assert.match(
    headline(
      {
        ...all,
        pulsar: {
          ...all.pulsar,
          failover: { ...all.pulsar.failover, partitions: { 0: { ...partitions[0], active: names[0] } } },
        },
      },
      RATE,
      say,
    ),
    /head.failover .*"count":1/,
  );
});

test("a newcomer joins with what is given and nothing else", () => {
  assert.deepEqual(joinOf({}), { kind: "join", args: {} });
  assert.deepEqual(joinOf({ name: " pod-1 ", level: "2" }), { kind: "join", consumer: "pod-1", args: { priority: 2 } });
  assert.deepEqual(joinOf({ name: "", level: "0", ranges: [[0, 9]] }), {
    kind: "join", args: { priority: 0, ranges: [[0, 9]] },
  });
  assert.deepEqual([failover, shared, exclusive, sticky].map(knowsLevels), [true, true, false, false]);
  assert.deepEqual([joined, sticky].map(isSticky), [false, true]);
});

test("a gap that newcomers wait for is the head's sentence", () => {
  const rig = structuredClone(newcomer);
  const [name] = Object.entries(rig.pulsar.consumers).find(([, { idle }]) => idle?.code === "newcomer");
  rig.pulsar.consumers[name].idle = { ...rig.pulsar.consumers[name].idle, holder: null, unowned: true };
  assert.match(idleWords(rig.pulsar.consumers[name].idle, say), /subscription.nobody_owns/);
  rig.picture = {
    ...rig.picture, now: sticky.picture.now, space: sticky.picture.space, kind: sticky.picture.kind,
    names: sticky.picture.names.slice(0, -1),
  };
  assert.match(headline(rig, RATE, say), /subscription.head.gap_newcomers/);
});

test("the round names levels where there are any", () => {
  const rig = structuredClone(shared);
  const words = () =>
    round
      .layout(rig.picture, rig.pulsar.consumers, {
        width: 500, colorOf: colorOf(rig), permitsMost: 1000, chosen: null, say,
      })
      .filter(({ id }) => id.startsWith("level-"));
  assert.equal(words().length, 0);
  rig.pulsar.consumers[rig.picture.ring[0]].priority = 2;
  assert.deepEqual(
    check(words()).map(({ text }) => text),
    rig.picture.ring.map((_, place) => `subscription.level {"priority":${place ? 0 : 2}}`),
  );
});

test("the head says who is gone, which subscription is not there, " +
  "whose slice is too wide and what nobody could handle", () => {
  const changed = (rig, change) => {
    const copy = structuredClone(rig);
    change(copy);
    return headline(copy, RATE, say);
  };
  const rest = (rig) =>
    Object.values(rig.pulsar.consumers).forEach((known) => {
      known.idle = null;
    });
  assert.match(
    changed(joined, (rig) => {
      rig.pulsar.exists = false;
    }),
    /^subscription.head.no_subscription/,
  );
  assert.match(
    changed(shared, (rig) => {
      for (const known of Object.values(rig.pulsar.consumers)) {
        Object.assign(known, { connected: false, idle: { code: "gone" } });
      }
    }),
    /^subscription.head.nobody/,
  );
  // One that has crashed and is given up stands by no more.
  assert.equal(
    changed(failover, (rig) => {
      rest(rig);
      const { connected } = Object.values(rig.pulsar.consumers)[0], names = Object.keys(rig.pulsar.consumers);
      assert.ok(connected);
      rig.pulsar.failover.partitions = { 0: { active: names[0], next: null } };
      for (const name of names.slice(1)) rig.pulsar.consumers[name].connected = false;
    }),
    'subscription.head.failover_all {"count":1}',
  );
  const uneven = (rig) => {
    rest(rig);
    rig.pulsar.batches = null;
    const [wide, ...others] = [...owned(rig.picture.now, rig.picture)]
      .sort(([, one], [, other]) => other.slots - one.slots)
      .map(([name]) => name);
    rig.pulsar.consumers[wide].queue = 150;
    for (const name of others) rig.pulsar.consumers[name].queue = 10;
    return wide;
  };
  assert.match(changed(mixed, uneven), /^subscription.head.uneven .*"queue":150/);
  assert.match(
    changed(mixed, (rig) => {
      rig.consumers[uneven(rig)].state = "slow";
    }),
    /^subscription.head.well/,
  );
  assert.match(
    changed(shared, (rig) => {
      Object.values(rig.pulsar.consumers).forEach((known, place) => {
        known.idle = place ? null : { code: "better_level", priority: 2, best: 0 };
      });
    }),
    /^subscription.head.levels .*"waiting":1/,
  );
  const former = (rig) => {
    rest(rig);
    Object.values(rig.pulsar.consumers)[0].former = 9;
  };
  assert.match(changed(failover, former), /^subscription.head.former .*"count":9/);
  assert.match(
    changed(exclusive, (rig) => {
      Object.values(rig.pulsar.consumers)[0].former = 9;
    }),
    /^subscription.head.former/,
  );
  assert.match(
    changed(letters, (rig) => {
      rest(rig);
      rig.pulsar.again.dead_letters = 2;
    }),
    /^subscription.head.letters/,
  );
});

test("who came back waits for its own former connection, not for itself", () => {
  const idle = { code: "draining", slot: 7, consumer: "c1", count: 2 };
  assert.match(idleWords(idle, say, "c1"), /"consumer":"subscription.former_self/);
  assert.match(idleWords(idle, say, "c2"), /"consumer":"c1"/);
  assert.match(
    idleWords({ code: "newcomer", limit: 9, position: 3, older: 1, holder: "c1" }, say, "c1"),
    /"holder":"subscription.former_self/,
  );
});

test("who waits behind entries that cannot be sent is told for whom the first of them is, " +
  "or that it is for nobody", () => {
  const idle = { code: "out_of_reach", position: 295, before: 106, owner: "c1" };
  assert.match(idleWords(idle, say, "c2"), /"owner":"c1"/);
  assert.match(idleWords({ ...idle, owner: null }, say, "c2"), /"owner":"subscription.gap/);
});
