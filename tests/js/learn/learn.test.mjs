// Search and level of the page Learn, and the link that holds a lesson's text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { matches, wordsOf } from "../../../static/js/learn/filter.js";
import { packed, unpacked } from "../../../static/js/learn/share.js";

const row = { searched: "kafka_cluster_isr a follower leaves the isr 副本离开 isr", level: "first" };

test("every word must be there, in any place, in either language, at the level", () => {
  const found = (text, level = "") => matches(row, wordsOf(text), level);
  assert.ok(found("") && found("  ISR  follow") && found("副本") && found("isr_", "") === false);
  assert.ok(found("isr", "first") && !found("isr", "expert") && !found("isr watermark"));
  assert.ok(found("kafka_cluster"));
});

test("a text comes out of its link as it went in", async () => {
  const file = new URL("../../../broker_core/lab/scenarios/four_models_one_crash.toml", import.meta.url);
  for (const text of [readFileSync(file, "utf8"), "é 副本 🐇\n\ttab", "a".repeat(32_768)]) {
    const fragment = await packed(text);
    assert.match(fragment, /^text=[\w-]+$/);
    assert.equal(await unpacked(fragment, 32_768), text);
  }
});

test("a text that no link holds gives none; a fragment of another kind is not a damaged link", async () => {
  let noise = "", seed = 1;
  while (noise.length < 32_000) {
    seed = (seed * 48_271) % 2_147_483_647;
    noise += String.fromCharCode(33 + (seed % 90));
  }
  assert.equal(await packed(noise), null);
  assert.equal(await unpacked("", 99), undefined);
  assert.equal(await unpacked("hashing", 99), undefined);
  for (const bad of ["text=", "text=%%%", "text=AAAA", `text=${"A".repeat(20_000)}`]) {
    assert.equal(await unpacked(bad, 99), null, bad.slice(0, 20));
  }
});

test("a small link that would hold a great text is left before it is there", async () => {
  const fragment = await packed("a".repeat(1_000_000));
  assert.ok(fragment.length < 3_000);
  assert.equal(await unpacked(fragment, 32_768), null);
});
