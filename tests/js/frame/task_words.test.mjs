// A task of the room in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { doneWords, taskWords } from "../../../static/js/frame/task_words.js";

const say = (code, params = {}) => [code, ...Object.values(params)].join(" ");
const view = { lane_order: ["kafka"], lanes: { kafka: { model: "kafka" } } };
const task = (asks, changes = {}) => ({
  goal: { lane: "kafka", number: "lag", asks, for_us: 0, ...changes }, says: null, consumer: "", figure: "lag",
});

test("a task names its lane, its consumer, its figure and what is asked of it", () => {
  const words = taskWords(task({ at_most: 4 }), view, say);
  assert.equal(words, "task.said model.kafka task.figure.lag task.asked.at_most 4");
  const own = taskWords({ ...task({ is: 0 }), consumer: "c2" }, view, say);
  assert.match(own, /^task\.connected.*task\.of_consumer .*c2/);
});

test("what is to stay says for how long", () => {
  const words = taskWords(task({}, { for_us: 20_000_000 }), view, say);
  assert.match(words, /^task\.lasting task\.said .* task\.asked\.same .* 20$/);
});

test("a lesson's check is said in the lesson's words", () => {
  const own = { ...task({ at_least: 290 }), says: { en: "messages came", zh: "条消息" } };
  const english = (code, params = {}) => (code === "lesson.language" ? "en" : say(code, params));
  assert.equal(taskWords(own, view, english), "check.at_least 290 messages came");
});

test("who has done it: names, those without one, and those beyond the list", () => {
  assert.equal(doneWords({ done: 0, names: [] }, say), "");
  assert.equal(doneWords({ done: 3, names: ["Ana", "", "Bo"] }, say), "Analist.commaBolist.commatask.nameless 1");
  assert.match(doneWords({ done: 62, names: Array(60).fill("x") }, say), /task\.more 2$/);
});
