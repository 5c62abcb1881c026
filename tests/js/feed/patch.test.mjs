import assert from "node:assert/strict";
import test from "node:test";

import { applyPatch } from "../../../static/js/feed/patch.js";

test("add, replace and remove change objects and lists in place", () => {
  const document = { a: 1, list: [1, 2, 3], deep: { "x/y": { "~": 0 } } };
  applyPatch(document, [
    { op: "replace", path: "/a", value: 2 },
    { op: "add", path: "/b", value: { c: null } },
    { op: "remove", path: "/list/0" },
    { op: "add", path: "/list/1", value: 9 },
    { op: "add", path: "/list/-", value: 4 },
    { op: "replace", path: "/deep/x~1y/~0", value: 7 },
  ]);
  assert.deepEqual(document, { a: 2, list: [2, 9, 3, 4], deep: { "x/y": { "~": 7 } }, b: { c: null } });
});

test("an empty path replaces the whole document", () => {
  assert.deepEqual(applyPatch({ a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }]), { b: 2 });
});

for (const operation of [
  { op: "replace", path: "/missing", value: 1 },
  { op: "remove", path: "/missing" },
  { op: "replace", path: "/list/3", value: 1 },
  { op: "add", path: "/list/5", value: 1 },
  { op: "add", path: "/list/x", value: 1 },
  { op: "add", path: "/missing/deeper", value: 1 },
  { op: "move", path: "/a", from: "/list" },
  { op: "add", path: "a", value: 1 },
  { op: "add", path: "/constructor/x", value: 1 },
]) {
  test(`an operation that does not fit throws: ${JSON.stringify(operation)}`, () => {
    assert.throws(() => applyPatch({ a: 1, list: [1, 2] }, [operation]));
  });
}

test("a consumer may be called __proto__ without touching the prototype", () => {
  const document = JSON.parse('{"consumers": {}}');
  applyPatch(document, [{ op: "add", path: "/consumers/__proto__", value: { share: 1 } }]);
  assert.equal(Object.hasOwn(document.consumers, "__proto__"), true);
  assert.equal({}.share, undefined);
});
