// A consistent-hash exchange: whose the bucket of a message is, in its row and in words, and the shares on the graph.
import assert from "node:assert/strict";
import test from "node:test";

import { number, percent } from "../../../static/js/base/say.js";
import { bucketsWords, hashWords, shareOf, shareWords } from "../../../static/js/rabbitmq/hashed.js";
import { hopWords } from "../../../static/js/rabbitmq/path_words.js";
import { triedTable } from "../../../static/js/rabbitmq/tried.js";
import { TRIED } from "./known.mjs";

const say = (code, params = {}) => plain([code, ...Object.values(params)].join(" "));
const plain = (text) => text.replace(number(114868694), "N").replace(percent(2 / 3), "P");
const hashed = { by: "key", name: "", value: "order-7", is_present: true, hash: 114868694, bucket: 2, count: 5 };
const rowOf = (weight, first, own) => ({
  ...TRIED.rows[0], routing_key: weight, is_match: first <= 2 && 2 < first + own, hashed: { ...hashed, first, own },
});

test("a row is the weight, matched where it has the bucket, idle where it has none", () => {
  const rows = [rowOf("2", 2, 2), rowOf("2", 0, 2), rowOf("9", 0, 0)];
  const table = triedTable({ ...TRIED, type: "x-consistent-hash", words: ["order-7"], rows });
  assert.deepEqual(table.rows.map(({ cells: [cell] }) => [cell.word, cell.look]), [
    ["2", "match"], ["2", "miss"], ["9", "idle"],
  ]);
  assert.deepEqual([table.columns, table.width], [[], 1]);
  assert.deepEqual(rows.map((row) => bucketsWords(row.hashed, say)), [
    "topology.buckets.some 2 3", "topology.buckets.some 0 1", "topology.buckets.none",
  ]);
  assert.equal(bucketsWords({ first: 4, own: 1 }, say), "topology.buckets.one 4 4");
});

test("what is hashed is named, also where the message has nothing there", () => {
  assert.equal(hashWords("try", hashed, say), "topology.try.hash.key  order-7 N 2 4");
  const header = { ...hashed, by: "header", name: "user", value: { $t: "l", v: 5 } };
  assert.equal(hashWords("try", header, say), "topology.try.hash.header user 5 N 2 4");
  const missing = { ...header, is_present: false, value: null };
  assert.equal(hashWords("try", missing, say), "topology.try.hash.missing user null N 2 4");
  assert.equal(hashWords("try", { ...hashed, bucket: -1, count: 0 }, say), "topology.try.hash.empty");
});

test("a message's way says the bucket that took it", () => {
  const hop = { source: "x", kind: "queue", name: "q1", is_taken: true, row: rowOf("2", 2, 2) };
  const [text] = hopWords({ hops: [hop] }, () => "x-consistent-hash", say);
  assert.match(text, /^topology.path.by x q1 topology.path.why.hash.key .*order-7 N 2 4$/);
});

test("a line has its part of all buckets of its exchange", () => {
  const edge = (source, buckets) => ({ source, buckets });
  const graph = {
    exchanges: { x: { type: "x-consistent-hash" }, d: { type: "direct" } },
    bindings: { a: edge("x", 2), b: edge("x", 1), c: edge("x", 0), d: edge("d", 0) },
  };
  const { a, b, c, d } = graph.bindings;
  assert.deepEqual([a, b, c, d].map((each) => shareOf(each, graph)), [2 / 3, 1 / 3, 0, null]);
  assert.deepEqual([a, c, d].map((each) => plain(shareWords(each, graph, say))), ["P", "topology.buckets.none", ""]);
});
