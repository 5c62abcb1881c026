// The chart of what the lab has kept of a partition.
import assert from "node:assert/strict";
import test from "node:test";

import { layout as series, rowsOf as samplesOf } from "../../../static/js/cluster/series.js";
import { say } from "../fixtures/load.mjs";
import { NAME } from "./known.mjs";

const COLORS = {
  identity: Array.from({ length: 7 }, (_, place) => `#10${place}`), ink: "#000", rule: "#000", panel: "#fff",
  muted: "#555", font: "x",
};

test("the chart is what the lab has kept of the partition, in steps, and in no consumer's colour", () => {
  const history = {
    8: { "other-0": { leader: 1, high_watermark: 3, ends: { 1: 3 } } },
    9: { [NAME]: { leader: 1, high_watermark: 5, ends: { 1: 7, 2: 5, 10: 6 } } },
    10: { [NAME]: { leader: null, high_watermark: null, ends: { 1: 7, 2: 5, 10: 6 } } },
  };
  const rows = samplesOf(history, NAME);
  assert.deepEqual(rows.map(({ at, high_watermark: hw }) => [at, hw]), [[9, 5], [10, null]]);
  assert.deepEqual(
    rows.map(({ copies: all }) => Object.values(all).map(({ lag }) => lag)),
    [
      [0, 2, 1], [null, null, null],
    ],
  );
  const { traces } = series(rows, { say, colors: COLORS });
  assert.deepEqual(traces.map(({ name }) => name).slice(0, 4), ["LEO 1", "LEO 2", "LEO 10", "HW"]);
  assert.equal(traces.length, 7);
  for (const { x, y, line } of traces) {
    assert.equal(x.length, y.length);
    assert.equal(line.shape, "hv");
    assert.ok(!COLORS.identity.includes(line.color));
  }
  assert.equal(new Set(traces.slice(0, 3).map(({ line }) => line.dash)).size, 3);
  assert.deepEqual(samplesOf(undefined, NAME), []);
});

test("times under the chart stand apart, however many samples there are and on a phone", () => {
  for (const [every, isNarrow, width] of [[1, false, 700], [1, true, 250], [7, false, 700], [46, true, 250]]) {
    for (const last of [40, 100, 180]) {
      const rows = Array.from({ length: Math.ceil(last / every) }, (_, place) => ({
        at: 600 + place * every, high_watermark: 1, copies: { 1: { end: 1, lag: 0 } },
      }));
      const { tickvals } = series(rows, { say, colors: COLORS, isNarrow }).layout.xaxis;
      const span = rows.at(-1).at - rows[0].at;
      if (span < 60) continue;
      assert.ok(tickvals.length >= 2 && (tickvals[1] - tickvals[0]) / span * width >= 40, `${tickvals} over ${span}`);
    }
  }
});

test("the lag axis has a few numbers, also where a copy has more than its leader", () => {
  const rows = [0, 1].map((at) => ({
    at, high_watermark: 5, copies: { 1: { end: 5, lag: 0 }, 2: { end: 57 + at, lag: -52 - at } },
  }));
  assert.equal(series(rows, { say, colors: COLORS }).layout.yaxis2.dtick, 50);
});
