// A lesson frame by frame: where it pauses, what is before and next, and its stops on the line.
import assert from "node:assert/strict";
import { test } from "node:test";

import { frameShown, isInFrames, isOnWay, placeOf, stopsOf, whereOf } from "../../../static/js/lesson/frames.js";
import { layout, timeAt } from "../../../static/js/lesson/stops.js";

const S = 1e6;
const frame = (stop, more = {}) => ({ at_us: stop * S - 100, stop_us: stop * S, speed: 2, text: {}, ...more });
const lesson = (more = {}) => ({
  captions: [frame(3), frame(9), frame(9.2, { page: "groups" }), frame(20, { lane: "b", page: "cluster" })],
  end_speed: 4, lasts_us: 30 * S, page: "cluster", front: null, meddled_us: null, ...more,
});
const at = (seconds, more = {}) => ({ at_us: seconds * S, playing: false, stop_us: null, lesson: lesson(), ...more });
const numbers = ({ number, at: here, before, next }) => [
  number, here?.at_us ?? null, before?.at_us ?? null, next?.at_us ?? null,
].map((each, place) => (place && each !== null ? each / S : each));

test("between two frames Back leads to the one that was reached, at a frame to the one before", () => {
  assert.deepEqual([0, 3, 5, 9, 9.15, 9.2, 20, 25, 30].map((seconds) => numbers(placeOf(at(seconds)))), [
    [0, null, null, 3], [1, 3, null, 9], [1, null, 3, 9], [2, 9, 3, 9.2], [2, null, 9, 9.2], [3, 9.2, 9, 20],
    [4, 20, 9.2, 30], [4, null, 20, 30], [4, 30, 20, null],
  ]);
});

test("an order in the paused lab lets some milliseconds pass, and it is at its frame all the same", () => {
  assert.equal(placeOf(at(9.04)).at.number, 2);
  assert.equal(placeOf(at(9.04)).before.number, 1);
});

test("a lesson whose last frame is its end has no stop after it", () => {
  const stops = stopsOf(lesson({ lasts_us: 20 * S }));
  assert.deepEqual(stops.map(({ number, at_us: atUs }) => [number, atUs / S]), [[1, 3], [2, 9], [3, 9.2], [4, 20]]);
  assert.deepEqual(stopsOf(lesson()).at(-1), { at_us: 30 * S, speed: 4, number: 4, frame: null });
});

test("the pointer stands while the lab is paused at its frame, and not once the run is another one", () => {
  assert.equal(frameShown(at(9)).stop_us, 9 * S);
  assert.equal(frameShown(at(9, { playing: true })), null);
  assert.equal(frameShown(at(12)), null);
  assert.equal(frameShown(at(9, { lesson: lesson({ meddled_us: 8 * S }) })), null);
  assert.equal(frameShown({ at_us: 9 * S, playing: false }), null);
  assert.equal(isInFrames({ lesson: lesson({ captions: [] }) }), false);
});

test("a way is what is played to a moment", () => {
  assert.deepEqual(
    [at(1), at(1, { playing: true }), at(1, { playing: true, stop_us: 3 * S }), { playing: true }].map(isOnWay),
    [false, false, true, false],
  );
});

test("a frame is seen where it says, else where its lesson is", () => {
  const where = stopsOf(lesson()).map((stop) => whereOf(stop, lesson()));
  assert.deepEqual(where.map(({ page, lane }) => `${page} ${lane}`), [
    "cluster null", "cluster null", "groups null", "cluster b", "cluster b",
  ]);
});

// -- the line ---------------------------------------------------------------------------------------------------------

const say = (code, params = {}) => (code === "lesson.language" ? "en" : `${code} ${Object.values(params)}`);
const words = ["slow links", "leader appends", "followers copy", "why one fetch behind"];
const named = (seconds, more = {}) => {
  const captions = lesson().captions.map((each, place) => ({ ...each, word: { en: words[place] } }));
  return at(seconds, { lesson: lesson({ captions }), ...more });
};
const texts = (shapes) => shapes.filter(({ id }) => id.startsWith("word-")).map(({ text }) => text);

test("stops are at equal distances whatever the time between them, and each is pressed", () => {
  const shapes = layout(named(9), { width: 900, say }), stops = shapes.filter(({ id }) => /^stop-\d+$/.test(id));
  const steps = stops.slice(1).map(({ cx }, place) => cx - stops[place].cx);
  assert.ok(Math.max(...steps) - Math.min(...steps) < 1);
  assert.deepEqual(stops.map((stop) => stop.class), ["stop done", "stop current", "stop due", "stop due"]);
  const hits = shapes.filter(({ role }) => role === "button");
  assert.deepEqual(hits.map((hit) => hit["data-frame"]), [1, 2, 3, 4]);
  assert.equal(hits[1]["aria-label"], "lesson.stop 2,leader appends,0:09.0");
  assert.deepEqual(hits.map((hit) => hit["aria-current"]), [null, "step", null, null]);
});

test("a place on the line is the moment whose stop is there, and between two stops the time is even", () => {
  const view = named(30), stops = layout(view, { width: 900, say }).filter(({ id }) => /^stop-\d+$/.test(id));
  const time = (x) => timeAt(view, { width: 900, x }) / S;
  assert.deepEqual(stops.map(({ cx }) => Math.round(time(cx) * 50) / 50), [3, 9, 9.2, 20]);
  assert.equal(Math.round(time((stops[0].cx + stops[1].cx) / 2)), 6);
  assert.equal(time(-50), 0);
  assert.equal(time(2000), 30);
});

test("where words would touch the present one stays", () => {
  assert.deepEqual(texts(layout(named(9), { width: 1200, say })).sort(), [...words].sort());
  const narrow = layout(named(20), { width: 300, say });
  assert.equal(texts(narrow)[0], "why one fetch behind");
  assert.ok(texts(narrow).length < 4);
});

test("what is shown of the past has the stop of then, and the present its post", () => {
  const shapes = layout(named(20), { width: 900, say, shownUs: 9 * S });
  assert.equal(shapes.find(({ id }) => id === "stop-2").class, "stop current");
  assert.ok(shapes.some(({ id }) => id === "now"));
  assert.ok(layout(named(12), { width: 900, say }).some(({ id }) => id === "shown"), "between two stops");
});

test("without a word a stop has its time", () => {
  assert.deepEqual(texts(layout(at(9), { width: 900, say })).sort(), ["0:03.0", "0:09.0", "0:09.2", "0:20.0"]);
});
