import assert from "node:assert/strict";
import test from "node:test";

import { FADE, outside, scrollTo } from "../../../static/js/frame/tab_room.js";

const tabs = [{ start: 0, end: 40 }, { start: 56, end: 100.4 }, { start: 116.4, end: 160 }];

test("a tab of which a part is cut is not shown, at either end", () => {
  assert.deepEqual(outside(tabs, 0, 160), []);
  assert.deepEqual(outside(tabs, 0, 100), [tabs[2]]);
  assert.deepEqual(outside(tabs, 0, 99), [tabs[1], tabs[2]]);
  assert.deepEqual(outside(tabs, 60, 100), [tabs[0], tabs[1]]);
});

test("the tabs move no further than the current one needs", () => {
  assert.equal(scrollTo(tabs[0], 100), 0);
  assert.equal(scrollTo(tabs[2], 100), 60 + FADE);
  assert.deepEqual(outside([tabs[2]], scrollTo(tabs[2], 100), 100), []);
});
