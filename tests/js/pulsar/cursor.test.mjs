// The strip of entries and the tables.
import assert from "node:assert/strict";
import test from "node:test";

import * as cursor from "../../../static/js/pulsar/cursor.js";
import { drainingTable, handedTable, spaceTable } from "../../../static/js/pulsar/tables.js";
import { say } from "../fixtures/load.mjs";
import { LANES, joined, newcomer, draining, colorOf, check } from "./known.mjs";

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

test("the tables say what the pictures show", () => {
  for (const lane of LANES) {
    const { head, rows, terms } = spaceTable(lane, say);
    assert.ok(
      head.length === terms.length &&
        rows.every((row) => row.length === head.length && row.every((text) => typeof text === "string")),
    );
    const table = cursor.table(lane.pulsar.cursors, say);
    assert.ok(table.rows.every((row) => row.length === table.head.length));
  }
  assert.equal(handedTable(joined, say).rows.length, joined.pulsar.handed.length);
  assert.equal(
    drainingTable(draining.pulsar.draining, say).rows.length,
    Object.keys(draining.pulsar.draining.slots).length,
  );
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
