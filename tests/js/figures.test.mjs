// Figures and words at their edges: where a unit changes, where a half is rounded, what is empty and what is nobody's.
import assert from "node:assert/strict";
import test from "node:test";

import { bytes } from "../../static/js/analyze/sizes.js";
import {
  clock, figure, fill, halfUp, inTurn, number, percent, seconds, speaker, tickCode,
} from "../../static/js/base/say.js";
import { isTextured, paint, textOn, textures, waitingPaint } from "../../static/js/drawing/paint.js";
import { address, duration, instant, mebibytes, size, span, textWidth } from "../../static/js/log/format.js";
import { distance, isBelow, plus } from "../../static/js/log/offsets.js";

const words = { millisecond: "ms", second: "s", minute: "min", "log.hour": "h", "log.day": "d" };
const plain = (text) => text.replaceAll("\u202f", " ");

test("groups of three from the right, a fraction and a sign left alone", () => {
  assert.deepEqual(
    [0, 999, 1000, 999_999, 1_000_000, -1234, 1234.5, 0.125].map((value) => plain(number(value))),
    ["0", "999", "1 000", "999 999", "1 000 000", "-1 234", "1 234.5", "0.125"],
  );
  // an offset beyond what a number holds comes as text
  assert.equal(plain(number("9223372036854775807")), "9 223 372 036 854 775 807");
});

test("halves are rounded up, and digits are kept", () => {
  assert.deepEqual([0.5, 1.5, 2.5, -0.5, 2.4].map((value) => halfUp(value)), ["1", "2", "3", "0", "2"]);
  assert.deepEqual(
    [
      [1, 2], [0.125, 2], [0.995, 1], [12, 0],
    ].map(([value, digits]) => halfUp(value, digits)),
    ["1.00", "0.13", "1.0", "12"],
  );
});

test("nothing known is a dash, nothing at all is a figure", () => {
  assert.deepEqual([figure(null, 2), figure(undefined, 2), figure(0, 2)], ["–", "–", "0.00"]);
  assert.deepEqual([percent(null), percent(undefined), percent(0)].map(plain), ["–", "–", "0 %"]);
  assert.deepEqual([percent(0.004, 1), percent(1), percent(0.9999)].map(plain), ["0.4 %", "100 %", "100 %"]);
  assert.deepEqual([seconds(null, words), seconds(undefined, words)], ["–", "–"]);
});

test("a duration changes its unit where it says", () => {
  const told = [
    0, 1, 49_999, 50_000, 99_499, 99_500, 1_000_000, 1_050_000, 9_949_999, 9_950_000, 119_499_999, 119_500_000,
    3_600_000_000,
  ].map((us) => plain(seconds(us, words)));
  assert.deepEqual(told, [
    "0 s", "1 ms", "50 ms", "50 ms", "99 ms", "0.1 s", "1 s", "1.1 s", "9.9 s", "10 s", "119 s", "2 min", "60 min",
  ]);
});

test("a clock never shows sixty seconds or sixty minutes", () => {
  assert.deepEqual([0, 99_999, 59_999_999, 60_000_000, 3_599_999_999, 3_600_000_000, 36_061_200_000].map(clock), [
    "0:00.0", "0:00.0", "0:59.9", "1:00.0", "59:59.9", "1:00:00.0", "10:01:01.2",
  ]);
});

test("a place is written by its name: what ends in _us is a duration, a number is grouped, nobody is nothing", () => {
  assert.equal(
    plain(
      fill(
        "{a_us} {left_us} {left} {count} {who}|{nobody}|",
        { a_us: 2_500_000, left_us: 90_000_000, left: 2, count: 1234, who: "c1", nobody: null },
        words,
      ),
    ),
    "2.5 s 90 s 2 1 234 c1||",
  );
  assert.equal(fill("no places", {}, words), "no places");
  assert.equal(fill("{0}", ["zero"], words), "zero");
});

test("one is one; none, two and an unknown count are many", () => {
  const told = (count) => fill("{count?one record|{count} records}", { count }, words);
  assert.deepEqual([1, 0, 2, 1.5].map(told), ["one record", "0 records", "2 records", "1.5 records"]);
  assert.equal(told(undefined), " records");
});

test("the same sentence in Chinese has its places in another order and no plural", () => {
  const say = speaker({ ...words, moved: "{consumer} 接手了 {count} 个分区，用时 {pause_us}", second: "秒" });
  assert.equal(plain(say("moved", { count: 1200, consumer: "c2", pause_us: 3_000_000 })), "c2 接手了 1 200 个分区，用时 3 秒");
});

test("a code without words is shown as it is", () => {
  assert.equal(speaker({})("model.unknown"), "model.unknown");
  assert.equal(speaker({})("a {name}", { name: "c1" }), "a c1");
});

test("an order on the timeline is named by what it is", () => {
  const codes = [
    { kind: "join", count: 1 }, { kind: "join", count: 3 }, { kind: "leave", count: 3 },
    { kind: "resume", full_speed: true }, { kind: "resume" },
  ].map(tickCode);
  assert.deepEqual(codes, ["tick.join", "tick.join_many", "tick.leave", "tick.full_speed", "tick.resume"]);
});

test("names without a number stand before those with one, and letters decide between equals", () => {
  assert.deepEqual(inTurn(["b", "a", "c10", "c9", "x9"]), ["a", "b", "c9", "x9", "c10"]);
  assert.deepEqual(inTurn([]), []);
});

test("bytes on the two pages that count them: thousands, and never a fourth digit before the unit", () => {
  assert.deepEqual(
    [0, 1, 999, 999.4, 1000, 9949, 9950, 999_499, 999_500, 1e15].map((count) => plain(bytes(count))),
    ["0 B", "1 B", "999 B", "999 B", "1.0 kB", "9.9 kB", "10 kB", "999 kB", "1.0 MB", "1000 TB"],
  );
  assert.deepEqual(
    [0, 999, 1000, 9994, 9995, 99_949, 99_950, 999_499, 999_500, null].map((count) => plain(size(count))),
    ["0 B", "999 B", "1.00 kB", "9.99 kB", "10.0 kB", "99.9 kB", "100 kB", "999 kB", "1.00 MB", "–"],
  );
  assert.deepEqual(
    [64 * 2 ** 20, 2 ** 30, 1_500_000].map((count) => plain(mebibytes(count))),
    ["64 MiB", "1024 MiB", "1.43 MiB"],
  );
});

test("a record's time is UTC; none is -1, and what no calendar holds is its number", () => {
  assert.deepEqual([0, 1_570_793_423_501, -1, null].map(instant), [
    "1970-01-01 00:00:00.000Z", "2019-10-11 11:30:23.501Z", "-1", "–",
  ]);
  assert.equal(plain(instant(9e15)), "9 000 000 000 000 000");
});

test("a setting stands in its largest unit, a span in its two largest", () => {
  assert.deepEqual(
    [90_000, 119_999, 120_000, 7_199_999, 7_200_000, 172_799_999, 604_800_000, 1500].map((ms) =>
      plain(duration(ms, words)),
    ),
    ["90 s", "120 s", "2 min", "120 min", "2 h", "48 h", "7 d", "1.5 s"],
  );
  assert.deepEqual(
    [0, 59.9e6, 60e6, 3599e6, 3600e6, 6000e6, 172_799e6, 172_800e6, 187_200e6].map((us) => plain(span(us, words))),
    ["0 s", "59 s", "1 min", "59 min", "1 h", "1 h 40 min", "47 h 59 min", "2 d", "2 d 4 h"],
  );
});

test("an address has three hexadecimal digits, or as many as it needs", () => {
  assert.deepEqual([address(0), address(255), address(4096), address(10, 6)], ["000", "0ff", "1000", "00000a"]);
});

test("a Chinese letter is as wide as two others", () =>
  assert.ok(textWidth("偏移") > textWidth("ab") && textWidth("偏移") === 2 * textWidth("偏")));

test("offsets beyond 2^53 are compared and reckoned with to the last digit", () => {
  const high = "9223372036854775806";
  assert.equal(isBelow(high, "9223372036854775807"), true);
  assert.equal(isBelow("10", 9), false);                       // as text "10" would be below
  assert.equal(isBelow(5, 5), false);
  assert.equal(distance("9007199254740993", "9007199254740995"), 2);
  assert.equal(plus(high, 1), "9223372036854775807");
  assert.deepEqual(
    [plus(5, 3), plus("9007199254740990", 1), plus(2 ** 53 - 1, 1)],
    [8, 9007199254740991, "9007199254740992"],
  );
});

test("twenty-one consumers have paints of their own, the twenty-second begins again", () => {
  const paints = Array.from({ length: 21 }, (_, place) => paint(place + 1));
  assert.equal(new Set(paints).size, 21);
  assert.deepEqual(
    [paint(1), paint(8), paint(15), paint(22), paint(0), paint(null)],
    ["var(--id-1)", "url(#id-8)", "url(#id-15)", "var(--id-1)", "none", "none"],
  );
  assert.deepEqual([7, 8, 21, 22].map(isTextured), [false, true, true, false]);
  assert.deepEqual(
    [waitingPaint(1), waitingPaint(8), waitingPaint(21)],
    ["url(#wait-1)", "url(#wait-1)", "url(#wait-7)"],
  );
  assert.deepEqual([textOn(1), textOn(2), textOn(22)], ["var(--on-id-1)", "var(--on-id)", "var(--on-id-1)"]);
});

test("every paint that names a pattern has its pattern in the page", () => {
  const { diagonal, dots, draining } = textures();
  const ids = new Set([...diagonal, ...dots].map(({ id }) => `url(#id-${id})`));
  for (let color = 1; color <= 30; color += 1) {
    if (paint(color).startsWith("url")) assert.ok(ids.has(paint(color)), paint(color));
  }
  const waits = new Set(draining.map(({ id }) => `url(#wait-${id})`));
  for (let color = 1; color <= 30; color += 1) assert.ok(waits.has(waitingPaint(color)));
});
