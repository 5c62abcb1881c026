// The chart of what the lab has kept.
import assert from "node:assert/strict";
import test from "node:test";

import { layout as series, rowsOf } from "../../../static/js/pulsar/series.js";
import { say } from "../fixtures/load.mjs";
import { joined, colorOf } from "./known.mjs";

const identity = ["a", "b", "c", "d", "e", "f", "g"];

test("the chart is what the lab has kept, whenever the page was opened, " +
  "with a gap where a consumer was not there", () => {
  const view = {
    lanes: { pulsar: { pulsar: { history: { 9: { c1: 40, c2: 50 }, 10: { c1: 42 }, 11: { c1: 40, c4: 10 } } } } },
    history: { 8: { pulsar: 3 }, 9: { pulsar: 1.25 }, 10: { pulsar: null }, 11: { pulsar: 1.5 } },
  };
  const rows = rowsOf(view, "pulsar");
  const { traces } = series(rows, { say, colors: { identity }, colorOf: colorOf(joined) });
  assert.deepEqual(
    rows.map(({ at, skew }) => [at, skew]),
    [
      [9, 1.25], [10, null], [11, 1.5],
    ],
  );
  assert.deepEqual(
    traces.map(({ name, y }) => [name.split(" ")[0], y]),
    [
      ["c1", [4, 4.2, 4]], ["c2", [5, null, null]], ["c4", [null, null, 1]], ["subscription.skew", [1.25, null, 1.5]],
    ],
  );
  assert.deepEqual(rowsOf({ lanes: { pulsar: { pulsar: {} } } }, "pulsar"), [], "a view from before the lab kept it");
});

test("times under the chart stand apart, though samples of many consumers are few", () => {
  for (const [every, isNarrow, width] of [
    [1, false, 700], [1, true, 250], [7, false, 700], [8, true, 250],
  ]) {
    for (const last of [100, 180]) {
      const rows = Array.from({ length: Math.ceil(last / every) }, (_, place) => ({
        at: 601 + place * every, rates: { c1: 1 }, skew: 1,
      }));
      const { tickvals, ticktext } = series(rows, { say, colors: { identity }, colorOf: colorOf(joined), isNarrow })
        .layout.xaxis;
      assert.equal(ticktext.length, tickvals.length);
      assert.ok(
        tickvals.length >= 2 && ((tickvals[1] - tickvals[0]) / (rows.at(-1).at - 601)) * width >= 40,
        `${tickvals}`,
      );
    }
  }
});

test("an even share is the floor of the skew's axis, so that little looks like little", () => {
  const colors = { identity }, range = (...skews) => series(
    skews.map((skew, at) => ({ at, rates: { c1: 1 }, skew })), { say, colors, colorOf: colorOf(joined) },
  ).layout.yaxis2.range;
  assert.deepEqual(range(1.02, 1.03), [1, 1.5]);
  assert.deepEqual(range(null, 1), [1, 1.5]);
  assert.deepEqual(range(1.2, 4), [1, 4.2]);
});
