// What a capsule answers to its page: the past, stretches of it, events, "Why?", questions; and what it refuses.
import assert from "node:assert/strict";
import test from "node:test";

import { applyPatch } from "../../../static/js/feed/patch.js";
import { createAnswers } from "../../../static/js/player/answers.js";

const WORDS = {
  "events.word.first": "first", "events.word.last": "last", "event.a.joined": "{consumer} joined",
  "event.a.left": "{consumer} left",
};
const urls = {
  past: "/past/", past_frames: "/frames/", event_search: "/events/", branches: "/branches/",
  marks: "/marks/?only=system", why: "/why/", trial: "/trial/", passport: "/passport/",
};
const event = (seq, at_us, kind, consumer) =>
  ({ seq, at_us, kind, lane: "a", inputs: {}, data: { consumer } });
const run = {
  times: [[0, 1, "h0", true], [100, 1, "h1", false], [200, 2, "h2", true], [300, 2, "h3", false], [400, 2, "h4", true]],
  views: [{ at_us: 0 }, ...[100, 200, 300, 400].map((at) => [{ op: "replace", path: "/at_us", value: at }])],
  events: [event(1, 50, "a.joined", "c1"), event(2, 250, "a.joined", "c2"), event(3, 260, "a.left", "c1")],
  marks: [{ at_us: 250 }],
  asked: [
    { from_us: 0, until_us: 199, is_next: false, order: { kind: "join", consumer: null }, answer: { lanes: "join" } },
    { from_us: 300, until_us: 300, is_next: true, order: { kind: "crash", consumer: "c1" }, answer: { lanes: "next" } },
  ],
};
const why = async () => ({
  times: [0, 200], answers: [{ a: { "lane:a": { says: 1 } } }, [{ op: "replace", path: "/a/lane:a/says", value: 2 }]],
});
const make = () => createAnswers({ run, why, urls, say: (code) => code, words: () => WORDS });
const ask = async (path, query = {}, method = "GET") => (await make().answer(method, path, query)).body;

test("the past is the picture kept at a time, or the next one", async () => {
  const found = { at_us: 200, position: 2, state_hash: "h2", view: { at_us: 200 } };
  assert.deepEqual(await ask("/past/", { at_us: "200" }), found);
  assert.equal((await ask("/past/", { at_us: "201" })).view.at_us, 300);
  assert.equal((await ask("/past/", {})).at_us, 400);
});

test("a step leads over pictures, changes or events, and says how many there were", async () => {
  const step = async (at, unit, by) => {
    const { at_us: found, steps } = await ask("/past/", { at_us: String(at), step: unit, by: String(by) });
    return [found, steps];
  };
  assert.deepEqual(await step(100, "record", 2), [300, 2]);
  assert.deepEqual(await step(0, "change", 1), [200, 1]);
  assert.deepEqual(await step(400, "change", -1), [200, -1]);
  assert.deepEqual(await step(0, "change", 9), [400, 2]);
  assert.deepEqual(await step(100, "event", 1), [300, 1]);
  assert.deepEqual(await step(300, "event", -1), [100, -1]);
  assert.deepEqual(await step(400, "event", 1), [400, 0]);
});

test("a stretch goes on in steps of its own, with the pictures and events of its way", async () => {
  const { frames } = await ask("/frames/", { at_us: "100", until_us: "310", every_us: "70" });
  assert.deepEqual(frames.map(({ at_us: at }) => at), [100, 170, 240, 310]);
  let view = frames[0].view;
  const seen = frames.slice(1).map(({ patch }) => (view = applyPatch(view, patch)).at_us);
  assert.deepEqual(seen, [100, 200, 300]);
  assert.deepEqual(frames.map(({ events = [] }) => events.map(({ seq }) => seq)), [[], [], [], [2, 3]]);
});

test("events are found by words, kind, lane and consumer, from either end", async () => {
  const found = async (query) => (await ask("/events/", query)).events.map(({ seq }) => seq);
  assert.deepEqual(await found({}), [1, 2, 3]);
  assert.deepEqual(await found({ newest: "1", consumer: "c1" }), [3, 1]);
  assert.deepEqual(await found({ text: "last joined" }), [2]);
  assert.deepEqual(await found({ kind: "a.left", lane: "b" }), []);
  assert.deepEqual((await ask("/events/", {})).consumers, { c1: 2, c2: 1 });
});

test("Why is answered as of the last moment at which it was asked", async () => {
  const asked = (at) => ask("/why/", { lane: "a", thing: "lane:a", at_us: String(at) });
  assert.deepEqual(await asked(150), { at_us: 0, position: 1, says: 1 });
  assert.deepEqual(await asked(250), { at_us: 200, position: 2, says: 2 });
  assert.deepEqual(await ask("/why/", { lane: "a", thing: "slot:7" }), { fields: { lab: ["capsule.no_why"] } });
});

test("a question is answered while its change comes next, a lesson's at its frame", async () => {
  assert.deepEqual(await ask("/trial/", { at_us: "100", kind: "join" }), { lanes: "join" });
  assert.deepEqual(await ask("/trial/", { at_us: "250", kind: "join" }), { fields: { lab: ["capsule.no_question"] } });
  assert.deepEqual(await ask("/trial/", { at_us: "310", next: "1" }), { lanes: "next" });
  assert.deepEqual(make().questions, [{ from_us: 0, until_us: 199, kind: "join", consumer: null }]);
});

test("what is not in a capsule, and any order, is refused in words", async () => {
  for (const [path, method, code] of [
    ["/passport/", "GET", "capsule.not_here"], ["/commands/", "POST", "player.no_orders"],
    ["/past/", "POST", "player.no_orders"], ["/api/places/", "GET", "capsule.not_here"],
  ]) {
    const { status, body } = await make().answer(method, path, {});
    assert.equal(status, 409);
    assert.deepEqual(body, { fields: { lab: [code] } });
  }
});

test("marks and branches are there as the page expects them", async () => {
  assert.deepEqual(await ask("/marks/", { only: "system" }), { at_us: 400, marks: run.marks });
  assert.deepEqual(await ask("/branches/"), { branches: [] });
});
