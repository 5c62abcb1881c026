import assert from "node:assert/strict";
import test from "node:test";

import { bindKeys, bindings, capOf, isOrder, listenToKeys, wordsOf } from "../../../static/js/base/keys.js";

const event = (key, { isWriting = false, inDialog = false, ...extra } = {}) => ({
  key,
  target: { closest: (where) => (isWriting && where.startsWith("input")) || (inDialog && where.includes("dialog")) },
  preventDefault() { this.isStopped = true; }, ...extra,
});
const acted = [];
let isLooking = false, verbs = [];
const act = (name) => () => { acted.push(name); };

bindKeys([{ keys: ["a", "="], says: "add", act: act("add") }, { keys: ["arrowleft"], says: "parts" }]);
bindKeys(() => verbs);
bindKeys([{ keys: [" "], says: "play", act: act("play") },
          { keys: ["l"], says: "now", act: () => isLooking && act("now")() !== null }], "time");
bindKeys([{ keys: ["ctrl+k"], says: "palette", act: act("palette") }], "site");

// What a page does for key events, in turn, and which of them it keeps from the browser.
function pressed(kind, ...events) {
  const target = new EventTarget(), heard = {};
  target.addEventListener = (name, listen) => { heard[name] = listen; };
  listenToKeys(target);
  acted.length = 0;
  for (const each of events) heard[kind](each);
  return [[...acted], events.filter(({ isStopped }) => isStopped).map(({ key }) => key)];
}

test("a key is an order, but not where one writes or chooses, nor as a browser's own shortcut", () => {
  assert.equal(isOrder(event(" ")), true);
  assert.ok(!isOrder(event("a", { isWriting: true })));
  for (const extra of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
    assert.ok(!isOrder(event("a", extra)));
    assert.deepEqual(pressed("keydown", event("a", extra)), [[], []]);
  }
});

test("what the page does not know, and what an element listens for itself, is the browser's", () => {
  const events = [event("A"), event("x"), event("ArrowLeft"), event("=")];
  assert.deepEqual(pressed("keydown", ...events), [["add", "add"], ["A", "="]]);
});

test("a held key orders once, and a held Space does not scroll", () => {
  const held = { repeat: true };
  assert.deepEqual(pressed("keydown", event(" "), event(" ", held), event("a", held)), [["play"], [" ", " "]]);
});

test("Space does not press the button that has the focus", () => {
  assert.deepEqual(pressed("keyup", event(" "), event("Enter"), event(" ", { isWriting: true })), [[], [" "]]);
});

test("a key is time's first, and the page's where time has nothing to do", () => {
  verbs = [{ keys: ["l"], text: "Leave", act: act("leave") }];
  assert.deepEqual(pressed("keydown", event("L")), [["leave"], ["L"]]);
  isLooking = true;
  assert.deepEqual(pressed("keydown", event("L")), [["now"], ["L"]]);
  [isLooking, verbs] = [false, []];
  assert.deepEqual(pressed("keydown", event("L")), [[], []]);
});

test("a shortcut with Ctrl or Command acts also where one writes, but not in a dialog", () => {
  for (const held of [{ ctrlKey: true }, { metaKey: true }]) {
    assert.deepEqual(pressed("keydown", event("k", { ...held, isWriting: true })), [["palette"], ["k"]]);
    assert.deepEqual(pressed("keydown", event("k", { ...held, inDialog: true })), [[], []]);
  }
  assert.deepEqual(pressed("keydown", event("k")), [[], []]);
});

test("the sheet reads the table that the keys act by", () => {
  verbs = [{ keys: ["z"], text: "Pause" }];
  const say = (code) => `<${code}>`;
  assert.deepEqual(bindings().map((one) => [one.group, one.keys.map((key) => capOf(key, say)), wordsOf(one, say)]), [
    ["page", ["A", "="], "<add>"], ["page", ["←"], "<parts>"], ["page", ["Z"], "Pause"],
    ["time", ["<keys.cap.space>"], "<play>"], ["time", ["L"], "<now>"], ["site", ["Ctrl K"], "<palette>"],
  ]);
});
