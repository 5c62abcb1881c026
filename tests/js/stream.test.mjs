// Frames as they come: whatever is lost, doubled or late, what is shown is a view that the server had; how old it is;
// and what a study's news do.
import assert from "node:assert/strict";
import test from "node:test";

import { heard, STAGES, wholePart } from "../../static/js/analyze/progress_part.js";
import { combinations, numbers, parse, wrongParams } from "../../static/js/analyze/strategy_ids.js";
import { createFreshness } from "../../static/js/feed/freshness.js";
import { createLive } from "../../static/js/feed/live.js";
import { applyPatch } from "../../static/js/feed/patch.js";
import { refusalIn } from "../../static/js/feed/refusal.js";
import { billCovers, heroCovers, listed, rebalanceFor } from "../../static/js/lane/covers.js";
import { lessonCaption, lessonOf } from "../../static/js/lesson/words.js";

const say = (code, params) => (params ? `${code} ${Object.values(params).join(",")}` : code);

// -- patches ----------------------------------------------------------------------------------------------------------

test("a list takes a value at its end by its number or by a dash, and nothing beyond", () => {
  const add = (path, list = [1, 2]) => applyPatch({ list }, [{ op: "add", path, value: 9 }]).list;
  assert.deepEqual(
    [add("/list/0"), add("/list/2"), add("/list/-"), add("/list/0", [])],
    [[9, 1, 2], [1, 2, 9], [1, 2, 9], [9]],
  );
  for (const path of ["/list/3", "/list/-1", "/list/01", "/list/1.0", "/list/1e0", "/list/", "/list/ 1"]) {
    assert.throws(() => add(path), path);
  }
  for (const op of ["remove", "replace"]) {
    for (const path of ["/-", "/1"]) {
      assert.throws(() => applyPatch([1], [{ op, path, value: 1 }]), `${op} at the end, where nothing is`);
    }
  }
});

test("a pointer's signs stand for themselves: ~01 is ~1, an empty name is a name", () => {
  assert.deepEqual(
    applyPatch({ "~1": 0, "": { "": 0 } }, [
      { op: "replace", path: "/~01", value: 1 }, { op: "replace", path: "//", value: 2 },
    ]),
    { "~1": 1, "": { "": 2 } },
  );
});

test("add at a name that is there replaces it, null is a value, and a number may be a name", () => {
  assert.deepEqual(
    applyPatch({ a: 1 }, [
      { op: "add", path: "/a", value: null }, { op: "add", path: "/0", value: "x" },
    ]),
    { a: null, 0: "x" },
  );
  assert.equal(applyPatch({ a: 1 }, [{ op: "replace", path: "", value: null }]), null);
});

test("what is inherited is not there", () => {
  for (const path of ["/toString", "/a/length", "/hasOwnProperty"]) {
    assert.throws(() => applyPatch({ a: "text" }, [{ op: "replace", path, value: 1 }]), path);
  }
  assert.throws(() => applyPatch(null, [{ op: "add", path: "/a", value: 1 }]));
  assert.throws(() => applyPatch({ a: 1 }, [{ op: "remove", path: "" }]));
});

test("no operations are no change, and each sees what the one before did", () => {
  const document = { list: [] };
  assert.equal(applyPatch(document, []), document);
  applyPatch(document, [
    { op: "add", path: "/list/-", value: {} }, { op: "add", path: "/list/0/n", value: 1 },
    { op: "add", path: "/list/0", value: 0 }, { op: "replace", path: "/list/1/n", value: 2 },
  ]);
  assert.deepEqual(document, { list: [0, { n: 2 }] });
});

// -- frames -----------------------------------------------------------------------------------------------------------

function live() {
  const shown = [], asked = [], events = [];
  const receive = createLive({
    applyPatch: (view, patch) => applyPatch(structuredClone(view), patch),
    requestSnapshot: (unanswered) => asked.push(unanswered), acknowledge() {},
    onChange: (view, seq, told) => {
      shown.push([seq, view.n]);
      events.push(told);
    },
  });
  return { receive, shown, asked, events };
}
const viewAt = (seq) => ({ n: seq * seq });
const snapshot = (seq, epoch = 1) => ({ type: "snapshot", epoch, seq, view: viewAt(seq) });
const frame = (seq, epoch = 1) => ({
  type: "frame", epoch, from_seq: seq - 1, seq, patch: [{ op: "replace", path: "/n", value: viewAt(seq).n }],
});

test("a frame before the first snapshot is no view, and asks for one", () => {
  const { receive, shown, asked } = live();
  receive({ ...frame(0), from_seq: -1 });
  assert.deepEqual([shown, asked.length], [[], 1]);
  receive(frame(1));
  assert.equal(asked.length, 1, "one question at a time");
});

test("events come with their frame, none with a snapshot, and an old server's frame without any is none", () => {
  const { receive, events } = live();
  receive(snapshot(1));
  receive({ ...frame(2), events: [{ kind: "x" }] });
  receive(frame(3));
  assert.deepEqual(events, [[], [{ kind: "x" }], []]);
});

test("the same snapshot again is shown again: it may answer a question", () => {
  const { receive, shown, asked } = live();
  for (const message of [snapshot(3), frame(5), snapshot(3), frame(5)]) receive(message);
  assert.deepEqual(shown, [[3, 9], [3, 9]]);
  assert.equal(asked.length, 2, "the answer was older than the gap");
});

test("a frame of a newer epoch that fits follows; one that does not asks, and the old epoch is over then", () => {
  const { receive, shown, asked } = live();
  for (const message of [snapshot(3), frame(4, 2), frame(5, 1), frame(5, 2)]) receive(message);
  assert.deepEqual(shown, [[3, 9], [4, 16], [5, 25]]);
  receive(frame(9, 3));
  assert.equal(asked.length, 1);
});

test("a message without an epoch is of the first", () => {
  const { receive, shown } = live();
  for (const { epoch, ...message } of [snapshot(1), frame(2)]) receive(message);
  receive(snapshot(9, 1));
  assert.deepEqual(shown.map(([seq]) => seq), [1, 2, 9]);
});

test("law: however frames are lost, doubled and out of order, only views of the server are shown, " +
  "and their numbers never fall", () => {
  let state = 7;
  const chance = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  for (let round = 0; round < 40; round += 1) {
    const { receive, shown, asked } = live();
    let newest = 0;
    receive(snapshot(0));
    for (let step = 0; step < 60; step += 1) {
      newest += chance(2);
      if (asked.length) {
        asked.pop();
        receive(snapshot(newest));
      } else
        receive(
          [frame(newest || 1), frame(Math.max(1, newest - chance(4))), snapshot(Math.max(0, newest - chance(3)))][
            chance(3)
          ],
        );
    }
    for (const [seq, n] of shown) assert.equal(n, viewAt(seq).n);
    shown.slice(1).forEach(([seq], place) => assert.ok(seq >= shown[place][0]));
  }
});

test("a refusal is told in the reader's language, the first of a frame; other events are none", () => {
  const refused = (en, zh) => ({ kind: "lab.command_refused", data: { words: { en, "zh-hans": zh } } });
  assert.equal(
    refusalIn(
      [{ kind: "kafka.group.generation_started", data: {} }, refused("gone", "不存在"), refused("no", "不")],
      "zh-hans",
    ),
    "不存在",
  );
  assert.equal(refusalIn([{ kind: "x" }], "en"), null);
  assert.equal(refusalIn([], "en"), null);
  assert.equal(refusalIn([refused("gone", "不存在")], "fr"), null, "a language that the server does not write");
});

// -- freshness --------------------------------------------------------------------------------------------------------

test("at double speed a virtual second is half a real one, and a change of speed begins the measure anew", () => {
  let now = 0;
  const freshness = createFreshness(() => now);
  freshness.opened();
  for (let place = 1; place <= 5; place += 1) { now = place * 100; freshness.frame(place * 200_000, 2, true); }
  assert.deepEqual(freshness.state(true, 0), { state: "live", ms: 0 });
  now = 900;
  freshness.frame(1_200_000, 2, true);                          // due at 600
  assert.equal(freshness.state(true, 0).ms, 300);
  now = 1000;
  freshness.frame(1_300_000, 1, true);
  assert.equal(freshness.state(true, 0).ms, 0);
});

test("the time between a worker that died and the next one is gone: its frames are not late for a minute", () => {
  let now = 0;
  const freshness = createFreshness(() => now);
  freshness.opened();
  for (let place = 1; place <= 5; place += 1) { now = place * 100; freshness.frame(place * 100_000, 1, true, 4); }
  now = 3100;
  freshness.frame(600_000, 1, true, 5);
  assert.deepEqual(freshness.state(true, 0), { state: "live", ms: 0 });
  now = 3500;
  freshness.frame(700_000, 1, true, 5);                         // due at 3200
  assert.equal(freshness.state(true, 0).ms, 300);
});

test("what the browser needs to draw is part of how old the picture is", () => {
  let now = 0;
  const freshness = createFreshness(() => now);
  freshness.opened();
  freshness.frame(0, 1, true);
  assert.deepEqual(
    [freshness.state(true, 1000), freshness.state(true, 1001)].map(({ state }) => state),
    ["live", "behind"],
  );
  now = 3001;
  assert.deepEqual(freshness.state(true, 0), { state: "behind", ms: 3001 });
});

// -- what a bill covers -----------------------------------------------------------------------------------------------

test("names as a list in words: none, one, two, many", () => {
  const words = (code, { first, last } = {}) => (code === "list.and" ? `${first} and ${last}` : ", ");
  assert.deepEqual(
    [[], ["a"], ["a", "b"], ["a", "b", "c"]].map((names) => listed(names, words)),
    ["", "a", "a and b", "a, b and c"],
  );
});

test("before the first change a bill covers nothing; then its changes with their time, many by their number", () => {
  assert.deepEqual(
    [billCovers({}, say), billCovers({ bill: { changes: [] } }, say), heroCovers({ bill: null }, say)],
    ["", "", ""],
  );
  const bill = {
    at_us: 61e6,
    changes: [
      { kind: "join", names: ["c4"], count: 1 }, { kind: "leave", names: ["c1", "c2", "c3", "c5"], count: 4 },
    ],
  };
  assert.equal(billCovers({ bill }, say), "covers.bill covers covers.join c4covers.commacovers.leave_many 4,1:01.0");
  assert.match(
    billCovers({ bill: { at_us: 0, changes: [{ kind: "join", names: ["c4", "c5", "c6"], count: 3 }] } }, say),
    /covers\.join list\.and/,
    "three are still named",
  );
  const start = { at_us: 0, changes: [{ kind: "start", names: ["c1", "c2", "c3", "c4"], count: 4 }] };
  assert.match(
    billCovers({ bill: start }, say),
    /covers\.start list\.and c1/,
    "who was there from the start is named, however many",
  );
});

test("the large figure covers all that left something without service, even after a later bill", () => {
  const lane = {
    bill: { at_us: 9e6, changes: [{ kind: "join", names: ["c9"], count: 1 }] },
    hero: { since_us: 3e6, changes: [{ kind: "crash", names: ["c1"], count: 1 }] },
  };
  assert.equal(heroCovers(lane, say), "covers covers.crash c1,0:03.0");
  assert.equal(heroCovers({ ...lane, hero: { changes: [] } }, say), "covers covers.join c9,0:09.0");
});

test("a rebalance is for whom it fell together: newcomers counted, a crash not yet, many by their number, " +
  "each name once", () => {
  const told = (...changes) =>
    rebalanceFor(
      { bill: { changes: changes.map(([kind, names, count = names.length]) => ({ kind, names, count })) } },
      say,
    );
  assert.deepEqual(
    [
      told(), told(["start", ["c1"]]), told(["crash", ["c1"]]), told(["join", ["c4"]]), told(["join", ["c4", "c5"]]),
      told(["leave", ["c1"]], ["join", ["c1"]]), told(["leave", ["c1"]], ["join", ["c3", "c4"]]),
      told(["leave", ["c1", "c2"]], ["join", ["c3", "c4"]]),
    ],
    ["", "", "", "c4", "newcomers 2", "c1", "list.and c1list.commac3,c4", "covers.changes 4"],
  );
  assert.equal(rebalanceFor({}, say), "");
});

// -- lessons ----------------------------------------------------------------------------------------------------------

const both = (text) => ({ en: text, "zh-hans": `${text}。` });
const inEnglish = (code, params) => (code === "lesson.language" ? "en" : say(code, params));
const inChinese = (code, params) => (code === "lesson.language" ? "zh-hans" : say(code, params));
function lesson(more = {}) {
  const check = (at_us, number) => ({
    lane: "kafka", number, at_us, asks: { at_least: 2 }, says: both(`says ${number}`),
  });
  return {
    at_us: 20e6, lanes: {},
    lesson: {
      title: both("title"), watch_for: both("watch"), you_will_learn: both("learn"), lasts_us: 60e6, meddled_us: null,
      caption: 0, captions: [{ at_us: 5e6, text: both("first") }], checks: [check(10e6, "lag"), check(30e6, "skew")],
      results: {}, ...more,
    },
  };
}

test("a lesson's caption is its title before the first, and silent once somebody gave an order of their own " +
  "after it", () => {
  assert.equal(lessonCaption(lesson(), inEnglish), "first");
  assert.equal(lessonCaption(lesson(), inChinese), "first。");
  assert.equal(lessonCaption(lesson({ caption: -1 }), inEnglish), "title");
  const planned = lessonCaption(lesson({ meddled_us: 4e6 }), inEnglish);
  assert.equal(planned, say("lesson.planned", { caption: "first" }), "the order was before this caption");
  assert.equal(lessonCaption(lesson({ meddled_us: 5e6 }), inEnglish), "");
  assert.equal(lessonCaption({ lesson: null }, inEnglish), "");
  assert.equal(lessonOf({ lesson: null }, inEnglish), null);
});

test("checks are not yet answered, hold or fail, and are summed", () => {
  const none = lessonOf(lesson(), inEnglish);
  const one = lessonOf(lesson({ results: { 0: { holds: true, came: 3 } } }), inEnglish);
  const all = lessonOf(
    lesson({ results: { 0: { holds: true, came: 3 }, 1: { holds: false, came: 1.23456 } } }),
    inEnglish,
  );
  assert.deepEqual(
    [none, one, all].map(({ checks }) => checks.map(({ state }) => state)),
    [
      ["not_yet", "not_yet"], ["holds", "not_yet"], ["holds", "fails"],
    ],
  );
  assert.deepEqual(
    [none, one, all].map(({ slots, label }) => [slots.sum, label]),
    [
      ["lesson.sum 0,2", "lesson.checks_label 0,0,2"], ["lesson.sum 1,2", "lesson.checks_label 1,1,2"],
      ["lesson.sum 1,2", "lesson.checks_label 1,2,2"],
    ],
  );
  assert.deepEqual(all.checks.map(({ figure }) => figure), ["3", "1.235"]);
  assert.equal(none.checks[0].figure, "–");
  assert.equal(none.slots.told, "");
  assert.match(all.slots.told, /says skew/, "the check that was answered last");
});

test("a number that the view lacks is missing, and nothing is told as nothing", () => {
  const told = (result) => lessonOf(lesson({ results: { 0: result } }), inEnglish).checks[0].figure;
  assert.deepEqual(
    [
      told({ holds: false, missing: true, came: null }), told({ holds: false, came: null }),
      told({ holds: true, came: "nothing" }), told({ holds: true, came: 1234 }),
    ],
    ["check.missing", "check.nothing", "check.nothing", "1\u202f234"],
  );
});

test("how far a lesson is goes by whole seconds, until it is over", () => {
  const at = (at_us) => lessonOf({ ...lesson(), at_us }, inEnglish);
  assert.deepEqual(
    [at(20_900_000), at(59_999_999), at(60_000_000)].map(({ slots, is_over: isOver }) => [slots.progress, isOver]),
    [
      ["lesson.progress 0:20,1:00", false], ["lesson.progress 0:59,1:00", false], ["lesson.over", true],
    ],
  );
});

// -- studies ----------------------------------------------------------------------------------------------------------

test("a study's bar goes through its stages in equal parts, and is empty where nobody knows", () => {
  assert.equal(wholePart({ stage: "starting_spark", done: 0, total: 0 }), null);
  const parts = STAGES.flatMap((stage) => [0, 5, 10].map((done) => wholePart({ stage, done, total: 10 })));
  parts.slice(1).forEach((part, place) => assert.ok(part >= parts[place]));
  assert.deepEqual(
    [
      parts[0], wholePart({ stage: "reading", done: 7, total: 0 }),
      wholePart({ stage: "writing", done: 99, total: 10 }),
    ],
    [0, 0, 1],
  );
});

test("what the socket says changes the state and keeps the rest; a study that starts to run has a worker", () => {
  const study = { id: 1, state: "queued", worker: false, started_at: null };
  const message = { state: "running", started_at: 5, progress: { stage: "reading" } };
  assert.deepEqual(heard(study, message), {
    id: 1, state: "running", worker: true, started_at: 5, progress: { stage: "reading" },
  });
  assert.equal(heard(study, { ...message, state: "queued" }).worker, false);
  assert.equal(heard({ ...study, worker: true }, { ...message, state: "failed" }).worker, true);
});

test("what is typed beside a family is every combination of its numbers, whatever parts them", () => {
  const family = {
    model: "tubemq", algorithm: "modulo",
    params: [
      { name: "partitions", min: 1, max: 64 }, { name: "brokers", min: 1, max: 8 },
    ],
  };
  assert.deepEqual(numbers(" 12, 24，48;6\t7 "), ["12", "24", "48", "6", "7"]);
  assert.deepEqual(combinations(family, { partitions: "12 24", brokers: "3" }), [
    "tubemq.modulo:partitions=12,brokers=3", "tubemq.modulo:partitions=24,brokers=3",
  ]);
  assert.deepEqual(
    combinations(family, { partitions: "", brokers: "1,2" }),
    ["tubemq.modulo:partitions=-,brokers=1", "tubemq.modulo:partitions=-,brokers=2"],
    "what is missing is refused where it stands",
  );
  assert.deepEqual(combinations({ model: "pulsar", algorithm: "sticky", params: [] }, {}), ["pulsar.sticky"]);
});

test("a text that is not whole numbers within the limits is named", () => {
  const family = { params: [{ name: "a", min: 1, max: 64 }, { name: "b", min: 0, max: 8 }] };
  const wrong = (a, b) => wrongParams(family, { a, b }).map(({ name }) => name);
  assert.deepEqual(
    [wrong("1 64", "0 8"), wrong("0", "9"), wrong("", " "), wrong("1.5", "-1"), wrong("1 x", "1e0")],
    [[], ["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"]],
  );
});

test("an id is read back into its family and its numbers", () => {
  assert.deepEqual(parse("tubemq.modulo:partitions=12,brokers=3"), {
    family: "tubemq.modulo", params: { partitions: "12", brokers: "3" },
  });
  assert.deepEqual(parse("pulsar.sticky"), { family: "pulsar.sticky", params: {} });
});
