// What is said of results, keys and strategies, and what two studies differ in.
import assert from "node:assert/strict";
import test from "node:test";

import { plain } from "../../../static/js/analyze/charts/ends.js";
import * as keys from "../../../static/js/analyze/charts/keys.js";
import {
  bothRanked, COMPARED, differences, RANKED, signed, signedShare,
} from "../../../static/js/analyze/comparison.js";
import { labTitles } from "../../../static/js/analyze/lab_titles.js";
import { head, rankingRows, scored, shortNames } from "../../../static/js/analyze/result.js";
import { say } from "../fixtures/load.mjs";
import { words, study, context } from "./known.mjs";

test("a key with markup in it stays a text, an empty one and none are told apart", () => {
  assert.equal(plain("<b>&"), "&lt;b&gt;&amp;");
  const { result } = context();
  result.hot_keys = [
    { key: null, key_hex: "", records: 5, share: 0.5, owners: {} },
    { key: "", key_hex: "", records: 4, share: 0.4, owners: {} },
    { key: null, key_hex: "ff00", records: 1, share: 0.1, owners: {} },
  ];
  const { traces } = keys.layout(context({ result })), { rows } = keys.table(context({ result, picked: null }));
  assert.equal(new Set(rows.map(([name]) => name)).size, 3);
  assert.deepEqual(traces[0].text, ["5", "4", "1"]);
});

test("a long key is cut and says how long it is, a short one stays whole, control characters are seen", () => {
  const text = "K".repeat(200), hex = "ff".repeat(512);
  assert.equal(keys.keyWords({ key: text, key_hex: "", key_bytes: 1e6 }, say), "KKKKKKKKKK… 1.0\u202fMB");
  assert.match(keys.keyWords({ key: null, key_hex: hex, key_bytes: 1e6 }, say, 64), /^0x(ff)+…? ?/);
  assert.ok([...keys.keyWords({ key: null, key_hex: hex, key_bytes: 1e6 }, say, 64)].length <= 64);
  for (const key of ["N725MQ", "客户-3", "\u{1F600}\u{1F600}"]) {
    assert.equal(keys.keyWords({ key, key_hex: "00", key_bytes: Buffer.byteLength(key) }, say), key);
  }
  assert.equal(keys.keyWords({ key: "a\nb", key_hex: "610a62", key_bytes: 3 }, say), "a\\x0ab");
});

test("strategies that would read the same name their parameters", () => {
  const twice = [
    { id: "a", model: "kafka", algorithm: "range", params: { partitions: 12 } },
    { id: "b", model: "kafka", algorithm: "range", params: { partitions: 24 } },
  ];
  assert.equal(new Set(shortNames(twice, words).values()).size, 2);
});

test("the headline names a winner only where there is one", () => {
  const { result } = context();
  const texts = { ...Object.fromEntries(["study.best", "study.best_equal", "study.one"].map((code) => [code, code])) };
  const sayable = new Proxy(texts, { get: (known, code) => known[code] ?? String(code), has: () => true });
  const alone = result.ranking.map((entry, place) => ({ ...entry, is_best: place === 0 }));
  assert.equal(head(result, alone, sayable).title, "study.best");
  const equal = result.ranking.map((entry) => ({ ...entry, is_best: true }));
  assert.equal(head(result, equal, sayable).title, "study.best_equal");
  const level = result.ranking.map((entry, place) => ({ ...entry, is_best: place < 2 }));
  assert.equal(head(result, level, sayable).title, "study.best_equal", "scores that read the same");
});

test("no record at risk is a plain 0, a figure that does not apply a dash", () => {
  assert.equal(scored("order", 0), "0");
  assert.equal(scored("pause", null), "–");
  assert.equal(scored("order", 0.0013), "0.13\u202f%");
  assert.equal(scored("churn", 0), "0.00");
});

test("two studies: the same differ in nothing, another history is named, and differences carry their sign", () => {
  const a = study(), b = study();
  assert.deepEqual(differences(a, b, { say, words }), []);
  b.request.weights = { ...b.request.weights, churn: 70 };
  assert.deepEqual(
    differences(a, b, { say, words }).map(([, ...sides]) => sides.map((text) => text.includes("70"))),
    [[false, true]],
  );
  b.request.weights = a.request.weights;
  b.steps = b.steps.slice(0, -1);
  assert.equal(differences(a, b, { say, words }).length, 1);
  b.strategies = b.strategies.filter(({ id }) => id !== b.ranking.at(-1).id);
  b.ranking = b.ranking.slice(0, -1);
  const rows = bothRanked(a, b, words);
  assert.equal(rows.length, a.ranking.length);
  assert.equal(rows.filter((row) => row.b === null).length, 1);
  const ours = rankingRows(b, b.ranking, words);
  for (const { id, b: texts } of rows) {
    const row = ours.find((row) => row.id === id);
    for (const part of texts ? [...RANKED, "stood"] : []) {
      assert.equal(texts[part], row[part], `${part} reads as on the study's own page`);
    }
  }
  assert.ok(!COMPARED.includes("score"), "a score is relative to the strategies of its own study");
  assert.ok(
    rows
      .filter(({ difference }) => difference)
      .every(({ difference }) => COMPARED.every((part) => difference[part] === "0" || difference[part] === "–")),
  );
  const named = { "compare.points": "{value} points" };
  assert.deepEqual(
    [
      [0.1, 0.05], [0, 0.00123], [null, 1], [0.1, 0.100001],
    ].map(([to, from]) => signedShare(to, from, named)),
    ["+5.00 points", "−0.12 points", "–", "0"],
  );
  assert.deepEqual(
    [signed(2, 1.5, 1), signed(1.5, 2, 1), signed(1, 1.001, 2), signed(null, 1, 1)],
    ["+0.5", "−0.5", "0", "–"],
  );
  assert.equal(signed(6.774, 9.735, 2), "−2.97", "9.74 becomes 6.77: the difference of what is shown");
});

test("labs are chosen by the names that the Labs page gives them", () => {
  const told = (code, params) => (code === "labs.unnamed" ? `${params.workload}, ${params.time}` : code.split(".")[1]);
  const flights = (id, name, created = "2026-11-22 14:58") => ({
    id, name, created, codes: ["workload.flights", "key.carrier"],
  });
  const orders = { id: "d", name: "orders", created: "", codes: ["workload.keys"] };
  assert.deepEqual(labTitles([flights("a", "Rush hour"), flights("b", ""), orders], told),
    ["Rush hour · flights · carrier", "flights, 2026-11-22 14:58 · carrier", "orders · keys"]);
  assert.deepEqual(
    labTitles([flights("a", ""), flights("b", "")], told).map((title) => title.slice(-4)),
    [" · a", " · b"],
  );
});
