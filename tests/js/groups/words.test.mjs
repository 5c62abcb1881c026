// What the page says of a group and its members.
import assert from "node:assert/strict";
import test from "node:test";

import * as machine from "../../../static/js/groups/machine.js";
import { COORDINATOR, rowsOf as memberRows } from "../../../static/js/groups/members.js";
import { counts, doing, findingsOf, gridWords, headline, sub, tagsOf } from "../../../static/js/groups/words.js";
import { say } from "../fixtures/load.mjs";
import { ALL, empty, first, rest, silent, nobody, epochs, CLASSIC, cells, withMember, codesIn } from "./known.mjs";

test("who is put out and does not poll, or does not know it, is told apart from members, " +
  "and does not count as a second reader", () => {
  const had = rest.group.members.c1.owned;
  const out = (changes) =>
    withMember(rest, "late", { ...rest.group.members.c1, consumer: "c9", member_id: null, generation: -1, ...changes });
  const word = (view) => codesIn(doing(view.group.members.late, view.group, say))[0];
  const stuck = out({ is_stuck: true }), zombie = out({}), starting = out({ owned: [], is_starting: true });
  const newcomer = out({ owned: [] });
  assert.deepEqual(
    [stuck, zombie, starting, newcomer].map(word),
    ["stuck_out", "zombie", "starting", "outside"].map((name) => `groups.doing.${name}`),
  );
  assert.deepEqual([counts(stuck.group).twice, counts(zombie.group).twice], [0, had.length]);
  assert.deepEqual(
    [stuck, zombie].map((view) => codesIn(headline(view.group, say))[0]),
    ["groups.head.stable", "groups.head.zombie"],
  );
  const overdue = withMember(rest, "c1", { is_stuck: true, generation: -1, instance_id: "c1" });
  assert.deepEqual(
    [codesIn(doing(overdue.group.members.c1, overdue.group, say))[0], codesIn(headline(overdue.group, say))[0]],
    ["groups.doing.stuck_silent", "groups.head.silent"],
  );
});

test("a group of KIP-848 that waits for a restarted static member alone says so", () => {
  const here = Object.fromEntries(
    Object.entries(epochs.group.members).map(([key, member]) => [
      key, { ...member, epoch: epochs.group.generation, state: "STABLE" },
    ]),
  );
  const [key] = Object.keys(here);
  const head = (members) => codesIn(headline({ ...epochs.group, state: "Reconciling", members }, say))[0];
  const away = { ...here, [key]: { ...here[key], condition: "gone", instance_id: "c1", epoch: -2 } };
  assert.equal(head(away), "groups.head.away");
  assert.equal(head({ ...here, [key]: { ...here[key], is_stuck: true, epoch: -2 } }), "groups.head.silent");
  const other = Object.keys(here)[1];
  assert.equal(
    head({ ...away, [other]: { ...here[other], state: "UNREVOKED_PARTITIONS" } }),
    "groups.head.reconciling",
  );
});

test("a member without a partition is not among those that read", () => {
  const idle = withMember(rest, "late", { ...rest.group.members.c1, consumer: "c9", owned: [], assigned: [] });
  assert.equal(codesIn(headline(idle.group, say))[0], "groups.head.idle");
  assert.equal(counts(idle.group).idle, 1);
});

test("without a coordinator a program looks for one, or waits for the answer of who does not answer; " +
  "of a group of zombies the head says so", () => {
  const word = (isSearching) =>
    codesIn(doing({ ...Object.values(nobody.group.members)[0], is_searching: isSearching }, nobody.group, say))[0];
  assert.deepEqual([word(true), word(false)], ["groups.doing.searching", "groups.doing.unanswered"]);
  const members = Object.fromEntries(
    Object.entries(rest.group.members).map(([key, member]) => [key, { ...member, member_id: null }]),
  );
  assert.equal(codesIn(headline({ ...rest.group, state: "Empty", members }, say))[0], "groups.head.zombie");
});

test("in a group of both protocols the members of the classic one are named, " +
  "and that nobody asks for their assignors", () => {
  const members = Object.fromEntries(
    Object.entries(epochs.group.members).map(([key, member], place) => [
      key, { ...member, protocol: place ? "classic" : "consumer" },
    ]),
  );
  const mixed = { ...epochs.group, members };
  const classic = Object.values(members)
    .slice(1)
    .map(({ consumer }) => consumer);
  assert.match(
    sub(mixed, say),
    new RegExp(`groups.sub_classic \\{"names":"${[...classic].sort().join("list.comma \\{\\}")}"`),
  );
  assert.ok(!sub(epochs.group, say).includes("sub_classic"));
  const tags = Object.fromEntries(memberRows(mixed, epochs.consumers, say).map(({ name, tags: told }) => [name, told]));
  for (const name of classic) assert.equal(tags[name], "groups.classic {}");
  assert.equal(
    tagsOf({ instance_id: "c1", consumer: "c1", protocol: "classic" }, mixed, say),
    "groups.static {}list.comma {}groups.classic {}",
  );
  assert.equal(tagsOf({ instance_id: null, consumer: "c1", protocol: "classic" }, rest.group, say), "");
});

test("the head has the state that is lit", () => {
  assert.deepEqual(
    ["Assigning", "Reconciling"].map((state) => codesIn(headline({ ...epochs.group, state }, say))[0]),
    ["groups.head.assigning", "groups.head.reconciling"],
  );
});

test("what several wait to hear is one sentence, until the last of them has heard", () => {
  const finding = (code, member, endsUs, partitions = []) => ({
    code, member, timer: "heartbeat", ends_us: endsUs, partitions, count: 0,
  });
  const of = (findings) =>
    findingsOf(rest.group, { findings }, 0, say).map(({ text, until }) => [
      codesIn(text)[0].split(".").at(-1), JSON.parse(text.slice(text.indexOf("{"))),
      JSON.parse(until.slice(until.indexOf("{"))).left_us,
    ]);
  const [dead, unheard] = of([
    finding("silent_owner", "c9", 9e6, [7]), finding("revoke_unheard", "c10", 1e6, [1]),
    finding("revoke_unheard", "c2", 2e6, [2, 3]),
  ]);
  assert.deepEqual(dead, ["silent_owner", { member: "c9", members: 1, count: 1, partitions: 1 }, 9e6]);
  assert.deepEqual(unheard, [
    "revoke_unheard", { member: `c2${say("list.comma")}c10`, members: 2, count: 3, partitions: 3 }, 2e6,
  ]);
  assert.equal(
    of([finding("join_waits", "c1", 5e6), finding("join_waits", "c2", 5e6), finding("join_waits", "c3", 4e6)]).length,
    2,
    "each with its own timer",
  );
});

test("what has become of a process is told apart: away as a static member, silent, out of the group, failed", () => {
  const word = (changes) =>
    codesIn(doing({ ...rest.group.members.c1, ...changes }, rest.group, say))[0]
      .split(".")
      .at(-1);
  assert.equal(word({ condition: "gone", instance_id: "c1" }), "away");
  assert.equal(word({ condition: "gone", instance_id: null }), "gone");
  assert.equal(word({ condition: "paused", member_id: null }), "paused_out");
  assert.equal(word({ condition: "crashed", member_id: null }), "crashed_out");
  assert.equal(word({ failed: "INCONSISTENT_GROUP_PROTOCOL" }), "failed_with");
  assert.equal(word({ phase: "closing", owned: [] }), "closing");
  assert.equal(word({ failed: "" }), "failed");
  const head = (changes) => codesIn(headline(withMember(rest, "c1", changes).group, say))[0];
  assert.equal(head({ condition: "gone", instance_id: "c1", owned: [] }), "groups.head.away");
  assert.equal(head({ condition: "gone", instance_id: null, owned: [] }), "groups.head.silent");
});

test("the state is lit, and the ways that led to it", () => {
  const lit = machine.layout(CLASSIC, "Stable", { width: 302, past: ["CompletingRebalance>Stable"], say });
  assert.equal(lit.filter(({ class: name }) => name === "state now-in").length, 1);
  assert.equal(lit.find(({ id }) => id === "way-CompletingRebalance>Stable").class, "way lit");
  assert.deepEqual(machine.path(CLASSIC, "Stable", "Stable"), []);
  assert.deepEqual(machine.path(CLASSIC, "PreparingRebalance", "Stable"), [
    "PreparingRebalance>CompletingRebalance", "CompletingRebalance>Stable",
  ]);
  assert.deepEqual(machine.path(CLASSIC, "Stable", "Empty"), ["Stable>PreparingRebalance", "PreparingRebalance>Empty"]);
  let now = 0;
  const pass = machine.createPast(() => now);
  assert.deepEqual(pass(CLASSIC, "Empty"), []);
  assert.deepEqual(pass(CLASSIC, "PreparingRebalance"), ["Empty>PreparingRebalance"]);
  now = 10_000;
  assert.deepEqual(pass(CLASSIC, "PreparingRebalance"), []);
});

test("several names stand as the language of the page parts them", () => {
  const inChinese = (code, params = {}) =>
    code === "list.comma" ? "、" : `${code} ${params.names ?? params.member ?? ""}`;
  const findings = ["c1", "c2"].map((member) => ({
    code: "sync_waits_unheard", member, timer: "heartbeat.interval.ms", ends_us: 5, partitions: 1, count: 0,
  }));
  assert.match(findingsOf(rest.group, { findings }, 0, inChinese)[0].text, / c1、c2$/);
  const members = Object.fromEntries(
    Object.entries(rest.group.members).map(([key, member]) => [
      key, { ...member, condition: "gone", instance_id: null, owned: [] },
    ]),
  );
  assert.match(headline({ ...rest.group, members }, inChinese), /groups\.head\.silent .+、.+/);
});

test("head and members say what is", () => {
  const codeOf = (view) => headline(view.group, say).split(" ")[0];
  assert.deepEqual(
    ALL.map(codeOf),
    ["empty", "gathering", "stable", "joining", "no_coordinator", "reconciling", "joining", "stable"].map(
      (code) => `groups.head.${code}`,
    ),
  );
  assert.match(
    gridWords(silent.group, silent.group_health, say),
    new RegExp(`grid_dark .*"lag":${silent.group_health.lag},`),
  );
  assert.deepEqual(counts(silent.group).silent, ["c2"]);
  assert.match(sub(epochs.group, say), /groups\.protocol\.consumer.*uniform/);
  assert.match(sub(nobody.group, say), /groups\.sub_nobody/);
  assert.match(sub({ ...nobody.group, coordinator: 1, is_old: true }, say), /groups\.sub_old.*groups\.sub_where/);
  assert.doesNotMatch(sub(epochs.group, say), /groups\.sub_old/);
  assert.equal(doing(silent.group.members.c1, silent.group, say), "groups.doing.awaits_join {}");
  assert.equal(doing(silent.group.members.c2, silent.group, say), "groups.doing.crashed {}");
  const rows = memberRows(silent.group, silent.consumers, say);
  assert.deepEqual(rows.map(({ key }) => key), [COORDINATOR, "c1", "c2", "c3", "c4"]);
  assert.equal(memberRows(epochs.group, epochs.consumers, say).some(({ isBehind }) => isBehind), true);
});

test("what holds the group up is named with its timer", () => {
  const codes = (view) =>
    findingsOf(view.group, view.group_health, view.at_us, say).map(({ text, until }) => [
      text.split(" ")[0].split(".").at(-1), /session|rebalance|initial/.exec(until)?.[0] ?? "",
    ]);
  assert.deepEqual(codes(first), [["gathering", "initial"]]);
  assert.deepEqual(codes(silent), [["silent_waits", "session"]]);
  assert.deepEqual(codes(nobody), [["no_coordinator", "session"], ["no_leader", "session"]]);
  assert.deepEqual(codes(empty), [["no_members", ""]]);
});

test("what a member has paused it holds and does not read", () => {
  const [number] = rest.group.members.c1.owned;
  const group = {
    ...rest.group, members: { ...rest.group.members, c1: { ...rest.group.members.c1, paused: [number] } },
  };
  const of = (view) => cells(view).shapes.find(({ id }) => id === `cell-${number}-c1`);
  assert.match(of({ ...rest, group }).title, /groups\.cell\.held_paused/);
  assert.match(of(rest).title, /groups\.cell\.reads/);
  assert.equal(counts(group).held, 1);
});
