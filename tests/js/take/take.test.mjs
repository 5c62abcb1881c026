import assert from "node:assert/strict";
import test from "node:test";

import { fileName, momentPart } from "../../../static/js/take/names.js";
import { csvOf, valueOf } from "../../../static/js/take/table.js";
import { wrap } from "../../../static/js/take/wrap.js";

test("figures stay numbers, with their thousands put together and without a dash for none", () => {
  const shown = ["6\u202f506\u202f155", "2.5", "−3", "-3.25", "+7", "–", "29\u202f%", "0", "12", "1\u00a0000"];
  const values = ["6506155", "2.5", "-3", "-3.25", "7", "", "29%", "0", "12", "1000"];
  assert.deepEqual(shown.map(valueOf), values);
});

test("what a spreadsheet would run is guarded, whichever sign it begins with", () => {
  for (const text of ["=1+1", "+SUM(A1)", "-2+3", "@x", "\tx", "\rx", "=cmd|' /C calc'!A0", "-"]) {
    assert.equal(valueOf(text), `'${text}`, JSON.stringify(text));
  }
  assert.equal(valueOf("a=1"), "a=1");
});

test("other words stay as they are shown, on one line", () => {
  const shown = ["38\u202fms", " c1,\n  c2 ", "1:2", "12 of 40"];
  assert.deepEqual(shown.map(valueOf), ["38 ms", "c1, c2", "1:2", "12 of 40"]);
});

test("commas, quotes and lines are quoted, rows end as spreadsheets have it", () => {
  assert.equal(csvOf([["name", "记录"], ['c1, "one"', "1\u202f000"]]), '\ufeffname,记录\r\n"c1, ""one""",1000\r\n');
});

test("a file's name says lab, panel and moment", () => {
  const about = { lab: "flights, 2026-11-27 07:00", clock: "2:14.3" };
  assert.equal(fileName(about, "Kafka", "svg"), "flights-2026-11-27-07-00_Kafka_2m14.3s.svg");
  assert.equal(fileName({ lab: "../a/b", clock: null }, "键 / 值", "csv"), "a-b_键-值.csv");
  assert.equal(fileName(about, "", "jsonl"), "flights-2026-11-27-07-00_2m14.3s.jsonl");
  assert.equal(momentPart("1:02:14.3"), "1h02m14.3s");
});

test("a caption breaks at spaces, in Chinese anywhere, and a long word stays whole", () => {
  const widthOf = (text) => text.length;
  assert.deepEqual(wrap("c2 crashed and waits", 10, widthOf), ["c2 crashed", "and waits"]);
  assert.deepEqual(wrap("消费者加入后分区移动", 4, widthOf), ["消费者加", "入后分区", "移动"]);
  assert.deepEqual(wrap("__consumer_offsets is", 5, widthOf), ["__consumer_offsets", "is"]);
  assert.deepEqual(wrap("", 5, widthOf), []);
});
