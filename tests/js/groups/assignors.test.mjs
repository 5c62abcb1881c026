// The comparison of assignors, and a user's own.
import assert from "node:assert/strict";
import test from "node:test";

import { speaker } from "../../../static/js/base/say.js";
import { FIGURES, cellsOf, ownRow, stateWords } from "../../../static/js/groups/comparison.js";
import { doing, findingsOf, ownState } from "../../../static/js/groups/words.js";
import { rest } from "./known.mjs";

const ownWords = (lane, words) => ownState(lane, words).text;

test("a comparison has a row for each variant, its least values marked, and says how it stands", () => {
  const row = (name, dark, moved) => ({
    name, generation: 2, moved, spread: 0, dark_us: dark, dark_most: 12, duplicates: 0,
  });
  const [one, other] = cellsOf([row("range", 3_640_000, 9), row("consumer", 61_000_000, 18)], "range");
  assert.deepEqual([one.isOwn, other.isOwn, one.cells.length], [true, false, FIGURES.length]);
  const at = FIGURES.indexOf("dark_us");
  assert.deepEqual(
    [one.cells[at].text, other.cells[at].text, other.cells[at].share, one.cells[at].isBest, other.cells[at].isBest],
    ["3.6", "61.0", 1, true, false],
  );
  assert.equal(one.cells[FIGURES.indexOf("spread")].isBest, false, "no best where all are alike");
  const words = (known) =>
    stateWords({ rows: [], reason: "", now: null, share: 0, until_us: 5, ...known }, String, String).code;
  assert.deepEqual(
    ["none", "waiting", "done", "failed"].map((state) => words({ state })),
    ["none", "waiting", "done", "failed"].map((state) => `groups.compare.${state}`),
  );
  assert.equal(words({ state: "running", now: "range" }), "groups.compare.running");
});

const english = speaker({
  "list.comma": ", ", "kafka.assignor_failed": "{consumer}'s assignor failed in line {line}: {reason}",
  "kafka.assignor_ended": "{consumer}'s assignor failed: {reason}",
  "assignor.reason.steps": "took more than {steps} steps", "groups.own.so_too": "{said} (so did {others})",
  "groups.own.so_many": "{said} (so did {count} others)",
});

test("what a user's own assignor raised stands at the member, in what holds the group up, and beside its text", () => {
  const own = (...faults) => ({
    ...rest,
    group: {
      ...rest.group, is_own: true,
      members: Object.fromEntries(
        faults.map((fault, at) => [
          `c${at + 1}`, { ...Object.values(rest.group.members)[0], consumer: `c${at + 1}`, failed: "", fault },
        ]),
      ),
    },
  });
  const fault = { line: 2, reason: "name 'memberz' is not defined", code: "", params: {} };
  const words = "c1's assignor failed in line 2: name 'memberz' is not defined";
  assert.equal(ownWords(rest, english), english("groups.own.none"));
  assert.equal(ownWords({ ...rest, group: { ...rest.group, is_own: true } }, english), english("groups.own.runs"));
  const one = own(fault);
  assert.deepEqual([ownWords(one, english), doing(one.group.members.c1, one.group, english)], [words, words]);
  assert.deepEqual(findingsOf(one.group, { findings: [] }, 0, english), [{ text: words, until: "", cure: "" }]);
  assert.equal(ownWords(own(fault, fault, fault), english), `${words} (so did c2, c3)`);
  assert.equal(ownWords(own(...Array(9).fill(fault)), english), `${words} (so did 8 others)`);
  assert.equal(
    ownWords(own({ line: 0, reason: "took", code: "steps", params: { steps: 9 } }), english),
    "c1's assignor failed: took more than 9 steps",
    "in the page's language",
  );
  assert.equal(
    ownWords(own(fault, { ...fault, line: 7 }), english),
    `${words} ${words.replace("c1", "c2").replace("line 2", "line 7")}`,
  );
});

test("the row of the lane as it is now", () => {
  assert.deepEqual(
    [
      ["classic", "sticky"], ["classic", "custom"], ["consumer", "uniform"], ["consumer", "range"],
    ].map(([protocol, assignor]) => ownRow({ protocol, assignor }, "sticky")),
    ["sticky", "custom", "consumer", "consumer_range"],
  );
});
