// A chart over time: what it shows is of what it was last asked for, also where that has nothing to draw yet.
import assert from "node:assert/strict";
import test from "node:test";

import { createTimeChart } from "../../../static/js/drawing/time_chart.js";

// A browser as far as a chart needs it. Plotly is fetched once for all charts and arrives when the first test lets it.
const drawn = { of: null }, scripts = [];
globalThis.Plotly = {
  react: (root, traces) => { drawn.of = traces[0].name; },
  purge: () => { drawn.of = null; },
};
globalThis.document = {
  getElementById: () => null, createElement: () => ({}),
  head: { append: (element) => element.src && scripts.push(element) },
};
const arrive = () => scripts.splice(0).forEach((script) => script.onload());

function chart() {
  let see = null;
  globalThis.IntersectionObserver = class {
    constructor(told) { see = (isIntersecting) => told([{ isIntersecting }]); }

    observe() {}
  };
  const refresh = createTimeChart({ clientWidth: 900 }, "plotly.js");
  see(true);
  return { refresh, see };
}

const of = (name) => () => ({ traces: [{ name }], layout: {} });
const nothing = () => null;
const settled = () => new Promise((done) => { setImmediate(done); });

test("what was asked for while Plotly was on its way is what is drawn", async () => {
  const { refresh } = chart();
  refresh(of("orders"), { key: "orders" });
  refresh(of("audit"), { key: "audit" });
  refresh(nothing, { key: "empty" });
  arrive();
  await settled();
  assert.equal(drawn.of, null);
});

test("another thing without samples leaves nothing of the one before", async () => {
  const { refresh, see } = chart();
  refresh(of("orders"), { key: "orders" });
  await settled();
  assert.equal(drawn.of, "orders");
  refresh(nothing, { key: "empty" });
  await settled();
  assert.equal(drawn.of, null);
  refresh(of("empty"), { key: "empty", isForced: true });
  await settled();
  assert.equal(drawn.of, "empty");
  see(false);
  refresh(nothing, { key: "none", isForced: true });
  await settled();
  assert.equal(drawn.of, null, "also where it is not on screen");
});
