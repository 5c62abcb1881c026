// The pointer: its plate is beside what it points at and inside the window, and covers nothing of it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { boxOf, covered, layout, places, plateWidth } from "../../../static/js/lesson/pointer.js";
import { PAGES, thingOf } from "../../../static/js/lesson/things.js";

const ROOM = { left: 0, top: 100, right: 1280, bottom: 640 };
const box = (left, top, width = 60, height = 30) => ({ left, top, right: left + width, bottom: top + height });
const touches = (one, other) =>
  one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;

test("wherever the thing is a plate stands beside it, inside the window", () => {
  for (let left = 10; left < 1200; left += 119) {
    for (let top = 110; top < 600; top += 61) {
      const thing = box(left, top), found = places(thing, plateWidth("still at 8"), ROOM);
      assert.ok(found.length > 0, `${left} ${top}`);
      for (const place of found) {
        assert.ok(!touches(place, thing));
        assert.ok(place.left >= ROOM.left && place.right <= ROOM.right);
        assert.ok(place.top >= ROOM.top && place.bottom <= ROOM.bottom);
      }
    }
  }
});

test("on a phone it stands above or below what is as wide as the window", () => {
  const room = { left: 0, top: 206, right: 390, bottom: 732 };
  const found = places(box(10, 300, 370, 60), 120, room);
  assert.ok(found.length >= 2);
  assert.ok(found.every((place) => place.top >= 360 || place.bottom <= 300));
});

test("where there is no room for a plate the outline stands alone", () => {
  assert.deepEqual(places(box(0, 100, 1280, 540), 120, ROOM), []);
  assert.deepEqual(layout(box(0, 100, 1280, 540), null, "x").map(({ id }) => id), ["rim", "edge"]);
});

test("the arrow leads from the plate to the outline's edge", () => {
  const thing = box(600, 300), [right] = places(thing, 100, ROOM);
  const arrow = layout(thing, right, "here").find(({ id }) => id === "arrow");
  assert.match(arrow.d, /^M699 315L665 315/);
});

test("a place counts the words under its plate twice, and under its arrow once", () => {
  const thing = box(600, 300), [right, left] = places(thing, 100, ROOM);
  assert.equal(covered(right, []), 0);
  assert.equal(covered(right, [box(right.left + 4, right.top + 4, 20, 12)]), 2);
  assert.equal(covered(right, [box(670, 305, 20, 20)]), 1);
  assert.equal(covered(left, [box(670, 305, 20, 20)]), 0);
});

test("where words stand straight beside a thing, a shifted place is free of them", () => {
  const thing = box(600, 300), words = places(thing, 100, ROOM).slice(0, 4)
    .map(({ left, top }) => box(left + 30, top + 10, 20, 12));
  assert.ok(places(thing, 100, ROOM).some((place) => covered(place, words) === 0));
});

test("a plate is wide enough for Chinese, too", () => {
  assert.ok(plateWidth("仍是第八条") > plateWidth("abcde") * 1.3);
});

test("a thing has a kind and an id, and may name its lane", () => {
  assert.deepEqual(thingOf("consumer:c3@kafka"), { kind: "consumer", id: "c3", lane: "kafka" });
  assert.deepEqual(thingOf("link:broker-1>broker-2"), { kind: "link", id: "broker-1>broker-2", lane: null });
  assert.deepEqual(thingOf("partition:1:orders:0"), { kind: "partition", id: "1:orders:0", lane: null });
  assert.deepEqual(Object.keys(PAGES), ["stage", "cluster", "groups", "pulsar", "tubemq", "rabbitmq"]);
});

test("of what its scrolling box hides nothing is outlined, of a line all", (context) => {
  const body = {};
  const getComputedStyle = () => ({ overflowX: "auto" });
  Object.assign(globalThis, { document: { body }, scrollX: 0, scrollY: 0, getComputedStyle });
  const made = ["document", "scrollX", "scrollY", "getComputedStyle"];
  context.after(() => made.forEach((name) => delete globalThis[name]));
  const box = (left, top, right, bottom, parentElement = body) =>
    ({ parentElement, getBoundingClientRect: () => ({ left, top, right, bottom }) });
  const scrolled = box(0, 0, 300, 200);
  assert.equal(boxOf([box(440, 20, 640, 60, scrolled)]), null);
  assert.deepEqual(boxOf([box(250, 20, 640, 60, scrolled)]), { left: 244, top: 14, right: 306, bottom: 66 });
  assert.deepEqual(boxOf([box(100, 20, 100, 60, scrolled)]), { left: 94, top: 14, right: 106, bottom: 66 });
});
