// The charts are whole and true to the result, and their names stand apart.
import assert from "node:assert/strict";
import test from "node:test";

import * as churn from "../../../static/js/analyze/charts/churn.js";
import { hueOf, identities, symbolOf } from "../../../static/js/analyze/charts/consumers.js";
import { endNames } from "../../../static/js/analyze/charts/ends.js";
import { strength, mix, rgb } from "../../../static/js/analyze/charts/heat.js";
import * as heat from "../../../static/js/analyze/charts/heat.js";
import * as keys from "../../../static/js/analyze/charts/keys.js";
import * as lag from "../../../static/js/analyze/charts/lag.js";
import * as share from "../../../static/js/analyze/charts/share.js";
import { chartOf, gather, timeWords } from "../../../static/js/analyze/charts/windows.js";
import { oneScale } from "../../../static/js/analyze/comparison.js";
import { layout as historyLayout } from "../../../static/js/analyze/history_chart.js";
import { say } from "../fixtures/load.mjs";
import { COLORS, words, context } from "./known.mjs";

const CHARTS = { share, heat, churn, keys, lag };

for (const [name, chart] of Object.entries(CHARTS)) {
  test(`${name}: every trace has as many values as places, and no number is missing`, () => {
    const { traces, height } = chart.layout(context());
    assert.ok(height > 0 && traces.length > 0);
    for (const trace of traces) {
      assert.equal(trace.x.length, trace.y.length);
      assert.ok([...trace.x, ...trace.y].every((value) => value === null || Number.isFinite(value)), name);
    }
  });

  test(`${name}: the table says the same in rows of one width`, () => {
    const { head: columns, rows } = chart.table(context());
    assert.ok(rows.length > 0);
    for (const row of rows) assert.equal(row.length, columns.length);
  });
}

test("share: every consumer of the step is a dot in its own colour, " +
  "and the fair share is one over their number", () => {
  const { result, order } = context(), { traces, layout } = share.layout(context()), { members } = result.steps[2];
  const places = identities(result);
  const even = order.filter((id) => {
    const shares = Object.values(result.strategies.find((strategy) => strategy.id === id).steps[2].consumers).map(
      (consumer) => consumer.share,
    );
    return Math.max(...shares) - Math.min(...shares) < 5e-4;
  });
  assert.equal(traces[0].x.length, members.length * (order.length - even.length));
  assert.equal(traces[1].x.length, even.length);
  const fair = layout.shapes.at(-1);
  assert.equal(fair.x0, 100 / members.length);
  traces[0].text.forEach((text, index) =>
    assert.equal(
      traces[0].marker.color[index],
      COLORS.identity[hueOf(places.get(JSON.parse(text.slice(text.indexOf("{"))).name.split(" ")[0]))],
    ),
  );
});

test("share: dots of one row that would cover each other stand at different heights", () => {
  const { traces, layout } = share.layout(context({ width: 390 })), [low, high] = layout.xaxis.range;
  const perPixel = (high - low) / (390 - layout.margin.l - layout.margin.r);
  const [dots] = traces, seen = [];
  dots.x.forEach((x, index) => {
    for (const [otherX, otherY] of seen) {
      const isSameRow = Math.round(otherY) === Math.round(dots.y[index]), isNear = Math.abs(otherX - x) < 6 * perPixel;
      if (isSameRow && isNear) assert.notEqual(otherY, dots.y[index]);
    }
    seen.push([x, dots.y[index]]);
  });
});

test("heat: the number on a cell has a contrast of 4.5 on every strength of ink, light and dark", () => {
  for (const [ink, panel] of [["#1B2128", "#FFFFFF"], ["#E7ECF1", "#1B2128"]]) {
    for (let part = 0; part <= 100; part += 1) {
      const cell = luminance(mix(rgb(ink), rgb(panel), strength(part / 100)));
      const text = luminance(mix(rgb(part > 60 ? panel : ink), [0, 0, 0], 1));
      assert.ok((Math.max(cell, text) + 0.05) / (Math.min(cell, text) + 0.05) >= 4.5, `${part} % of ${ink}`);
    }
  }
});

function luminance(color) {
  const [r, g, b] = color
    .match(/\d+/g)
    .map((value) => Number(value) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test("heat: a crash after which nobody took over is told of, other zeros are not", () => {
  const { result, order } = context(), at = result.steps.at(-1), [first, second] = order;
  const step = (id) => result.strategies.find((strategy) => strategy.id === id).steps[at.step];
  for (const strategy of result.strategies) for (const each of strategy.steps) each.waited = 0;
  Object.assign(at, { kind: "crash", consumer: "c3" });
  Object.assign(step(first), { keys_moved: 0, waited: 12 });
  Object.assign(step(second), { keys_moved: 0, waited: 0 });
  assert.deepEqual(heat.untaken({ result, order }), { consumers: ["c3"], strategies: [first] });
  step(first).keys_moved = 1;
  assert.equal(heat.untaken({ result, order }), null);
  Object.assign(step(first), { keys_moved: 0 });
  at.kind = "join";
  assert.equal(heat.untaken({ result, order }), null);
});

test("heat: the table has the bytes moved beside the keys where sizes are known", () => {
  const given = context(), { result, order } = given, owned = order.findIndex((id) => !id.startsWith("rabbitmq"));
  const unowned = order.findIndex((id) => id.startsWith("rabbitmq"));
  const step = result.strategies.find(({ id }) => id === order[owned]).steps[1];
  assert.equal(heat.table(given).rows.length, order.length + 1, "Zipf keys have no payload");
  Object.assign(step, { bytes_moved: 25, keys_moved_share: 0.5 });
  result.workload.bytes = 100;
  for (const source of [
    { kind: "csv", key: "id", size: "bytes" }, { kind: "lab" }, { kind: "kafka_log" }, { kind: "folder", name: "logs" },
  ]) {
    const { rows } = heat.table({ ...given, result: { ...result, request: { ...result.request, source } } });
    assert.equal(rows.length, 2 * order.length + 1);
    assert.deepEqual([rows[2 * owned][1], rows[2 * owned + 1][1]], ["50.0\u202f%", "25.0\u202f%"]);
    assert.equal(rows[2 * unowned + 1][1], "–", "where no key has an owner no byte gets another");
  }
  const keysOnly = { ...result.request, source: { kind: "folder", name: "tables", key: "id" } };
  assert.equal(heat.table({ ...given, result: { ...result, request: keysOnly } }).rows.length, order.length + 1);
});

test("heat: a cell picks its strategy and its change", () => {
  const given = context(), { traces } = heat.layout(given);
  const [row, column] = traces[0].customdata.at(-1);
  assert.deepEqual(heat.picks(given, { customdata: [row, column] }), {
    id: given.order.at(-1), step: given.result.steps.length - 1,
  });
});

test("names at line ends never cover each other and stay in the picture", () => {
  const ends = [1, 1.01, 1.02, 9, 9, 9].map((value) => ({ text: String(value), value, bold: false }));
  const names = endNames(ends, { low: 0, high: 9, plotHeight: 240 });
  const places = names.map(({ y, ay }) => y - ay / 240).sort((a, b) => a - b);
  for (let i = 1; i < places.length; i += 1) assert.ok(places[i] - places[i - 1] > 16 / 240);
  assert.ok(places.at(-1) <= 1);
  names.forEach(({ text, y }, place) =>
    assert.deepEqual(
      [text, y],
      [String(ends[place].value), ends[place].value / 9],
      "its leader begins at its line's end",
    ),
  );
});

test("names stand beside the longest line, also where all lines end before the axis does", () => {
  const ends = [{ text: "a", value: 1, short: 200 }, { text: "b", value: 5, short: 260 }];
  const names = endNames(ends, { low: 0, high: 9, plotHeight: 240, plotWidth: 400 });
  assert.deepEqual(
    names.map(({ x, ax }) => x * 400 + ax),
    [218, 218],
    "a leader across the empty part would look like a line that goes on",
  );
});

test("lag: a name has the last value and its leader begins there; lines of a model share its colour, " +
  "and no two look the same", () => {
  const given = context(), { traces, layout } = lag.layout(given), [, high] = layout.yaxis.range;
  assert.equal(layout.annotations.length, traces.length);
  traces.forEach(({ y, line }, place) => {
    const { text, y: part, font } = layout.annotations[place];
    assert.equal(text.split(" ")[0], String(y.at(-1)));
    assert.ok(Math.abs(part * high - y.at(-1)) < 1e-6);
    const { model } = given.result.strategies.find(({ id }) => id === lag.lineAt(given, place));
    assert.deepEqual([line.color, font.color], [COLORS.model[model], COLORS.model[model]]);
  });
  assert.equal(new Set(traces.map(({ line }) => `${line.color} ${line.dash}`)).size, traces.length);
});

test("lag: a line that ends before the others has its leader from there", () => {
  const given = context();
  given.result.strategies[0].steps[2].lag = [[0, 9], [1, 4]];
  const { traces, layout } = lag.layout(given), last = Math.max(...traces.flatMap(({ x }) => x));
  const place = traces.findIndex(({ x }) => x.length === 2);
  assert.ok(Math.abs(layout.annotations[place].x - 1 / last) < 1e-9);
});

// The study with `count` strategies, each of its own again and again.
function many(count, picked = null) {
  const given = context(), own = given.result.strategies.filter(({ model }) => model !== "rabbitmq");
  const strategies = Array.from({ length: count }, (_, place) => ({
    ...own[place % own.length], id: `${own[place % own.length].id}#${place}`,
  }));
  const order = strategies.map(({ id }) => id);
  return { ...given, result: { ...given.result, strategies }, order, picked: order[picked ?? 0] };
}

for (const [name, rowsOf] of [
  ["share", ({ layout }) => layout.yaxis.range[0] + 0.5], ["churn", ({ traces }) => traces.length],
  ["lag", ({ traces }) => traces.length],
]) {
  test(`${name}: 24 strategies have room each, and a chart of more says which it shows`, () => {
    const chart = CHARTS[name];
    assert.deepEqual([rowsOf(chart.layout(many(24))), chart.cut(many(24))], [24, ""]);
    assert.deepEqual(
      [rowsOf(chart.layout(many(31))), chart.cut(many(31))],
      [24, say("chart.cut", { shown: 24, count: 31 })],
    );
    const last = chart.layout(many(31, 30));
    assert.deepEqual([rowsOf(last), chart.cut(many(31, 30))], [24, say("chart.cut_picked", { shown: 24, count: 31 })]);
    if (!chart.lineAt) return;
    assert.equal(chart.lineAt(many(31, 30), 23), many(31).order[30]);
    const { margin } = last.layout, inner = last.height - margin.t - margin.b;
    const places = last.layout.annotations.map(({ y, ay }) => y * inner - ay).sort((a, b) => a - b);
    for (let place = 1; place < places.length; place += 1) assert.ok(places[place] - places[place - 1] > 16.9);
    assert.equal(
      chart.cut({
        ...many(31),
        result: {
          ...many(31).result,
          strategies: many(31).result.strategies.map((strategy, place) => (place < 8 ? none(strategy) : strategy)),
        },
      }),
      "",
    );
  });
}

// A strategy that neither chart of lines can draw.
const none = (strategy) => ({
  ...strategy, totals: { ...strategy.totals, churn: null }, steps: strategy.steps.map((at) => ({ ...at, lag: null })),
});

test("consumers beyond seven keep a hue and get another mark", () => {
  assert.deepEqual([hueOf(1), hueOf(8), hueOf(15)], [0, 0, 0]);
  assert.equal(new Set([1, 8, 15].map(symbolOf)).size, 3);
});

test("history: one step for each change, at its height", () => {
  const { result } = context(), shapes = historyLayout(result.steps, { width: 600 });
  const line = shapes.find(({ id }) => id === "line").d;
  assert.equal((line.match(/V/g) ?? []).length, result.steps.length);
  assert.ok(!line.includes("NaN"));
  assert.ok(shapes.filter(({ id }) => id.startsWith("label-")).length <= result.steps.length);
});

test("share: what no consumer owns has a column of its own in the table", () => {
  const given = context(), without = share.table(given);
  given.result.strategies[0].steps[given.step].unowned_share = 0.52;
  const { head: columns, rows } = share.table(given);
  assert.equal(columns.length, without.head.length + 1);
  assert.deepEqual(rows.map((row) => row.length), rows.map(() => columns.length));
  assert.equal(rows[given.order.indexOf(given.result.strategies[0].id)].at(-1), "52.0\u202f%");
});

test("live windows: a narrow picture has room for each of its times", () => {
  const windows = gather(
    Array.from({ length: 300 }, (_, place) => ({ start_us: 1.7e15 + place * 1e6, lane: "orders", throughput: 5 })),
  );
  const times = (width) =>
    chartOf("throughput").layout({ windows, words: {}, say, colors: COLORS, width }).layout.xaxis.tickvals.length;
  assert.ok(times(330) <= 3 && times(330) >= 2, String(times(330)));
  assert.ok(times(640) >= 5);
  assert.equal(
    chartOf("throughput").layout({ windows, words: {}, say, colors: COLORS, width: 330 }).traces[0].x.length,
    60,
  );
});

test("churn: changes are counted in whole numbers, each once", () => {
  for (const count of [1, 3, 8, 9, 40]) {
    const given = context();
    const steps = Array.from({ length: count + 1 }, (_, step) => ({ ...given.result.steps[0], step }));
    const strategies = given.result.strategies.map((strategy) => ({
      ...strategy, steps: steps.map(({ step }) => ({ ...strategy.steps[0], step, churn_so_far: 0 })),
    }));
    const { dtick } = churn.layout({ ...given, result: { ...given.result, steps, strategies } }).layout.xaxis;
    assert.ok(Number.isInteger(dtick) && dtick >= 1 && count / dtick <= 8, `${count} changes, a tick every ${dtick}`);
  }
});

test("live windows: a window told again replaces itself, lanes that have no such figure are left out", () => {
  const row = (second, lane, more) => ({
    start_us: second * 1e6, end_us: (second + 1) * 1e6, lane, throughput: 10, lag: null, skew: 1.2, hw_lag: null,
    rebalance_cost: 0, ...more,
  });
  const windows = gather([
    row(1, "pulsar"), row(0, "pulsar"), row(1, "kafka", { hw_lag: 7 }), row(1, "pulsar", { throughput: 12 }),
  ]);
  assert.deepEqual(windows.starts, [0, 1e6]);
  const throughput = chartOf("throughput").layout({ windows, words, colors: COLORS, say });
  const lead = chartOf("hw_lag").layout({ windows, words, colors: COLORS, say });
  assert.deepEqual(throughput.traces[0].y, [10, 12]);
  assert.equal(lead.traces.length, 1);
  assert.equal(chartOf("skew").table({ windows, words, say }).rows.length, 2);
  assert.equal(timeWords(75e6), "1:15");
  assert.equal(timeWords(1_700_000_000_000_000), "22:13:20");
});

test("two studies side by side: their charts have the same axes, and nothing of either lies outside", () => {
  const [a, b] = [context(), context()];
  b.result.steps = b.result.steps.slice(0, 4);
  for (const strategy of b.result.strategies) {
    strategy.steps = strategy.steps.slice(0, 4);
    for (const step of strategy.steps) step.churn_so_far = (step.churn_so_far ?? 0) * 3;
    strategy.steps[2].consumers.c1.share *= 2;
  }
  for (const chart of [share, churn]) {
    const scale = oneScale([a, b].map(chart.extent)), layouts = [a, b].map((each) => chart.layout({ ...each, scale }));
    const own = [a, b].map((each) => chart.layout(each).layout);
    assert.notDeepEqual([own[0].xaxis.range, own[0].yaxis.range], [own[1].xaxis.range, own[1].yaxis.range]);
    assert.deepEqual(layouts[0].layout.xaxis.range, layouts[1].layout.xaxis.range);
    if (chart === churn) assert.deepEqual(layouts[0].layout.yaxis.range, layouts[1].layout.yaxis.range);
    for (const { traces, layout: { xaxis, yaxis } } of layouts) {
      const inside = (values, [low, high]) => values.every((value) => value >= low && value <= high);
      for (const trace of traces) {
        assert.ok(inside(trace.x, xaxis.range) && (chart === share || inside(trace.y, yaxis.range)));
      }
    }
  }
});
