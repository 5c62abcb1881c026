// What a browser keeps of a person's way through the lessons, and what the page Learn makes of it.

import assert from "node:assert/strict";
import test from "node:test";

import { countDone, markOf, nextStep } from "../../../static/js/learn/course.js";
import { isBegun, keepPlace, keptLessons, labIn } from "../../../static/js/lesson/kept.js";

function storage(text = null) {
  const writes = [];
  return {
    writes, getItem: () => text,
    setItem: (_, next) => {
      writes.push(next);
      text = next;
    },
  };
}
const at = (frame, more = {}) => ({ name: "Ring", frame, frames: 3, is_over: false, ...more });

test("a place grows with the lesson, is written once a frame, and looking back takes nothing away", () => {
  const kept = storage();
  for (const frame of [0, 1, 1, 2, 1, 0, 2]) keepPlace(at(frame), "lab1", kept, 5);
  assert.equal(kept.writes.length, 3);
  assert.deepEqual(keptLessons(kept).Ring, {
    lab: "lab1", frame: 2, frames: 3, is_over: false, is_done: false, at: 5,
  });
});

test("a lesson is done once it is over, and stays so when it is played again from its first frame", () => {
  const kept = storage();
  keepPlace(at(3, { is_over: true }), "lab1", kept, 1);
  assert.deepEqual(markOf(keptLessons(kept).Ring), { kind: "done" });
  keepPlace(at(1), "lab1", kept, 2);
  assert.equal(isBegun(keptLessons(kept).Ring), false);
  keepPlace(at(1), "lab2", kept, 3);
  const { Ring: again } = keptLessons(kept);
  assert.deepEqual([again.frame, again.is_done, again.lab], [1, true, "lab2"]);
  assert.deepEqual(markOf(again), { kind: "place", frame: 1, frames: 3 });
});

test("three hundred lessons are kept, the newest; a text that is not ours counts as none", () => {
  const kept = storage();
  for (let place = 0; place < 310; place += 1) keepPlace({ ...at(1), name: `L${place}` }, "lab", kept, place);
  const names = Object.keys(keptLessons(kept));
  assert.equal(names.length, 300);
  assert.ok(names.includes("L309") && !names.includes("L9"));
  for (const text of ["", "null", "[]", "7", "{", '"a"']) assert.deepEqual(keptLessons(storage(text)), {});
});

test("a browser that keeps nothing plays lessons all the same", () => {
  const full = {
    getItem: () => { throw new Error("denied"); },
    setItem: () => { throw new Error("full"); },
  };
  assert.deepEqual(keptLessons(full), {});
  assert.doesNotThrow(() => keepPlace(at(1), "lab", full, 1));
});

test("the lab is the address's own, and on a page of none nothing is kept", () => {
  assert.equal(labIn("/lab/aB-9_/kafka/cluster/"), "aB-9_");
  for (const path of ["/", "/learn/", "/lab//", "/lab/a b/", "/labs/abc/"]) assert.equal(labIn(path), null);
});

const begun = (when, frame = 2) => ({ lab: `of${when}`, frame, frames: 6, is_over: false, is_done: false, at: when });
const done = { lab: "x", frame: 3, frames: 3, is_over: true, is_done: true, at: 9 };

test("the button goes on with the lesson begun last, else with the first that is not done", () => {
  const start = ["a", "b"], all = ["a", "b", "c"];
  assert.deepEqual(nextStep(start, all, {}), { title: "a", kind: "begin", number: 1 });
  assert.deepEqual(nextStep(start, all, { a: done }), { title: "b", kind: "begin", number: 2 });
  assert.deepEqual(nextStep(start, all, { a: done, b: done }), { title: "c", kind: "begin_next" });
  assert.deepEqual(nextStep(start, all, { a: done, b: done, c: done }), { title: "a", kind: "begin_next" });
  assert.deepEqual(nextStep(start, all, { a: begun(1), c: begun(2, 0) }), {
    title: "c", kind: "place", frame: 1, frames: 6, lab: "of2",
  });
  assert.equal(nextStep(start, all, { gone: begun(5) }).title, "a");   // a lesson that is not on the list any more
  assert.equal(countDone(all, { a: done, c: begun(1), gone: done }), 1);
});
