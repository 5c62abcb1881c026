// The time since a deck was opened.

import assert from "node:assert/strict";
import test from "node:test";

import { openedAt, timeSince } from "../../../static/js/learn/opened.js";

function tab() {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
}

test("a deck that one comes back to was opened when it was first; another one now", () => {
  const storage = tab();
  assert.equal(openedAt(storage, "/a/", 1000), 1000);
  assert.equal(openedAt(storage, "/a/", 61_000), 1000);
  assert.equal(openedAt(storage, "/b/", 70_000), 70_000);
  assert.equal(openedAt(storage, "/a/", 80_000), 80_000);
});

test("what cannot be kept, or is no time, is now", () => {
  const full = { getItem: () => null, setItem: () => { throw new Error("full"); } };
  assert.equal(openedAt(full, "/a/", 5), 5);
  const storage = tab();
  storage.setItem("highwater.deck", "{");
  assert.equal(openedAt(storage, "/a/", 6), 6);
  storage.setItem("highwater.deck", JSON.stringify({ path: "/a/", at: 99 }));
  assert.equal(openedAt(storage, "/a/", 7), 7);
});

test("the time since then is in minutes and whole seconds", () => {
  assert.equal(timeSince(1000, 1999), "0:00");
  assert.equal(timeSince(1000, 66_500), "1:05");
  assert.equal(timeSince(0, 3_723_000), "1:02:03");
});
