// Whom a list or a picture of many consumers names, and the phases that count the others.
import assert from "node:assert/strict";
import test from "node:test";

import {
  LISTED_MAX, NAMED, PICTURED, changedLast, createNaming, isFolded, matching, namedOf, phaseOf, phasesOf, rowsOf,
} from "../../../static/js/lane/fold.js";
import * as clientGrid from "../../../static/js/lane/pictures/client_grid.js";
import * as partitionGrid from "../../../static/js/lane/pictures/partition_grid.js";
import { SHORT, TALL } from "../../../static/js/lane/pictures/size.js";
import { present } from "../../../static/js/stage/present.js";
import { load, say } from "../fixtures/load.mjs";

const WORDS = new Proxy({}, { get: (_, code) => code });

// A lane of `count` consumers, the share of each given by its number from 0 on.
function crowd(count, shareOf) {
  const order = Array.from({ length: count }, (_, place) => `c${place + 1}`);
  const consumers = Object.fromEntries(
    order.map((name, place) => [name, { name, color: place + 1, state: "live", share: shareOf(place) }]),
  );
  return { order, consumers };
}

test("named first: the selected one, who changed last, then the largest and the smallest share by turns", () => {
  for (const count of [25, 128, 512]) {
    const lane = crowd(count, (place) => (((place * 37) % count) + 1) / 1000);
    const byShare = [...lane.order].sort((a, b) => lane.consumers[b].share - lane.consumers[a].share);
    const [most, least, next] = [byShare[0], byShare.at(-1), byShare[1]];
    const asked = { of: lane.order, room: NAMED };
    assert.deepEqual(namedOf(lane, asked), [most, least, next]);
    const [selected, changed] = byShare.slice(4, 6);
    assert.deepEqual(namedOf(lane, { ...asked, changed: [changed, next] }), [changed, most, least]);
    assert.deepEqual(namedOf(lane, { ...asked, selected, changed: [changed] }), [selected, changed, most]);
    assert.deepEqual(namedOf(lane, { ...asked, selected: "c9999", changed: ["c9998"] }), [most, least, next]);
  }
});

test("who has no share is no extreme, and names are as many as there is room and never twice", () => {
  const lane = crowd(40, (place) => (place === 17 ? 0.5 : 0));
  assert.deepEqual(namedOf(lane, { of: lane.order, room: 3 }), ["c18", "c1", "c2"]);
  assert.deepEqual(namedOf(lane, { of: ["c7"], room: 3, selected: "c7", changed: ["c7"] }), ["c7"]);
  assert.deepEqual(namedOf(lane, { of: [], room: 3 }), []);
  const equal = crowd(30, () => 0.01), named = namedOf(equal, { of: equal.order, room: 12, changed: equal.order });
  assert.equal(new Set(named).size, 12);
  assert.deepEqual(named.slice(0, 4), ["c1", "c2", "c3", "c4"]);
});

test("phases add up to all, whatever the states are", () => {
  const states = ["live", "slow", "paused", "frozen", "stuck", "waiting", "failed", "crashed", "gone"];
  const lane = crowd(512, (place) => (place % 3 ? 0.002 : 0));
  lane.order.forEach((name, place) => { lane.consumers[name].state = states[place % states.length]; });
  const phases = phasesOf(lane, lane.order);
  assert.equal(phases.reduce((sum, [, names]) => sum + names.length, 0), 512);
  for (const [phase, names] of phases) {
    assert.ok(names.length && names.every((name) => phaseOf(lane.consumers[name]) === phase));
  }
  assert.deepEqual(phases.map(([phase]) => phase), ["silent", "waiting", "active", "idle", "gone"]);
  assert.deepEqual(phasesOf(lane, []), []);
});

test("who changed last is whom the newest orders were about, each once", () => {
  const timeline = {
    0: { consumer: "c9" }, 2: { consumer: "c1" }, 10: { consumer: "c2" }, 11: { consumer: null }, 3: { consumer: "c2" },
  };
  assert.deepEqual(changedLast(timeline), ["c2", "c1", "c9"]);
});

test("names stay while nothing changes but shares, and follow a selection at once", () => {
  const lane = { ...crowd(30, (place) => (place + 1) / 100), bill: null, sentence: { code: "none" }, picture: {} };
  const view = { lanes: { kafka: lane }, timeline: {}, at_us: 1e6 }, naming = createNaming();
  const { rows } = naming("kafka", view);
  lane.consumers.c5.share = 0.9;
  assert.deepEqual(naming("kafka", view).rows, rows);
  assert.equal(naming("kafka", view, "c5").rows[0], "c5");
  view.at_us = 11e6;
  assert.equal(naming("kafka", view).rows[0], "c5");
});

test("a lane of many lists three and says how many more there are, in phases that add up", () => {
  const view = load("stage"), lane = view.lanes.kafka, told = [];
  const words = new Proxy({}, { get: (_, code) => (code === "rows.more" ? "{count}: {phases}" : `{count} ${code} `) });
  Object.assign(lane, crowd(512, (place) => (place < 64 ? 1 / 64 : 0)));
  for (const name of ["c100", "c101"]) lane.consumers[name].state = "crashed";
  assert.ok(isFolded(lane));
  const [{ rows, slots }] = present(view, words, { only: ["kafka"], named: { kafka: ["c1", "c64", "c512"] } }).lanes;
  assert.deepEqual(rows.map(({ name }) => name), ["c1", "c64", "c512"]);
  const [, count, rest] = /^(\d+): (.*)$/.exec(slots.more);
  told.push(...rest.matchAll(/(\d+) fold\.(\w+)/g));
  assert.equal(Number(count), 509);
  assert.deepEqual(told.map(([, number, phase]) => [phase, Number(number)]), [
    ["silent", 2], ["active", 62], ["idle", 445],
  ]);
});

test("up to 24 are all listed", () => {
  const view = load("stage"), lane = view.lanes.kafka;
  for (const [count, listed] of [[LISTED_MAX, LISTED_MAX], [LISTED_MAX + 1, NAMED]]) {
    Object.assign(lane, crowd(count, () => 1 / count));
    const [{ rows }] = present(view, WORDS, { only: ["kafka"] }).lanes;
    assert.equal(rows.length, listed);
  }
});

for (const height of [TALL, SHORT]) {
  test(`every partition of 64 has its cell among 512, every row its name, at ${height}`, () => {
    for (const [model, visual] of [["kafka", partitionGrid], ["tubemq", clientGrid]]) {
      const view = load("stage"), lane = view.lanes[model], [like] = Object.values(lane.picture.partitions);
      Object.assign(lane, crowd(512, (place) => (place % 8 ? 0 : 1 / 64)));
      lane.picture.partitions = Object.fromEntries(Array.from({ length: 64 }, (_, place) => {
        const owner = `c${place * 8 + 1}`;
        const assigned = like.assigned ? { assigned: owner } : {};
        return [String(place), { ...like, id: place, owner, before: null, ...assigned }];
      }));
      const shapes = visual.layout(lane, { say, at: view.at_us, height, named: ["c505", "c9"] });
      const cells = shapes.filter(({ id }) => /^cell-/.test(id));
      assert.deepEqual(cells.map(({ id }) => Number(id.slice(5))).sort((a, b) => a - b), [...Array(64).keys()]);
      const rows = shapes.filter(({ id }) => /^sw-/.test(id)).map(({ id }) => id.slice(3));
      assert.ok(rows.includes("c505") && rows.includes("c9"));
      for (const name of rows) assert.ok(shapes.some(({ id }) => id === `name-${name}`), `${name} is not named`);
      assert.equal(shapes.find(({ id }) => id === "more").text, `+${512 - rows.length}`);
      assert.equal(new Set(shapes.map(({ id }) => id)).size, shapes.length);
    }
  });
}

test("a picture of a few has a row for each, of many for the first named with something to show", () => {
  const few = { ...crowd(PICTURED, () => 0), picture: { partitions: {} } };
  assert.deepEqual(rowsOf(few, [], 100), { names: few.order, hidden: 0 });
  const many = {
    ...crowd(100, (place) => place / 1e4),
    picture: { partitions: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [at, { owner: `c${at + 1}` }])) },
  };
  const { names, hidden } = rowsOf(many, ["c90", "c30"], 5 * 13);
  assert.deepEqual([names.length, hidden, names.includes("c30"), names.includes("c90")], [4, 96, true, false]);
});

test("what is typed finds the names that hold it", () => {
  assert.deepEqual(matching(["c1", "c10", "c2"], " C1 "), ["c1", "c10"]);
  assert.deepEqual(matching(["c1"], ""), ["c1"]);
  assert.deepEqual(matching(["c1"], "x"), []);
});
