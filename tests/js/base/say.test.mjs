import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import {
  clock, clockMs, fill, inTurn, number, percent, ratio, seconds, sentences,
} from "../../../static/js/base/say.js";
import { createFreshness } from "../../../static/js/feed/freshness.js";
import { moment } from "../../../static/js/groups/rows.js";

const words = { second: "s", minute: "min" };

test("figures are grouped, rounded and timed", () => {
  assert.equal(number(1363), "1\u202f363");
  assert.equal(number(739733018), "739\u202f733\u202f018");
  assert.equal(percent(0.2026), "20\u202f%");
  assert.equal(seconds(2_700_000, words), "2.7\u202fs");
  assert.equal(seconds(0, words), "0\u202fs");
  assert.equal(clock(76_000_000), "1:16.0");
  assert.equal(clock(3_661_500_000), "1:01:01.5");
});

test("what happened while the lab was set up, before its clock began, is at its beginning", () => {
  for (const us of [-1, -273, -1_473, -100_000, -61_000_000]) {
    assert.equal(clock(us), "0:00.0");
    assert.equal(moment(us), "0:00.000");
  }
});

test("a ratio has four places at most, the point among them or not", () => {
  assert.deepEqual([1, 1.276, 9.994, 9.995, 13, 99.94, 99.95, 512, null].map(ratio), [
    "1.00", "1.28", "9.99", "10.0", "13.0", "99.9", "100", "512", "–",
  ]);
});

test("names stand in turn, each once", () =>
  assert.deepEqual(inTurn(["c10", "c2", "audit", "c1", "b2", "c2"]), ["audit", "c1", "b2", "c2", "c10"]));

test("between sentences stands a blank, after a Chinese full stop none", () => {
  assert.equal(sentences(["One.", "Two."]), "One. Two.");
  assert.equal(sentences(["第一句。", "第二句（括号）。", "Third."]), "第一句。第二句（括号）。Third.");
});

test("places are filled, also inside a plural", () => {
  assert.equal(fill("{n?One record|All {n} records} of {who}", { n: 2, who: "c1" }, words), "All 2 records of c1");
  assert.equal(fill("{n?One record|All {n} records} of {who}", { n: 1, who: "c1" }, words), "One record of c1");
  assert.equal(fill("{nobody}!", {}, words), "!");
});

test("a name with markup or a place in it stays a text", () => {
  assert.equal(fill("{consumer} left", { consumer: "{keys_moved}<b>" }, words), "{keys_moved}<b> left");
});

test("freshness tells live, behind, paused and disconnected apart", () => {
  let now = 0;
  const freshness = createFreshness(() => now);
  assert.equal(freshness.state(true, 0).state, "connecting");
  freshness.opened();
  for (let i = 1; i <= 20; i += 1) {
    now = i * 100;
    freshness.frame(i * 100_000, 1, true);
  }
  assert.deepEqual(freshness.state(true, 4), { state: "live", ms: 4 });
  now = 4100;
  freshness.frame(21 * 100_000, 1, true);
  assert.deepEqual(freshness.state(true, 0), { state: "behind", ms: 2000 });
  assert.equal(freshness.state(false, 0).state, "paused");
  now = 9000;
  assert.equal(freshness.state(true, 0).state, "behind");
  freshness.closed();
  assert.equal(freshness.state(true, 0).state, "disconnected");
});

test("what lasted less than half a tenth of a second is not said to have lasted 0.0 s", () => {
  const own = { ...words, millisecond: "ms" };
  assert.equal(seconds(20_000, own), "20\u202fms");
  assert.equal(seconds(3, own), "1\u202fms");
  assert.equal(seconds(50_000, own), "50\u202fms");
});

test("what parts names in a row comes from the catalogue: in Chinese it is another sign", () => {
  // what is typed or stored as it is; <time, offset>
  const root = new URL("../../../static/js/", import.meta.url);
  const inputs = ["pulsar/editor.js", "analyze/strategies_step.js", "analyze/watch_form.js", "log/words.js"];
  const files = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".js") && !inputs.includes(name));
  const found = files.filter((name) =>
    /join\("(, |; |: )"\)|\}(, |: )\$\{/.test(readFileSync(new URL(name, root), "utf8")),
  );
  assert.deepEqual(found.filter((name) => !name.includes("vendor")), []);
});

test("a moment to the millisecond", () => {
  assert.equal(clockMs(8_934_567), "0:08.934");
  assert.equal(clockMs(3_600_000_000), "1:00:00.000");
  assert.equal(clockMs(-5), "0:00.000");
});
