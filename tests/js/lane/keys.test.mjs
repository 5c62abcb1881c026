import assert from "node:assert/strict";
import test from "node:test";

import { isOrder, onKeys } from "../../../static/js/lane/keys.js";

const event = (key, { isWriting = false, ...extra } = {}) => ({
  key, target: { closest: () => (isWriting ? {} : null) }, preventDefault() { this.isStopped = true; }, ...extra,
});

// What a page does for key events, in turn, and which of them it keeps from the browser.
function pressed(kind, ...events) {
  const target = new EventTarget(), acted = [], heard = {};
  target.addEventListener = (name, listen) => { heard[name] = listen; };
  onKeys(({ key }) => acted.push(key) && key !== "x", target);
  for (const each of events) heard[kind](each);
  return [acted, events.filter(({ isStopped }) => isStopped).map(({ key }) => key)];
}

test("a key is an order, but not where one writes or chooses, nor as a browser's own shortcut", () => {
  assert.equal(isOrder(event(" ")), true);
  assert.equal(isOrder(event("a", { isWriting: true })), false);
  for (const extra of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
    assert.equal(isOrder(event("a", extra)), false);
  }
});

test("what the page does not know is the browser's", () => {
  assert.deepEqual(pressed("keydown", event("a"), event("x")), [["a", "x"], ["a"]]);
});

test("a held key orders once, and a held Space does not scroll", () => {
  const held = { repeat: true };
  assert.deepEqual(pressed("keydown", event(" "), event(" ", held), event("a", held)), [[" "], [" ", " "]]);
});

test("Space does not press the button that has the focus", () => {
  assert.deepEqual(pressed("keyup", event(" "), event("Enter"), event(" ", { isWriting: true })), [[], [" "]]);
});
