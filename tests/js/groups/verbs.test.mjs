// What can be done to a member, the coordinator and a partition.
import assert from "node:assert/strict";
import test from "node:test";

import { partitionOrder, partitionVerbs } from "../../../static/js/groups/at_partition.js";
import * as machine from "../../../static/js/groups/machine.js";
import { COORDINATOR, stillChosen } from "../../../static/js/groups/members.js";
import { BY_PATTERN, chosenWords, patternOrder, verbsOf } from "../../../static/js/groups/verbs.js";
import { say } from "../fixtures/load.mjs";
import { ALL, rest, silent, nobody, CLASSIC, codesIn } from "./known.mjs";

test("verbs are the view's, of the coordinator its broker's", () => {
  const verbs = (view, chosen) =>
    verbsOf(view.group, view.cluster, chosen, say).map(({ verb, order }) => [verb, order.kind, order.consumer ?? null]);
  const always = [["join", "join", null], ["cluster_add_partitions", "cluster_add_partitions", null]];
  assert.deepEqual(verbs(silent, "c2"), [["rejoin", "rejoin", "c2"], ["leave", "leave", "c2"], ...always]);
  assert.deepEqual(verbs(rest, null), always);
  const topicsOf = (topics, all) =>
    verbsOf(
      { ...rest.group, topics: all, members: { c1: { ...rest.group.members.c1, topics, verbs: ["group_subscribe"] } } },
      rest.cluster,
      "c1",
      say,
    )
      .filter(({ verb }) => verb === "group_subscribe")
      .map(({ order, text }) => [text.split(" ")[0], order.args.topics]);
  assert.deepEqual(topicsOf(["a"], ["a"]), [["groups.unsubscribe", ["nowhere"]]]);
  assert.deepEqual(topicsOf(["nowhere"], ["a"]), [["groups.subscribe", ["a"]]]);
  assert.deepEqual(topicsOf(["a"], ["a", "b"]), [
    ["groups.unsubscribe", ["nowhere"]], ["groups.subscribe", ["a", "b"]],
  ]);
  assert.deepEqual(verbsOf(rest.group, rest.cluster, null, say).at(-1).order.args, { topic: "flights", count: 16 });
  assert.ok(
    nobody.group.state === null &&
      machine.layout(CLASSIC, null, { width: 302, say }).every(({ class: name }) => !/now-in/.test(name)),
  );
  const of = verbsOf(rest.group, rest.cluster, COORDINATOR, say);
  assert.deepEqual(of.find(({ verb }) => verb === "crash").order, {
    kind: "cluster_crash", args: { broker: rest.group.coordinator },
  });
  assert.ok(verbsOf(nobody.group, nobody.cluster, COORDINATOR, say).some(({ verb }) => verb === "come_back"));
  for (const view of ALL) for (const chosen of [null, COORDINATOR, ...Object.keys(view.group.members)]) {
    const keys = verbsOf(view.group, view.cluster, chosen, say).map(({ key }) => key).filter(Boolean);
    assert.equal(new Set(keys).size, keys.length, `two verbs of ${chosen} have one key`);
    assert.ok(chosenWords(view.group, chosen, say));
  }
});

test("a member subscribes by a pattern through a form, and what the pattern means is told", () => {
  const verb = verbsOf(rest.group, rest.cluster, "c1", say, true).find(({ id }) => id === BY_PATTERN);
  assert.deepEqual([verb.order, verb.key, verb.isOpen], [null, "N", true]);
  assert.deepEqual(patternOrder("c1", " fl.* "), {
    kind: "group_subscribe", consumer: "c1", args: { pattern: "fl.*" },
  });
  const told = (changes) =>
    codesIn(chosenWords({ ...rest.group, members: { c1: { ...rest.group.members.c1, ...changes } } }, "c1", say)).map(
      (code) => code.split(".").at(-1),
    );
  assert.deepEqual(told({ pattern: "fl.*", topics: ["flights"] }), ["sentence", "by_pattern"]);
  assert.deepEqual(told({ pattern: "none", topics: [] }), ["sentence", "by_pattern_none"]);
  assert.equal(chosenWords(rest.group, "c1", say), rest.group.members.c1.member_id);
});

test("a member that restarts stays chosen in its next life, and one that is gone does not", () => {
  const group = { members: { c1: { consumer: "c1" }, "c2~2": { consumer: "c2" } } };
  assert.equal(stillChosen("c2", "c2", group), "c2~2");
  assert.equal(stillChosen("c1", "c1", group), "c1");
  assert.equal(stillChosen("c3", "c3", group), null);
  assert.equal(stillChosen(COORDINATOR, null, group), COORDINATOR);
  assert.equal(stillChosen(null, null, group), null);
});

test("one partition: a member's calls when one is chosen, else an operator's orders; a seek is three", () => {
  const member = { ...rest.group.members.c1, partition_verbs: ["group_pause_partition", "group_seek", "group_commit"] };
  const group = {
    ...rest.group, members: { ...rest.group.members, c1: member },
    partition_verbs: ["group_reset_offsets", "cluster_send_record"],
  };
  const ids = (chosen) => partitionVerbs(group, chosen, say).map(({ id }) => id);
  assert.deepEqual(ids("c1"), [
    "group_pause_partition", "group_seek", "group_seek_beginning", "group_seek_end", "group_commit",
  ]);
  assert.deepEqual(
    [ids(null), ids(COORDINATOR)],
    [
      ["group_reset_offsets", "cluster_send_record", "cluster_send_record_tombstone"],
      ["group_reset_offsets", "cluster_send_record", "cluster_send_record_tombstone"],
    ],
  );
  const record = partitionVerbs(group, null, say).slice(1).map((verb) =>
    partitionOrder(verb, { topic: "flights", number: 3, offset: "7", key: "k", value: "v" }).args,
  );
  assert.deepEqual(record, [
    { topic: "flights", partition: 3, key: "k", value: "v" },
    { topic: "flights", partition: 3, key: "k", tombstone: true },
  ]);
  const orders = (chosen, offset) =>
    partitionVerbs(group, chosen, say).map((verb) => partitionOrder(verb, { topic: "flights", number: 3, offset }));
  assert.deepEqual(orders("c1", " 12 ").slice(0, 4), [
    { kind: "group_pause_partition", consumer: "c1", args: { topic: "flights", partition: 3 } },
    { kind: "group_seek", consumer: "c1", args: { topic: "flights", partition: 3, offset: 12 } },
    { kind: "group_seek", consumer: "c1", args: { topic: "flights", partition: 3, to: "beginning" } },
    { kind: "group_seek", consumer: "c1", args: { topic: "flights", partition: 3, to: "end" } },
  ]);
  assert.deepEqual(
    orders(null, "many").map(({ args, consumer }) => [args.offset, consumer]),
    [
      ["many", undefined], [undefined, undefined], [undefined, undefined],
    ],
    "the server says what is wrong with it",
  );
  assert.equal(orders("c1", "").at(-1).args.offset, null);
});
