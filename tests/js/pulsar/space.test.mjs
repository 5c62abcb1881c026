// The hash space: everything to scale, every part once, every word from the catalogue.
import assert from "node:assert/strict";
import test from "node:test";

import * as cursor from "../../../static/js/pulsar/cursor.js";
import * as lens from "../../../static/js/pulsar/lens.js";
import * as ranges from "../../../static/js/pulsar/ranges.js";
import * as ring from "../../../static/js/pulsar/ring.js";
import * as round from "../../../static/js/pulsar/round.js";
import { handovers, owned, seen, windowOf } from "../../../static/js/pulsar/space.js";
import * as standbys from "../../../static/js/pulsar/standbys.js";
import { say } from "../fixtures/load.mjs";
import { LANES, joined, draining, colorOf, check } from "./known.mjs";

const hashed = LANES.filter(({ picture }) => "space" in picture);

function spaceOf(lane, size) {
  const { picture, pulsar } = lane, window = windowOf(picture.space / 3, picture.space / 24, picture.space);
  const slots = Object.keys(pulsar.draining?.slots ?? {}).map(Number);
  if (picture.kind === "ring") {
    return [
      ...ring.bands(picture, colorOf(lane), size),
      ...ring.marks(picture, size, {
        lens: window, slot: 7, draining: slots,
        lines: [
          ["4", "big b"], ["on the ring", ""],
        ],
      }),
    ];
  }
  return [
    ...ranges.bands(picture, colorOf(lane), size, say),
    ...ranges.marks(picture, size, { lens: window, slot: 7, draining: slots, number: String }),
  ];
}

test("every picture of every moment is whole, on a phone and on a wide screen", () => {
  for (const lane of LANES) for (const width of [290, 620, 1100]) {
    for (const one of Object.values(lane.pulsar.cursors)) {
      check(cursor.layout(one, { width, order: lane.order, colorOf: colorOf(lane), say }));
    }
    if ("space" in lane.picture) {
      check(spaceOf(lane, width));
      for (const span of [16, lane.picture.space / 300, lane.picture.space]) {
        check(
          lens.layout(lane.picture, {
            window: windowOf(lane.picture.space / 2, span, lane.picture.space), width, colorOf: colorOf(lane),
            slot: lane.picture.space / 2, draining: lane.pulsar.draining?.slots ?? {}, say,
          }),
        );
      }
    } else if (lane.pulsar.failover) {
      check(standbys.layout(lane.pulsar, { width, colorOf: colorOf(lane), chosen: lane.order[0], say }));
    } else
      check(
        round.layout(lane.picture, lane.pulsar.consumers, {
          width, colorOf: colorOf(lane), permitsMost: lane.pulsar.queue_size, chosen: null, say,
        }),
      );
  }
});

test("what changed hands in the picture is what the server counts, giver by giver", () => {
  for (const lane of hashed.filter(({ picture }) => picture.before)) {
    const { picture, pulsar } = lane, counted = new Map();
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
