// Cuts of the hash space as laws over many made-up cuts: pieces tile the space, and what moved is what has another
// owner slot by slot.
import assert from "node:assert/strict";
import test from "node:test";

import { fingerprint, moved, segments } from "../../../static/js/drawing/slices.js";
import { slotAt } from "../../../static/js/pulsar/ranges.js";
import { handovers, owned, seen, windowOf } from "../../../static/js/pulsar/space.js";

const SPACE = 24;

// The same draws in every run.
function chance(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

function cutOf(draw, isWhole) {
  const bounds = [...new Set(Array.from({ length: 1 + draw(6) }, () => draw(SPACE)))].sort((a, b) => a - b);
  if (isWhole && bounds.at(-1) !== SPACE - 1) bounds.push(SPACE - 1);
  return { bounds, owners: bounds.map(() => draw(4) - 1), dark: bounds.map(() => draw(2)) };
}

// Slot by slot, by the definition: slice i is (bounds[i-1], bounds[i]]; on a ring the rest is the first slice's.
function ownerOf(cut, slot, isRing) {
  const place = cut.bounds.findIndex((bound) => slot <= bound);
  return place >= 0 ? cut.owners[place] : isRing ? cut.owners[0] : null;
}

const CASES = Array.from({ length: 60 }, (_, seed) => {
  const draw = chance(seed + 1), isRing = seed % 2 === 0;
  return { isRing, now: cutOf(draw, !isRing), before: cutOf(draw, !isRing) };
});

test("pieces tile the space in order, each slot with its owner and whether that one is dead", () => {
  for (const { now, isRing } of CASES) {
    let at = 0;
    for (const [from, to, owner, isDark] of segments(now, SPACE, isRing)) {
      assert.equal(from, at);
      assert.ok(to > from);
      for (let slot = from; slot < to; slot += 1) {
        assert.equal(ownerOf(now, slot, isRing), owner);
        const place = now.bounds.findIndex((bound) => slot <= bound);
        assert.equal(Boolean(now.dark[place < 0 ? 0 : place]), isDark);
      }
      at = to;
    }
    assert.equal(at, SPACE);
  }
});

test("neighbours of one owner are one piece, unless one of them is dead", () => {
  for (const { now, isRing } of CASES) {
    const pieces = segments(now, SPACE, isRing);
    pieces
      .slice(1)
      .forEach(([, , owner, isDark], place) => assert.ok(owner !== pieces[place][2] || isDark !== pieces[place][3]));
  }
});

test("what moved is every slot that has another owner than before, and no other", () => {
  for (const { now, before, isRing } of CASES) {
    const told = new Map();
    for (const [from, to, owner] of moved({ now, before, space: SPACE }, isRing)) {
      for (let slot = from; slot < to; slot += 1) told.set(slot, owner);
    }
    for (let slot = 0; slot < SPACE; slot += 1) {
      const is = ownerOf(now, slot, isRing);
      assert.equal(told.get(slot), is === ownerOf(before, slot, isRing) ? undefined : is, `slot ${slot}`);
    }
  }
});

test("a handover names the giver and the taker of the same slots", () => {
  for (const { now, before, isRing } of CASES) {
    const pieces = handovers({ now, before, space: SPACE }, isRing);
    for (const [from, to, giver, taker] of pieces) {
      assert.notEqual(giver, taker);
      for (let slot = from; slot < to; slot += 1) {
        assert.deepEqual([ownerOf(before, slot, isRing), ownerOf(now, slot, isRing)], [giver, taker]);
      }
    }
    const size = (list) => list.reduce((sum, [from, to]) => sum + to - from, 0);
    assert.equal(size(pieces), size(moved({ now, before, space: SPACE }, isRing)));
  }
});

test("what each owner has adds up to the space, and nobody's is under no name", () => {
  for (const { now, isRing } of CASES) {
    const found = owned(now, { space: SPACE, kind: isRing ? "ring" : "ranges", names: ["c1", "c2", "c3"] });
    assert.equal([...found.values()].reduce((sum, { slots }) => sum + slots, 0), SPACE);
    assert.equal([...found.values()].reduce((sum, { pieces }) => sum + pieces, 0), segments(now, SPACE, isRing).length);
    assert.equal(found.has(""), segments(now, SPACE, isRing).some(([, , owner]) => owner < 0));
  }
});

test("a space that nobody has cut has no pieces, and nothing moved from it", () => {
  for (const cut of [null, undefined, { bounds: [], owners: [] }]) {
    assert.deepEqual(segments(cut, SPACE, true), []);
    assert.deepEqual(moved({ now: CASES[0].now, before: cut, space: SPACE }, true), []);
    assert.deepEqual(moved({ now: cut, before: CASES[0].now, space: SPACE }, true), []);
  }
});

test("a cut without word of the dead has no dark piece", () => {
  assert.deepEqual(segments({ bounds: [4, 9], owners: [0, 1] }, 10, false), [[0, 5, 0, false], [5, 10, 1, false]]);
});

test("a bound beyond the space does not lead out of it", () => {
  assert.deepEqual(segments({ bounds: [4, 99], owners: [0, 1] }, 10, false), [[0, 5, 0, false], [5, 10, 1, false]]);
});

test("the mark of a cut is the same for the same cut, and another for another bound, owner or death", () => {
  const cut = { bounds: [3, 9, 20], owners: [0, 1, 2], dark: [0, 0, 0] }, mark = fingerprint(cut);
  assert.equal(fingerprint(structuredClone(cut)), mark);
  for (const other of [
    { ...cut, bounds: [3, 10, 20] }, { ...cut, owners: [0, 2, 2] }, { ...cut, dark: [0, 1, 0] },
    { bounds: [3, 9], owners: [0, 1] }, null,
  ]) {
    assert.notEqual(fingerprint(other), mark);
  }
});

test("the lens is as wide as it is asked to be, stays within the space, and shows at least sixteen slots", () => {
  assert.deepEqual(windowOf(100, 40, 65_536), { from: 80, to: 120 });
  assert.deepEqual(windowOf(0, 40, 65_536), { from: 0, to: 40 });
  assert.deepEqual(windowOf(65_535, 40, 65_536), { from: 65_496, to: 65_536 });
  assert.deepEqual(windowOf(30, 1, 65_536), { from: 22, to: 38 });
  assert.deepEqual(windowOf(30, 1e9, 65_536), { from: 0, to: 65_536 });
});

test("through the lens each piece is cut to the window and keeps its own ends", () => {
  const picture = { space: SPACE, kind: "ranges" }, cut = { bounds: [9, 19, 23], owners: [0, 1, 0] };
  assert.deepEqual(seen(cut, picture, { from: 5, to: 21 }), [
    [5, 10, 0, false, 0, 10], [10, 20, 1, false, 10, 20], [20, 21, 0, false, 20, 24],
  ]);
  assert.deepEqual(
    seen(cut, picture, { from: 10, to: 20 }),
    [[10, 20, 1, false, 10, 20]],
    "a piece that only touches the window is not in it",
  );
});

test("a point of the picture is a slot of the space, also at and beyond its edges", () => {
  const picture = { space: 65_536 };
  assert.deepEqual(
    [-5, 0, 140, 279.99, 280, 999].map((x) => slotAt([x, 0], picture, 280)),
    [0, 0, 32_768, 65_533, 65_535, 65_535],
  );
});
