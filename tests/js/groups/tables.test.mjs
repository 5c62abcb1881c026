// The pictures as tables, and the other topics and groups.
import assert from "node:assert/strict";
import test from "node:test";

import * as grid from "../../../static/js/groups/grid.js";
import { inOrder, rowsOf as memberRows } from "../../../static/js/groups/members.js";
import { othersTable } from "../../../static/js/groups/others.js";
import { membersTable, messagesTable, partitionsTable, runs, statesList } from "../../../static/js/groups/tables.js";
import { left } from "../../../static/js/groups/timers.js";
import { counts, doing, gridWords, sub } from "../../../static/js/groups/words.js";
import { say } from "../fixtures/load.mjs";
import { ALL, rest, nobody, epochs, committed, CLASSIC, check, cells, withMember, codesIn } from "./known.mjs";

test("who is crashed, frozen, failed or stuck reads nothing in any table, and has its epoch as in the list", () => {
  const column = (table, code) => table.head.findIndex((text) => text.startsWith(`groups.column.${code} `));
  const cases = [
    { condition: "crashed" }, { condition: "paused" }, { condition: "gone" }, { failed: "" },
    { failed: "UnknownServerError", member_id: null, generation: 4 }, { is_stuck: true },
  ];
  for (const changes of cases) for (const view of [rest, epochs]) {
    const { group } = withMember(view, "c1", changes), table = membersTable(group, view.consumers, view.at_us, say);
    const row = inOrder(group, view.consumers).findIndex(([key]) => key === "c1");
    assert.equal(table.rows[row][column(table, "owned")], "–", JSON.stringify(changes));
    assert.equal(othersTable({ ...group, groups: {} }, 0, say).rows.find(([name]) => name.endsWith("c1"))[1], "–");
    if (!changes.is_stuck) {
      assert.equal(
        cells({
          ...view,
          group: {
            ...group,
            partitions: Object.fromEntries(
              Object.entries(group.partitions).map(([number, partition]) => [number, { ...partition, owner: null }]),
            ),
          },
        }).shapes.some(({ id, class: name }) => /^cell-of (reads|held)$/.test(name) && id.endsWith("-c1")),
        false,
      );
    }
    const listed = memberRows(group, view.consumers, say).find(({ key }) => key === "c1").epoch;
    assert.equal(table.rows[row][column(table, "epoch")], listed);
  }
  const table = membersTable(rest.group, rest.consumers, rest.at_us, say);
  const read = table.rows.map((row) => row[column(table, "owned")]);
  assert.deepEqual(read, ["0–3", "4–7", "8–11"]);
});

test("another topic that a member reads has lanes of its own, and counts", () => {
  const part = {
    owner: "c3", given: "c3", dark_us: null, start: 2, end: 9, high_watermark: 8, leader: 1, committed: 5, position: 7,
    lag: 3, lag_us: 400_000,
  };
  const has = { assigned: [0], owned: [0], target: null, revoking: [] };
  const view = {
    ...rest,
    group: {
      ...rest.group,
      also: { audit: { partitions: { 0: part, 1: { ...part, owner: null, given: null } }, members: { c3: has } } },
    },
  };
  for (const available of [330, 960]) check(cells(view, { available, isPhone: available < 640 }).shapes);
  const shapes = cells(view).shapes, text = (id) => shapes.find((shape) => shape.id === id).text;
  assert.equal(shapes.find(({ id }) => id === "cell-audit-0-c3").class, "cell-of reads");
  assert.deepEqual(
    [text("part-audit-0"), text("lag-audit-0"), text("lag_us-audit-0")],
    ["audit-0", "3", left(400_000, say)],
  );
  assert.equal(shapes.find(({ id }) => id === "lane-audit-1").class, "lane-dark");
  assert.deepEqual([counts(view.group).partitions, counts(view.group).dark], [14, 1]);
  assert.ok(grid.height(view.group) > grid.height(rest.group));
  const c3 = rest.group.members.c3;
  const row = membersTable(view.group, view.consumers, view.at_us, say).rows.find(([name]) => name.startsWith("c3"));
  assert.equal(doing(c3, view.group, say, "c3"), say("groups.doing.reads", { count: c3.owned.length + 1 }));
  assert.match(row[4], /list.semicolon \{\}audit 0$/);
  assert.equal(partitionsTable(view.group, view.group_health, {}, say).rows.length, 14);
  assert.ok(codesIn(gridWords(view.group, view.group_health, say)).includes("groups.grid_lag_in"));
});

test("without a coordinator nobody knows committed offsets and lag", () => {
  const text = (id) => cells(nobody).shapes.find((shape) => shape.id === id).text;
  assert.deepEqual([text("committed-0"), text("lag-0"), text("lag_us-0")], ["–", "–", "–"]);
  assert.ok(codesIn(gridWords(nobody.group, nobody.group_health, say)).includes("groups.grid_lag_unknown"));
  const row = partitionsTable(nobody.group, nobody.group_health, {}, say).rows[0];
  assert.deepEqual([row[5], row[7], row[8], row[10]], ["–", "–", "–", "–"]);
});

test("the tables have a row for each thing in the pictures", () => {
  for (const view of ALL) {
    assert.equal(
      membersTable(view.group, view.consumers, view.at_us, say).rows.length,
      Object.keys(view.group.members).length,
    );
    assert.equal(
      partitionsTable(view.group, view.group_health, {}, say).rows.length,
      Object.keys(view.group.partitions).length,
    );
    for (const table of [
      messagesTable(view.group, say), membersTable(view.group, view.consumers, view.at_us, say),
      partitionsTable(view.group, view.group_health, {}, say),
    ]) {
      for (const row of table.rows) {
        assert.ok(
          row.length === table.head.length &&
            row.every((text) => typeof text === "string" && !/undefined|NaN/.test(text)),
          row.join(),
        );
      }
    }
  }
  assert.equal(statesList(CLASSIC, "Stable", say).length, CLASSIC.transitions.length + 1);
  assert.equal(runs([3, 1, 2, 7], () => "、"), "1–3、7");
});

test("all groups of the topic have a row, with what their consumers read and have handled", () => {
  const other = {
    state: "Stable", lag: 7,
    consumers: { "audit-1": { partitions: [0, 1], finished: 30 }, "audit-2": { partitions: [2], finished: 12 } },
  };
  const led = { owner: "c1", leader: 1 };
  const mine = { consumer: "c1", condition: "running", failed: null, owned: [0, 1, 2], finished: 40 };
  const group = {
    group_id: "lab", topic: "flights", state: "Stable", partitions: { 0: led, 1: led, 2: led },
    members: { c1: mine, gone: { ...mine, consumer: "c2", condition: "crashed", finished: null } },
    groups: { audit: other, late: { ...other, state: null, consumers: {} } },
  };
  assert.deepEqual(othersTable(group, null, String).rows.map((row) => row.map((cell) => cell.trim())), [
    ["lab", "Stable", "40", "–"], ["c1", "0–2", "40", ""], ["c2", "–", "–", ""],
    ["audit", "Stable", "42", "7"], ["audit-1", "0–1", "30", ""], ["audit-2", "2", "12", ""], ["late", "–", "0", "7"],
  ]);
});

test("a read_committed group has its lag up to the last stable offset beside the other one", () => {
  const group = { ...committed.group, also: committed.group_topics }, refunds = group.also.refunds.partitions[0];
  assert.ok(refunds.high_watermark > refunds.stable && refunds.stable_lag === 0);
  assert.ok(
    gridWords(group, committed.group_health, say).includes(
      `groups.grid_open ${JSON.stringify({ lag: committed.group_health.stable_lag, hidden: refunds.lag })}`,
    ),
  );
  assert.ok(
    gridWords(committed.group, committed.group_health, say).includes("groups.grid_stable"),
    "the own topic has no transactions",
  );
  assert.ok(sub(group, say).includes("groups.sub_committed") && !sub(rest.group, say).includes("groups.sub_committed"));
  const table = partitionsTable(group, committed.group_health, {}, say);
  const plain = partitionsTable(rest.group, rest.group_health, {}, say);
  assert.equal(table.head.length, table.terms.length);
  assert.equal(table.head.length, plain.head.length + 2);
  assert.ok(
    table.rows.every((row) => row.length === table.head.length) &&
      plain.rows.every((row) => row.length === plain.head.length),
  );
  assert.equal(cells({ ...committed, group }).shapes.find(({ id }) => id === "stable_lag-refunds-0").text, "0");
  assert.equal(cells(rest).shapes.some(({ id }) => id.startsWith("stable")), false);
});
