// "Try a routing key": every row fills its columns, and says what stood for what.
import assert from "node:assert/strict";
import test from "node:test";

import { shown, triedTable } from "../../../static/js/rabbitmq/tried.js";
import { TRIED } from "./known.mjs";

const table = triedTable(TRIED), rows = new Map(table.rows.map((row) => [row.id, row]));
const said = (id) => rows.get(id).cells.map(({ span, word, stands, look }) => `${word}${span}:${stands}:${look}`);

test("wildcards say what they stand for, and # is as wide as the words it takes", () => {
  assert.deepEqual(table.columns, ["orders", "eu", "created"]);
  assert.deepEqual(said("k3"), ["orders1::match", "eu1::match", "*1:created:match"]);
  assert.deepEqual(said("k6"), ["orders1::match", "#2:eu.created:match"]);
});

test("the first word that fails says what it failed on, null where the key had ended", () => {
  assert.deepEqual(said("k2").at(-1), "paid1:created:miss");
  assert.deepEqual(said("k12"), ["#3:orders.eu.created:match", "#1::none", "x1:null:miss"]);
  assert.deepEqual(said("k11"), ["orders1::match", "eu.created2::left"]);
});

test("a second way to one queue reads again, and copies are counted once", () => {
  assert.deepEqual([...rows.values()].map(({ state }) => state), ["gets", "again", "gets", "not", "not", "not"]);
  assert.equal(table.copies, 2);
  assert.equal(table.width, 5, "as many columns as the widest row needs");
});

test("headers are pairs, direct and fanout one cell", () => {
  const pair = (name, wanted, received, more = {}) => ({
    name, wanted, received, is_present: true, is_counted: true, is_match: true, ...more,
  });
  const pairs = [
    pair("format", "pdf", "pdf"), pair("pages", 2, { $t: "l", v: 3 }, { is_match: false }), pair("any", null, [1]),
    pair("x-a", 1, null, { is_present: false, is_counted: false, is_match: false }),
    pair("gone", 1, null, { is_present: false, is_match: false }),
  ];
  const row = (match) => ({ ...TRIED.rows[0], x_match: match, pairs });
  const [{ cells: [rule, ...cells] }, ...others] = triedTable({
    ...TRIED, type: "headers", rows: [row("all"), row("any"), row("all-with-x"), row("any-with-x")],
  }).rows;
  assert.deepEqual([rule.word, rule.stands, rule.look], ["x-match=all", "each", "rule"]);
  assert.deepEqual(others.map(({ cells: [{ word, stands }] }) => [word, stands]), [
    ["x-match=any", "one"], ["x-match=all-with-x", "each"], ["x-match=any-with-x", "one"],
  ]);
  assert.deepEqual(cells.map(({ word, stands, look }) => [word, stands, look]), [
    ["format=pdf", "", "match"], ["pages=2", "3", "miss"], ["any", "[1]", "match"], ["x-a=1", null, "idle"],
    ["gone=1", null, "missing"],
  ]);
  const one = { ...TRIED.rows[0], routing_key: "red", is_match: false };
  const direct = triedTable({ ...TRIED, type: "direct", routing_key: "blue", rows: [one] });
  assert.deepEqual(direct.rows[0].cells, [{ span: 1, word: "red", stands: "blue", look: "miss" }]);
  assert.equal(shown("text"), "text");
});
