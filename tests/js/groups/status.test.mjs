// A partition's status with the rule that decided it, and its trend.
import assert from "node:assert/strict";
import test from "node:test";

import { partitionsTable } from "../../../static/js/groups/tables.js";
import { direction, lagsOf } from "../../../static/js/groups/trend.js";
import { gridWords } from "../../../static/js/groups/words.js";
import { say } from "../fixtures/load.mjs";
import { rest, nobody, cells, codesIn } from "./known.mjs";

// A group of 12 partitions that are read, each with a rule that has decided its status.
const judged = ({ rules = [], status = "ok", lags = {}, dark = 0, stuck = 0, overload = "" }) => {
  const partitions = Object.fromEntries(
    [...Array(12).keys()].map((number) => [number, { owner: number < dark ? null : "m1", leader: 1 }]),
  );
  const member = {
    consumer: "c1", member_id: "m1", condition: "running",
    owned: [...Array(12 - dark).keys()].map((number) => number + dark), is_stuck: false,
  };
  const last = { ...member, consumer: "c2", member_id: "m2", is_stuck: true, owned: member.owned.splice(0, stuck) };
  const parts = Object.fromEntries(
    [...Array(12).keys()].map((number) => [
      number, { lag: rules[number] ? 5 : 0, status: rules[number] ? status : "ok", rule: rules[number] ?? "no_lag" },
    ]),
  );
  const health = { lag: 5 * rules.length, lag_us: 0, status, window: 10, partitions: parts };
  const words = gridWords(
    { ...rest.group, partitions, members: { m1: member, m2: last } },
    health,
    (code, params) => (/grid_lag/.test(code) ? params.status : /rule|status/.test(code) ? say(code, params) : ""),
    { lags, overload },
  );
  return words.replace(overload, "").trim();
};
const RISING = [0, 1, 2, 3, 10, 20, 30, 40, 50, 60, 70, 80];

test("a status has the rule that decided it and its window beside it", () => {
  assert.match(judged({}), /^groups\.rule\.no_lag \{"window":10\}$/);
  assert.match(judged({ rules: ["caught_up", "moving"] }), /groups\.rule\.moving/);
  assert.match(judged({ rules: ["caught_up"] }), /groups\.rule\.caught_up/);
  assert.match(judged({ rules: ["young", "young"] }), /groups\.rule\.young/);
  assert.match(
    judged({ rules: ["falling", "falling", "falling"], status: "warning" }),
    /groups\.status\.in_some .*groups\.rule\.falling.*"count":3,"partitions":12/,
  );
});

test("it is never ok while a partition is dark or its owner reads nothing", () => {
  for (const dark of [1, 4, 12]) {
    assert.match(judged({ dark }), new RegExp(`^groups\\.status\\.unread \\{"count":${dark},"partitions":12\\}$`));
  }
  assert.match(judged({ dark: 3, rules: ["caught_up", "young"] }), /groups\.status\.unread .*3/);
  assert.match(judged({ stuck: 2 }), /groups\.status\.unread .*"count":2/);
  assert.match(judged({ dark: 1, rules: ["stalled"], status: "error" }), /groups\.rule\.stalled/);
});

test("it is never ok while the lag of most partitions grows", () => {
  const rising = (count) =>
    Object.fromEntries([...Array(12).keys()].map((number) => [number, number < count ? RISING : RISING.toReversed()]));
  for (const count of [7, 9, 12]) {
    assert.match(
      judged({ rules: ["caught_up"], lags: rising(count) }),
      new RegExp(`groups\\.status\\.rising \\{"count":${count},"partitions":12,"seconds":${RISING.length}\\}`),
    );
  }
  const longer = Object.fromEntries([...Array(12).keys()].map((number) => [number, [...Array(50).keys()]]));
  assert.match(judged({ rules: ["caught_up"], lags: longer }), /"seconds":30\}$/);
  assert.match(judged({ rules: ["caught_up"], lags: rising(6) }), /groups\.rule\.caught_up/);
});

test("it is never ok while more comes in than the members handle", () => {
  for (const rules of [["caught_up"], ["moving", "young"], []]) {
    assert.match(judged({ rules, overload: "6 more" }), /^groups\.status\.overload/);
  }
  assert.match(judged({ rules: ["falling"], status: "warning", overload: "6 more" }), /groups\.rule\.falling/);
});

test("no status in the table and no mark in the grid says ok beside a lane that is not read, or that grows", () => {
  const lags = Object.fromEntries(Object.keys(rest.group.partitions).map((number) => [number, RISING]));
  const dark = {
    ...rest.group,
    partitions: Object.fromEntries(
      Object.entries(rest.group.partitions).map(([number, partition]) => [number, { ...partition, owner: null }]),
    ),
  };
  const stuck = {
    ...rest.group,
    members: Object.fromEntries(
      Object.entries(rest.group.members).map(([key, member]) => [key, { ...member, is_stuck: true }]),
    ),
  };
  const ok = {
    ...rest.group_health,
    partitions: Object.fromEntries(
      Object.keys(rest.group.partitions).map((number) => [
        number, { ...rest.group_health.partitions[number], status: "ok", rule: "moving" },
      ]),
    ),
  };
  for (const [group, known, code] of [
    [dark, {}, "groups.status.not_read"], [stuck, lags, "groups.status.not_read"],
    [rest.group, lags, "groups.status.grows"], [rest.group, {}, "groups.rule.moving"],
  ]) {
    const table = partitionsTable(group, ok, known, say);
    const at = table.head.findIndex((text) => text.startsWith("groups.column.status"));
    assert.deepEqual([...new Set(table.rows.map((row) => codesIn(row[at])[0]))], [code]);
    const marks = cells({ ...rest, group, group_health: ok }, { lags: known }).shapes.filter(({ id }) =>
      id.startsWith("status-"),
    );
    assert.equal(marks.length, code === "groups.rule.moving" ? 0 : table.rows.length);
    for (const mark of marks) assert.equal(codesIn(mark["data-tip"])[0], code);
  }
});

test("a trend needs some seconds", () => {
  assert.equal(direction([1, 2]), null);
  assert.equal(direction([10, 10, 11, 10, 10, 10]), "level");
  assert.equal(direction([0, 5, 10, 20, 30, 40]), "up");
  assert.equal(direction([40, 30, 20, 10, 5, 0]), "down");
  const line = (from, step, count = 60) => Array.from({ length: count }, (_, second) => from + step * second);
  for (const from of [0, 40, 2_000, 1e7]) for (const step of [0.2, 1, 30]) for (const count of [12, 30, 60]) {
    assert.equal(direction(line(from, step, count)), "up", `${from} + ${step}`);
    assert.equal(direction(line(from, step, count).reverse()), "down");
  }
  for (const from of [0, 40, 2_000, 1e7]) assert.equal(direction(line(from, 0)), "level");
});

test("what comes in between two commits is no trend, and growth below it is one", () => {
  for (const commits of [2, 5, 7]) {
    for (const base of [0, 3_000]) {
      for (let phase = 0; phase < commits; phase += 1) {
        for (let count = 12; count <= 40; count += 1) {
          const lags = (growth) =>
            Array.from(
              { length: count },
              (_, second) => base + Math.round(growth * second) + 4 * ((second + phase) % commits),
            );
          if (count >= 3 * commits) {
            assert.equal(direction(lags(0)), "level", `${commits} s, phase ${phase}, ${count} values`);
          }
          if (count >= 30) assert.equal(direction(lags(2)), "up");
        }
      }
    }
  }
  const noise = Array.from({ length: 60 }, (_, second) => 500 + ((second * 7919) % 23) - 11);
  assert.equal(direction(noise), "level");
});

test("no trend is told of a lag that nobody knows, in the grid and in the table", () => {
  const lags = Object.fromEntries(Object.keys(rest.group.partitions).map((number) => [number, [0, 5, 10, 20, 30, 40]]));
  const trends = (view) =>
    cells(view, { lags }).shapes.filter(({ id, tag }) => id.startsWith("trend-") && tag === "path");
  const column = (view) => new Set(partitionsTable(view.group, view.group_health, lags, say).rows.map((row) => row[9]));
  assert.ok(trends(rest).length > 0);
  assert.deepEqual([...column(rest)].map((said) => codesIn(said)), [["groups.trend.up"]]);
  assert.equal(trends(nobody).length, 0);
  assert.deepEqual([...column(nobody)], ["–"]);
});

test("the trend is what the lab has kept, whenever the page was opened", () => {
  const history = { 9: [0], 10: [2, 1], 11: [3, 0], 12: [9, 4] };
  assert.deepEqual(lagsOf({ history, partitions: { 0: {}, 1: {} } }), { 0: [0, 2, 3, 9], 1: [1, 0, 4] });
  assert.deepEqual(lagsOf({ partitions: { 0: {} } }), { 0: [] }, "a view from before the lab kept it");
});
