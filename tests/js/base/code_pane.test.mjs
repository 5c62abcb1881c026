// The code pane of a user's own rule: what it says, whose rule it offers back, and where a refusal stands.
import assert from "node:assert/strict";
import test from "node:test";

import { createCodePane } from "../../../static/js/base/code_pane.js";
import { Refusal } from "../../../static/js/base/commands.js";

function element() {
  const listeners = {}, attributes = new Map(), classes = new Set();
  return {
    value: "", textContent: "", hidden: false, disabled: false, readOnly: false, attributes, classes,
    addEventListener: (name, act) => (listeners[name] = act),
    setAttribute: (name, value) => attributes.set(name, value),
    removeAttribute: (name) => attributes.delete(name),
    toggleAttribute: (name, is) => (is ? attributes.set(name, "") : attributes.delete(name)),
    classList: { toggle: (name, is) => (is ? classes.add(name) : classes.delete(name)) },
    fire: (name) => listeners[name]?.(),
  };
}

function pane(given = {}) {
  const parts = { source: element(), run: element(), back: element(), words: element() }, sent = [], failed = [];
  const held = { text: "the lane's", isWrong: false, isOwn: false };
  const { write } = createCodePane(parts, {
    example: "def assign", deploy: async (source) => sent.push(source), state: () => held,
    onRefused: (error) => failed.push(error), ...given,
  });
  write();
  return { ...parts, sent, failed, held, write };
}

test("an empty pane begins with the example, and sends its text or null", async () => {
  const { source, run, back, sent, held, words, write } = pane();
  assert.deepEqual([source.value, words.textContent, back.hidden], ["def assign", "the lane's", true]);
  await run.fire("click");
  Object.assign(held, { text: "yours", isOwn: true });
  write();
  assert.deepEqual([words.textContent, back.hidden], ["yours", false]);
  await back.fire("click");
  assert.deepEqual(sent, ["def assign", null]);
});

test("what is refused at the source stands in the pane until one types, any other refusal elsewhere", async () => {
  const faults = { "args.source": ["line 1: invalid syntax"] };
  const refuse = (fields) => async () => {
    throw new Refusal(400, fields);
  };
  const one = pane({ deploy: refuse(faults) });
  one.run.fire("click");
  await new Promise(setImmediate);
  assert.deepEqual([one.words.textContent, one.words.classes.has("bad")], ["line 1: invalid syntax", true]);
  assert.ok(one.source.attributes.has("aria-invalid") && !one.run.attributes.has("aria-busy"));
  one.source.fire("input");
  assert.deepEqual([one.words.textContent, one.source.attributes.has("aria-invalid")], ["the lane's", false]);
  const other = pane({ deploy: refuse({ lane: ["gone"] }) });
  other.run.fire("click");
  await new Promise(setImmediate);
  assert.equal(other.failed.length, 1);
});

test("a rule that has failed is marked, and where the server runs no code the pane is closed", () => {
  const wrong = pane({ state: () => ({ text: "failed", isWrong: true, isOwn: true }) });
  assert.ok(wrong.words.classes.has("bad") && !wrong.back.hidden);
  const off = pane({ offWords: () => "off" });
  assert.deepEqual([off.words.textContent, off.run.disabled, off.source.readOnly], ["off", true, true]);
});
