// A lesson's checks in words.
import assert from "node:assert/strict";
import { test } from "node:test";

import { lessonOf } from "../../../static/js/lesson/words.js";

const say = (code, params) =>
  code === "lesson.language"
    ? "en"
    : code.startsWith("check.state.")
      ? `word of ${code.slice(12)}`
      : code === "check.is"
        ? params.value
        : code === "check.asked"
          ? params.asked
          : code;

function checked(number, came, asked = came) {
  const own = { en: "" }, check = { lane: "kafka", number, at_us: 0, asks: { is: asked }, says: own };
  const view = {
    at_us: 0,
    lesson: {
      title: own, watch_for: own, you_will_learn: own, lasts_us: 9, meddled_us: null, captions: [], checks: [check],
      results: { 0: { came, holds: came === asked } },
    },
  };
  const [{ figure, about }] = lessonOf(view, say).checks;
  return [figure, about];
}

test("the state of a consumer has the word of its row, in what came and in what was asked", () => {
  assert.deepEqual(checked("consumers.c2.state", "crashed"), ["word of crashed", "word of crashed"]);
  assert.deepEqual(checked("consumers.c2.state", "waiting", "gone"), ["word of waiting", "word of gone"]);
});

test("any other value is as the file writes it", () => {
  assert.deepEqual(checked("cluster.brokers.1.state", "crashed"), ["crashed", "crashed"]);
  assert.deepEqual(checked("consumers.c2.state", "live"), ["live", "live"]);
  assert.deepEqual(checked("consumers.c2.state", 5), ["5", "5"]);
});

test("where checks ask several lanes each names its own as the Stage does", () => {
  const own = { en: "" }, ask = (lane) => ({ lane, number: "lag", at_us: 0, asks: { is: 1 }, says: own });
  const view = {
    at_us: 0, lanes: { kafka: { model: "kafka" }, old: { model: "kafka" } },
    lesson: {
      title: own, watch_for: own, you_will_learn: own, lasts_us: 9, meddled_us: null, captions: [],
      checks: [ask("kafka"), ask("old")], results: {},
    },
  };
  assert.deepEqual(lessonOf(view, say).checks.map(({ about }) => about), ["model.kafka · 1", "model.kafka old · 1"]);
  view.lesson.lanes = { old: { en: "High watermark", zh: "高水位" } };
  const named = (code, params) => (code === "list.named" ? `${params.name}: ${params.what}` : say(code, params));
  assert.deepEqual(
    lessonOf(view, named).checks.map(({ about }) => about),
    ["model.kafka · 1", "model.kafka: High watermark · 1"],
  );
});
