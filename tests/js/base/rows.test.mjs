// How many rows of a long table are shown.
import assert from "node:assert/strict";
import test from "node:test";

import { ROWS_MOST, cut } from "../../../static/js/base/rows.js";

const rows = (count) => Array.from({ length: count }, (_, place) => [String(place)]);

test("a long table shows its first rows and says how many there are, or all of them", () => {
  assert.deepEqual(cut(rows(ROWS_MOST), false), { shown: rows(ROWS_MOST), code: "", count: ROWS_MOST });
  assert.deepEqual(cut(rows(61), false), { shown: rows(60), code: "twin.all_rows", count: 61 });
  assert.deepEqual(cut(rows(61), true), { shown: rows(61), code: "twin.few_rows", count: 60 });
});
