// The page of a consumer group: rows keep the order of cause and effect, no shape twice, every figure the view's, every
// word from the catalogue.
import assert from "node:assert/strict";
import test from "node:test";

import { speaker } from "../../static/js/base/say.js";
import { widthOf } from "../../static/js/drawing/labels.js";
import { partitionOrder, partitionVerbs } from "../../static/js/groups/at_partition.js";
import { FIGURES, cellsOf, ownRow, stateWords } from "../../static/js/groups/comparison.js";
import * as grid from "../../static/js/groups/grid.js";
import * as machine from "../../static/js/groups/machine.js";
import { COORDINATOR, inOrder, rowsOf as memberRows, stillChosen } from "../../static/js/groups/members.js";
import { hiddenOf } from "../../static/js/groups/more.js";
import { othersTable } from "../../static/js/groups/others.js";
import { ownWords } from "../../static/js/groups/own_assignor.js";
import { codeName, labelOf, noteWords, rowsOf, toneOf } from "../../static/js/groups/rows.js";
import { broken, geometry, layout as sequence, moment, placed } from "../../static/js/groups/sequence.js";
import { membersTable, messagesTable, partitionsTable, runs, statesList } from "../../static/js/groups/tables.js";
import { groupTimer, left, ownTimers, rings, sweep } from "../../static/js/groups/timers.js";
import { direction, lagsOf } from "../../static/js/groups/trend.js";
import { BY_PATTERN, chosenWords, patternOrder, verbsOf } from "../../static/js/groups/verbs.js";
import {
  counts, doing, findingsOf, gridWords, headline, messageWords, sub, tagsOf,
} from "../../static/js/groups/words.js";
import { load, say } from "./fixtures/load.mjs";

const ALL = load("groups").map((view) => ({ ...view, ...view.rigs.kafka }));
const [empty, first, rest, silent, nobody, epochs, large, committed] = ALL;
const CLASSIC = {
  states: ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable"],
  transitions: [
    ["Empty", "rebalance", "PreparingRebalance"], ["Stable", "rebalance", "PreparingRebalance"],
    ["CompletingRebalance", "rebalance", "PreparingRebalance"],
    ["PreparingRebalance", "all joined", "CompletingRebalance"], ["PreparingRebalance", "all left", "Empty"],
    ["CompletingRebalance", "leader synced", "Stable"],
  ],
};

function check(shapes) {
  const ids = shapes.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, `ids twice: ${ids.filter((id, place) => ids.indexOf(id) !== place)}`);
  for (const shape of shapes) {
    for (const [name, value] of Object.entries(shape)) {
      assert.ok(value !== undefined && !/NaN|undefined|Infinity/.test(String(value)), `${shape.id} ${name} = ${value}`);
    }
  }
  for (const { id, tag, width, height } of shapes) {
    if (tag === "rect") assert.ok(width > 0 && height >= 0, `${id} is ${width} by ${height}`);
  }
}

const chart = (view, more = {}) =>
  sequence(view.group, { consumers: view.consumers, available: 960, height: 580, atUs: view.at_us, say, ...more });
const cells = (view, more = {}) =>
  grid.layout(view.group, {
    members: inOrder(view.group, view.consumers), consumers: view.consumers, available: 960, atUs: view.at_us,
    health: view.group_health, lags: {}, say, ...more,
  });

test("every picture of every moment is whole, at each width", () => {
  for (const view of ALL) {
    for (const available of [330, 960, 1400]) {
      for (const isFolded of [true, false]) {
        check(chart(view, { available, isFolded, isPhone: available < 640 }).shapes);
      }
      check(cells(view, { available, isPhone: available < 640 }).shapes);
    }
    check(machine.layout(CLASSIC, view.group.state, { width: 302, past: ["Empty>PreparingRebalance"], say }));
  }
});

test("a message is on one row, or on two if it was parked, and its member's rows are in the order of time", () => {
  for (const view of ALL) for (const isFolded of [true, false]) {
    const rows = rowsOf(view.group.exchanges, { isFolded }), seen = new Map();
    for (const row of rows) {
      for (const { number } of row.items) seen.set(number, [...(seen.get(number) ?? []), row.way]);
    }
    assert.equal(seen.size, Object.keys(view.group.exchanges).length);
    for (const ways of seen.values()) assert.ok(ways.length === 1 || ways.join() === "ask,answer", ways.join());
    const last = new Map();
    for (const row of rows) for (const { number, exchange } of row.items) {
      const at = row.way === "answer" ? exchange.answered_us : exchange.sent_us;
      assert.ok(
        at >= (last.get(exchange.member) ?? -Infinity),
        `${number} of ${exchange.member} stands before an earlier message`,
      );
      last.set(exchange.member, row.way === "quiet" ? last.get(exchange.member) ?? -Infinity : at);
    }
  }
});

test("what is parked together is answered on one row, each with what it got", () => {
  const answers = rowsOf(rest.group.exchanges, { isFolded: true }).filter(({ way }) => way === "answer");
  assert.deepEqual(answers.map(({ kind, items }) => [kind, items.length]), [["join", 3], ["sync", 3]]);
  assert.deepEqual(labelOf(answers[0]), { title: "JoinGroup ×3", note: "generation 1" });
  const notes = chart(rest)
    .shapes.filter(({ id, text }) => id.startsWith("note-") && /flights/.test(text))
    .map(({ text }) => text)
    .sort();
  assert.deepEqual(notes, ["flights 0-3", "flights 4-7", "flights 8-11"]);
});

test("a refusal has Kafka's name, also where the answer has a code for each partition, " +
  "and its number in a view of before", () => {
  const refused = { kind: "commit", code: 25, error: "UNKNOWN_MEMBER_ID", answer: [["records", "0 25"]] };
  assert.equal(codeName(refused), "UNKNOWN_MEMBER_ID");
  assert.equal(codeName({ ...refused, error: undefined }), "25");
  assert.equal(codeName({ ...refused, code: 0, error: "", answer: [] }), "");
});

test("folding takes rows away and no message", () => {
  for (const view of [rest, silent, epochs, large]) {
    const folded = rowsOf(view.group.exchanges, { isFolded: true });
    const open = rowsOf(view.group.exchanges, { isFolded: false });
    const count = (rows) => new Set(rows.flatMap(({ items }) => items.map(({ number }) => number))).size;
    assert.ok(folded.length < open.length && count(folded) === count(open));
  }
  assert.ok(rowsOf(large.group.exchanges, { isFolded: true }).length < 40);
});

test("the newest row stands right above now, and every row shown is between the head and now", () => {
  const rows = rowsOf(large.group.exchanges, { isFolded: true });
  const place = geometry(["c1"], { available: 960, height: 580 }), shown = placed(rows, place, say);
  assert.equal(shown.at(-1).id, rows.at(-1).id);
  for (const [at, row] of shown.entries()) {
    assert.ok(row.y > 40 && row.y < place.now && (at === 0 || row.y > shown[at - 1].y));
  }
});

test("a message to a dead coordinator is crossed out, a parked one is drawn to now", () => {
  const lost = chart(nobody).shapes.filter(({ id }) => id.startsWith("lost-"));
  assert.ok(lost.length > 0);
  const open = chart(silent).shapes.filter(({ id, class: name }) => id.startsWith("parked-") && name === "parked open");
  assert.equal(open.length, 3);
  assert.ok(rowsOf(nobody.group.exchanges, { isFolded: true }).some((row) => toneOf(row) === "bad"));
});

test("timers: of each member the one that ends first, of the group its own; a silent member's is red", () => {
  const own = ownTimers(silent.group);
  assert.equal(own.get("c2").timer.kind, "session");
  const poll = { kind: "poll", member: "c1", until_us: rest.at_us + 290_000_000, of_us: 300_000_000 };
  const stuck = withMember(rest, "c1", { is_stuck: true }).group;
  assert.equal(ownTimers({ ...stuck, timers: { ...stuck.timers, "poll:c1": poll } }).get("c1").timer.kind, "poll");
  assert.equal(ownTimers(stuck).get("c1").timer.kind, "session");
  assert.equal(groupTimer(silent.group).kind, "join");
  assert.equal(groupTimer(first.group).kind, "initial_delay");
  const red = chart(silent).shapes.filter(({ id, class: name }) => id === "ring-c2" && name === "ring bad");
  assert.equal(red.length, 1);
  const unit = (code) => ({ second: "秒", minute: "分钟" })[code];
  assert.deepEqual(
    [36_200_000, 900_000, 3_600_000_000, -5].map((us) => left(us, unit)),
    ["36\u202f秒", "0.9\u202f秒", "60\u202f分钟", "0.0\u202f秒"],
    "in the page's language",
  );
  assert.equal(sweep(0, 0, 10, 0), "");
  assert.match(sweep(0, 0, 10, 0.25), /A10 10 0 0 1 10 0$|A10 10 0 0 1 10 -0$/);
});

test("a lane shines while somebody reads it and is dark while nobody does", () => {
  for (const view of ALL) {
    const shapes = cells(view).shapes;
    for (const [name, { owner }] of Object.entries(view.group.partitions)) {
      assert.equal(shapes.find(({ id }) => id === `lane-${name}`).class, owner === null ? "lane-dark" : "lane-of");
      if (owner !== null) {
        assert.ok(shapes.some(({ id, class: mark }) => id === `cell-${name}-${owner}` && mark === "cell-of reads"));
      }
    }
  }
  const marks = new Set(
    ALL.flatMap((view) =>
      cells(view)
        .shapes.filter(({ id }) => id.startsWith("cell-"))
        .map(({ class: mark }) => mark.split(" ")[1]),
    ),
  );
  assert.deepEqual([...marks].sort(), ["given", "reads", "target"]);
  assert.equal(grid.markOf(3, { owner: "a", given: "b" }, "a", { revoking: [3], target: [] }), "revoking");
});

const withMember = (view, key, changes) => ({
  ...view,
  group: { ...view.group, members: { ...view.group.members, [key]: { ...view.group.members[key], ...changes } } },
});
const codesIn = (words) => words.match(/groups\.[a-z_.]+/g);

test("a partition whose owner does not poll, or that nobody leads, is held and not read: in the grid, " +
  "above it and in the head", () => {
  const stuck = withMember(rest, "c1", { is_stuck: true }), had = rest.group.members.c1.owned;
  const marks = (view) =>
    cells(view)
      .shapes.filter(({ class: name }) => name === "cell-of held")
      .map(({ id }) => id);
  assert.ok(had.length > 0);
  assert.deepEqual(
    marks(stuck),
    had.map((number) => `cell-${number}-c1`),
  );
  assert.equal(counts(stuck.group).held, had.length);
  assert.deepEqual(
    [codesIn(headline(stuck.group, say))[0], codesIn(gridWords(stuck.group, rest.group_health, say))[0]],
    ["groups.head.stuck", "groups.grid_held"],
  );
  const [first] = Object.keys(rest.group.partitions);
  const leaderless = {
    ...rest,
    group: {
      ...rest.group,
      partitions: { ...rest.group.partitions, [first]: { ...rest.group.partitions[first], leader: null } },
    },
  };
  assert.equal(marks(leaderless).length, 1);
  assert.equal(codesIn(headline(leaderless.group, say))[0], "groups.head.leaderless");
});

test("a partition that an assignor gave to two members is full for both, and is said to be read twice", () => {
  const twice = withMember(rest, "c1", { owned: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] });
  const reads = cells(twice).shapes.filter(({ class: name }) => name === "cell-of reads");
  assert.equal(reads.length, 12 + 12 - rest.group.members.c1.owned.length);
  assert.equal(counts(twice.group).twice, 12 - rest.group.members.c1.owned.length);
  assert.equal(codesIn(headline(twice.group, say))[0], "groups.head.twice");
  assert.ok(codesIn(gridWords(twice.group, rest.group_health, say)).includes("groups.grid_twice"));
});

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

test("the words of a row and the notes of its members do not run into each other", () => {
  const wide = 8.7;      // of a bold letter in the font that Linux gives
  for (const view of [rest, epochs]) for (let available = 700; available < 1100; available += 20) {
    const shapes = chart(view, { available }).shapes;
    for (const note of shapes.filter(({ id }) => id.startsWith("note-"))) {
      const title = shapes.find(({ id, y }) => id.startsWith("title-") && y === note.y);
      assert.ok(note.x - note.text.length * 7.9 >= title.x + title.text.length * wide, `${title.text} | ${note.text}`);
    }
  }
});

test("a member without a partition is not among those that read", () => {
  const idle = withMember(rest, "late", { ...rest.group.members.c1, consumer: "c9", owned: [], assigned: [] });
  assert.equal(codesIn(headline(idle.group, say))[0], "groups.head.idle");
  assert.equal(counts(idle.group).idle, 1);
});

const briefly = (code) => ({ "groups.dark_for": "dark for 12 s", second: "s" })[code] ?? code;

test("how long a lane is dark stands beside its cells, however many there are", () => {
  const keys = ["c1", "c2", "c3", "c4"];
  const none = { ...rest.group.members.c1, owned: [], assigned: [], target: null, revoking: [] };
  for (const [given, target] of [["c2", "c4"], ["c1", "c2"], ["c1", "c4"], ["c4", "c3"], ["c2", null]]) {
    const members = Object.fromEntries(
      keys.map((key) => [
        key, { ...none, consumer: key, assigned: key === given ? [0] : [], target: key === target ? [0] : [] },
      ]),
    );
    const view = {
      ...rest,
      group: {
        ...rest.group, members,
        partitions: { 0: { ...rest.group.partitions[0], owner: null, dark_us: rest.at_us - 1e6 } },
      },
    };
    const shapes = cells(view, { members: Object.entries(members), say: briefly }).shapes;
    const words = shapes.find(({ id }) => id === "dark-0"), wide = 90;
    const from = words.x - (/end/.test(words.class) ? wide : /mid/.test(words.class) ? wide / 2 : 0);
    for (const { id, x, width } of shapes) {
      if (id.startsWith("cell-")) {
        assert.ok(x + width <= from || x >= from + wide, `${id} of ${given} and ${target} is under the words`);
      }
    }
  }
});

test("where a lane has no room for the words it says how long alone, " +
  "and where there is none for that either the lane's tip says it", () => {
  const none = { ...rest.group.members.c1, owned: [], assigned: [], target: null, revoking: [] };
  const shown = (count, available) => {
    const members = Object.fromEntries(
      Array.from({ length: count }, (_, place) => [
        `m${place}`, { ...none, consumer: `c${place + 1}`, assigned: place === 0 ? [0] : [] },
      ]),
    );
    const view = {
      ...rest,
      group: {
        ...rest.group, members,
        partitions: { 0: { ...rest.group.partitions[0], owner: null, dark_us: rest.at_us - 12.3e6 } },
      },
    };
    const { shapes } = cells(view, { members: Object.entries(members), isPhone: true, available, say: briefly });
    return [shapes.find(({ id }) => id === "dark-0")?.text, shapes.find(({ id }) => id === "lane-0").title];
  };
  const whole = briefly("groups.dark_for");
  assert.deepEqual(shown(4, 900), [whole, whole]);
  assert.match(shown(4, 330)[0], /^12\s/u);
  assert.equal(shown(4, 330)[1], whole);
  assert.deepEqual(shown(1, 240), [undefined, whole]);
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

// A group of 12 partitions that are read, each with a rule that has decided its status.
const judged = ({ rules = [], status = "ok", lags = {}, dark = 0, stuck = 0, overload = "" }) => {
  const partitions = Object.fromEntries(
    [...Array(12).keys()].map((number) => [number, { owner: number < dark ? null : "m1", leader: 1 }]),
  );
  const member = {
    consumer: "c1", member_id: "m1", condition: "running",
    owned: [...Array(12 - dark).keys()].map((number) => number + dark), is_stuck: false,
  };
  const last = { ...member, consumer: "c2", member_id: "m2", is_stuck: true, owned: member.owned.splice(0, stuck) };
  const parts = Object.fromEntries(
    [...Array(12).keys()].map((number) => [
      number, { lag: rules[number] ? 5 : 0, status: rules[number] ? status : "ok", rule: rules[number] ?? "no_lag" },
    ]),
  );
  const health = { lag: 5 * rules.length, lag_us: 0, status, window: 10, partitions: parts };
  const words = gridWords(
    { ...rest.group, partitions, members: { m1: member, m2: last } },
    health,
    (code, params) => (/grid_lag/.test(code) ? params.status : /rule|status/.test(code) ? say(code, params) : ""),
    { lags, overload },
  );
  return words.replace(overload, "").trim();
};
const RISING = [0, 1, 2, 3, 10, 20, 30, 40, 50, 60, 70, 80];

test("a status has the rule that decided it and its window beside it", () => {
  assert.match(judged({}), /^groups\.rule\.no_lag \{"window":10\}$/);
  assert.match(judged({ rules: ["caught_up", "moving"] }), /groups\.rule\.moving/);
  assert.match(judged({ rules: ["caught_up"] }), /groups\.rule\.caught_up/);
  assert.match(judged({ rules: ["young", "young"] }), /groups\.rule\.young/);
  assert.match(
    judged({ rules: ["falling", "falling", "falling"], status: "warning" }),
    /groups\.status\.in_some .*groups\.rule\.falling.*"count":3,"partitions":12/,
  );
});

test("it is never ok while a partition is dark or its owner reads nothing", () => {
  for (const dark of [1, 4, 12]) {
    assert.match(judged({ dark }), new RegExp(`^groups\\.status\\.unread \\{"count":${dark},"partitions":12\\}$`));
  }
  assert.match(judged({ dark: 3, rules: ["caught_up", "young"] }), /groups\.status\.unread .*3/);
  assert.match(judged({ stuck: 2 }), /groups\.status\.unread .*"count":2/);
  assert.match(judged({ dark: 1, rules: ["stalled"], status: "error" }), /groups\.rule\.stalled/);
});

test("it is never ok while the lag of most partitions grows", () => {
  const rising = (count) =>
    Object.fromEntries([...Array(12).keys()].map((number) => [number, number < count ? RISING : RISING.toReversed()]));
  for (const count of [7, 9, 12]) {
    assert.match(
      judged({ rules: ["caught_up"], lags: rising(count) }),
      new RegExp(`groups\\.status\\.rising \\{"count":${count},"partitions":12,"seconds":30\\}`),
    );
  }
  assert.match(judged({ rules: ["caught_up"], lags: rising(6) }), /groups\.rule\.caught_up/);
});

test("it is never ok while more comes in than the members handle", () => {
  for (const rules of [["caught_up"], ["moving", "young"], []]) {
    assert.match(judged({ rules, overload: "6 more" }), /^groups\.status\.overload/);
  }
  assert.match(judged({ rules: ["falling"], status: "warning", overload: "6 more" }), /groups\.rule\.falling/);
});

test("no status in the table and no mark in the grid says ok beside a lane that is not read, or that grows", () => {
  const lags = Object.fromEntries(Object.keys(rest.group.partitions).map((number) => [number, RISING]));
  const dark = {
    ...rest.group,
    partitions: Object.fromEntries(
      Object.entries(rest.group.partitions).map(([number, partition]) => [number, { ...partition, owner: null }]),
    ),
  };
  const stuck = {
    ...rest.group,
    members: Object.fromEntries(
      Object.entries(rest.group.members).map(([key, member]) => [key, { ...member, is_stuck: true }]),
    ),
  };
  const ok = {
    ...rest.group_health,
    partitions: Object.fromEntries(
      Object.keys(rest.group.partitions).map((number) => [
        number, { ...rest.group_health.partitions[number], status: "ok", rule: "moving" },
      ]),
    ),
  };
  for (const [group, known, code] of [
    [dark, {}, "groups.status.not_read"], [stuck, lags, "groups.status.not_read"],
    [rest.group, lags, "groups.status.grows"], [rest.group, {}, "groups.rule.moving"],
  ]) {
    const table = partitionsTable(group, ok, known, say);
    const at = table.head.findIndex((text) => text.startsWith("groups.column.status"));
    assert.deepEqual([...new Set(table.rows.map((row) => codesIn(row[at])[0]))], [code]);
    const marks = cells({ ...rest, group, group_health: ok }, { lags: known }).shapes.filter(({ id }) =>
      id.startsWith("status-"),
    );
    assert.equal(marks.length, code === "groups.rule.moving" ? 0 : table.rows.length);
    for (const mark of marks) assert.equal(codesIn(mark["data-tip"])[0], code);
  }
});

test("who is crashed, frozen, failed or stuck reads nothing in any table, and has its epoch as in the list", () => {
  const column = (table, code) => table.head.findIndex((text) => text.startsWith(`groups.column.${code} `));
  const cases = [
    { condition: "crashed" }, { condition: "paused" }, { condition: "gone" }, { failed: "" },
    { failed: "UnknownServerError", member_id: null, generation: 4 }, { is_stuck: true },
  ];
  for (const changes of cases) for (const view of [rest, epochs]) {
    const { group } = withMember(view, "c1", changes), table = membersTable(group, view.consumers, view.at_us, say);
    const row = inOrder(group, view.consumers).findIndex(([key]) => key === "c1");
    assert.equal(table.rows[row][column(table, "owned")], "–", JSON.stringify(changes));
    assert.equal(othersTable({ ...group, groups: {} }, 0, say).rows.find(([name]) => name.endsWith("c1"))[1], "–");
    if (!changes.is_stuck) {
      assert.equal(
        cells({
          ...view,
          group: {
            ...group,
            partitions: Object.fromEntries(
              Object.entries(group.partitions).map(([number, partition]) => [number, { ...partition, owner: null }]),
            ),
          },
        }).shapes.some(({ id, class: name }) => /^cell-of (reads|held)$/.test(name) && id.endsWith("-c1")),
        false,
      );
    }
    const listed = memberRows(group, view.consumers, say).find(({ key }) => key === "c1").epoch;
    assert.equal(table.rows[row][column(table, "epoch")], listed);
  }
  const table = membersTable(rest.group, rest.consumers, rest.at_us, say);
  const read = table.rows.map((row) => row[column(table, "owned")]);
  assert.deepEqual(read, ["0–3", "4–7", "8–11"]);
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

test("another topic that a member reads has lanes of its own, and counts", () => {
  const part = {
    owner: "c3", given: "c3", dark_us: null, start: 2, end: 9, high_watermark: 8, leader: 1, committed: 5, position: 7,
    lag: 3, lag_us: 400_000,
  };
  const has = { assigned: [0], owned: [0], target: null, revoking: [] };
  const view = {
    ...rest,
    group: {
      ...rest.group,
      also: { audit: { partitions: { 0: part, 1: { ...part, owner: null, given: null } }, members: { c3: has } } },
    },
  };
  for (const available of [330, 960]) check(cells(view, { available, isPhone: available < 640 }).shapes);
  const shapes = cells(view).shapes, text = (id) => shapes.find((shape) => shape.id === id).text;
  assert.equal(shapes.find(({ id }) => id === "cell-audit-0-c3").class, "cell-of reads");
  assert.deepEqual(
    [text("part-audit-0"), text("lag-audit-0"), text("lag_us-audit-0")],
    ["audit-0", "3", left(400_000, say)],
  );
  assert.equal(shapes.find(({ id }) => id === "lane-audit-1").class, "lane-dark");
  assert.deepEqual([counts(view.group).partitions, counts(view.group).dark], [14, 1]);
  assert.ok(grid.height(view.group) > grid.height(rest.group));
  const c3 = rest.group.members.c3;
  const row = membersTable(view.group, view.consumers, view.at_us, say).rows.find(([name]) => name.startsWith("c3"));
  assert.equal(doing(c3, view.group, say, "c3"), say("groups.doing.reads", { count: c3.owned.length + 1 }));
  assert.match(row[4], /list.semicolon \{\}audit 0$/);
  assert.equal(partitionsTable(view.group, view.group_health, {}, say).rows.length, 14);
  assert.ok(codesIn(gridWords(view.group, view.group_health, say)).includes("groups.grid_lag_in"));
});

test("without a coordinator nobody knows committed offsets and lag", () => {
  const text = (id) => cells(nobody).shapes.find((shape) => shape.id === id).text;
  assert.deepEqual([text("committed-0"), text("lag-0"), text("lag_us-0")], ["–", "–", "–"]);
  assert.ok(codesIn(gridWords(nobody.group, nobody.group_health, say)).includes("groups.grid_lag_unknown"));
  const row = partitionsTable(nobody.group, nobody.group_health, {}, say).rows[0];
  assert.deepEqual([row[5], row[7], row[8], row[10]], ["–", "–", "–", "–"]);
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

test("the figures of a partition are the view's", () => {
  const text = (view, id) => cells(view).shapes.find((shape) => shape.id === id).text;
  for (const [name, partition] of Object.entries(rest.group.partitions)) {
    assert.equal(text(rest, `lag-${name}`), String(rest.group_health.partitions[name].lag));
    assert.equal(text(rest, `high_watermark-${name}`), String(partition.high_watermark));
  }
  assert.equal(text(nobody, "committed-0"), "–");
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
  assert.deepEqual(codes(silent), [["join_waits", "session"]]);
  assert.deepEqual(codes(nobody), [["no_coordinator", "session"], ["no_leader", "session"]]);
  assert.deepEqual(codes(empty), [["no_members", ""]]);
});

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
  assert.deepEqual([verb.order, verb.key, verb.isOpen], [null, "P", true]);
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

test("a message shows its fields and its times", () => {
  const join = Object.values(rest.group.exchanges).find(({ kind, note }) => kind === "join" && /leader/.test(note));
  const words = messageWords(join, rest.group, moment, say);
  assert.equal(words.title, "JoinGroup");
  assert.ok(
    words.asked.some(([name]) => name === "protocols.range") &&
      words.answered.some(([name, value]) => name === "generation_id" && value === "1"),
  );
  assert.deepEqual(
    words.times.map(([name]) => name.split(" ")[0]),
    ["sent", "arrived", "answered", "received"].map((name) => `groups.time.${name}`),
  );
  const waiting = Object.values(silent.group.exchanges).find(
    ({ kind, answered_us: at }) => kind === "join" && at === null,
  );
  assert.match(messageWords(waiting, silent.group, moment, say).times.at(-1)[1], /not_yet/);
  assert.equal(moment(61_002_500), "1:01.002");
});

test("a member that restarts stays chosen in its next life, and one that is gone does not", () => {
  const group = { members: { c1: { consumer: "c1" }, "c2~2": { consumer: "c2" } } };
  assert.equal(stillChosen("c2", "c2", group), "c2~2");
  assert.equal(stillChosen("c1", "c1", group), "c1");
  assert.equal(stillChosen("c3", "c3", group), null);
  assert.equal(stillChosen(COORDINATOR, null, group), COORDINATOR);
  assert.equal(stillChosen(null, null, group), null);
});

test("the tables have a row for each thing in the pictures", () => {
  for (const view of ALL) {
    assert.equal(
      membersTable(view.group, view.consumers, view.at_us, say).rows.length,
      Object.keys(view.group.members).length,
    );
    assert.equal(
      partitionsTable(view.group, view.group_health, {}, say).rows.length,
      Object.keys(view.group.partitions).length,
    );
    for (const table of [
      messagesTable(view.group, say), membersTable(view.group, view.consumers, view.at_us, say),
      partitionsTable(view.group, view.group_health, {}, say),
    ]) {
      for (const row of table.rows) {
        assert.ok(
          row.length === table.head.length &&
            row.every((text) => typeof text === "string" && !/undefined|NaN/.test(text)),
          row.join(),
        );
      }
    }
  }
  assert.equal(statesList(CLASSIC, "Stable", say).length, CLASSIC.transitions.length + 1);
  assert.equal(runs([3, 1, 2, 7], () => "、"), "1–3、7");
});

test("a trend needs some seconds", () => {
  assert.equal(direction([1, 2]), null);
  assert.equal(direction([10, 10, 11, 10, 10, 10]), "level");
  assert.equal(direction([0, 5, 10, 20, 30, 40]), "up");
  assert.equal(direction([40, 30, 20, 10, 5, 0]), "down");
  const line = (from, step, count = 60) => Array.from({ length: count }, (_, second) => from + step * second);
  for (const from of [0, 40, 2_000, 1e7]) for (const step of [0.2, 1, 30]) for (const count of [12, 30, 60]) {
    assert.equal(direction(line(from, step, count)), "up", `${from} + ${step}`);
    assert.equal(direction(line(from, step, count).reverse()), "down");
  }
  for (const from of [0, 40, 2_000, 1e7]) assert.equal(direction(line(from, 0)), "level");
});

test("what comes in between two commits is no trend, and growth below it is one", () => {
  for (const commits of [2, 5, 7]) {
    for (const base of [0, 3_000]) {
      for (let phase = 0; phase < commits; phase += 1) {
        for (let count = 12; count <= 40; count += 1) {
          const lags = (growth) =>
            Array.from(
              { length: count },
              (_, second) => base + Math.round(growth * second) + 4 * ((second + phase) % commits),
            );
          if (count >= 3 * commits) {
            assert.equal(direction(lags(0)), "level", `${commits} s, phase ${phase}, ${count} values`);
          }
          if (count >= 30) assert.equal(direction(lags(2)), "up");
        }
      }
    }
  }
  const noise = Array.from({ length: 60 }, (_, second) => 500 + ((second * 7919) % 23) - 11);
  assert.equal(direction(noise), "level");
});

test("the names of members over the grid stand apart: where one is too long for its column all go by their " +
  "numbers", () => {
  const c1 = rest.group.members.c1, keys = Array.from({ length: 13 }, (_, place) => `c${place + 1}`);
  const heads = (count) => {
    const members = keys.slice(0, count).map((key) => [key, { ...c1, consumer: key }]);
    return cells(
      { ...rest, group: { ...rest.group, members: Object.fromEntries(members) } },
      { members, available: 820 },
    ).shapes.filter(({ id }) => id.startsWith("name-"));
  };
  for (const count of [3, 13]) {
    const names = heads(count);
    names
      .slice(1)
      .forEach((name, place) =>
        assert.ok(name.x - names[place].x >= (name.text.length + names[place].text.length) * 3.5 + 3),
      );
    assert.equal(new Set(names.map(({ text }) => text.startsWith("c"))).size, 1);
  }
  assert.equal(heads(3)[0].text, "c1");
});

test("no trend is told of a lag that nobody knows, in the grid and in the table", () => {
  const lags = Object.fromEntries(Object.keys(rest.group.partitions).map((number) => [number, [0, 5, 10, 20, 30, 40]]));
  const trends = (view) =>
    cells(view, { lags }).shapes.filter(({ id, tag }) => id.startsWith("trend-") && tag === "path");
  const column = (view) => new Set(partitionsTable(view.group, view.group_health, lags, say).rows.map((row) => row[9]));
  assert.ok(trends(rest).length > 0);
  assert.deepEqual([...column(rest)].map((said) => codesIn(said)), [["groups.trend.up"]]);
  assert.equal(trends(nobody).length, 0);
  assert.deepEqual([...column(nobody)], ["–"]);
});

test("the trend is what the lab has kept, whenever the page was opened", () => {
  const history = { 9: [0], 10: [2, 1], 11: [3, 0], 12: [9, 4] };
  assert.deepEqual(lagsOf({ history, partitions: { 0: {}, 1: {} } }), { 0: [0, 2, 3, 9], 1: [1, 0, 4] });
  assert.deepEqual(lagsOf({ partitions: { 0: {} } }), { 0: [] }, "a view from before the lab kept it");
});

test("nobody: the chart says so", () => assert.ok(chart(empty).shapes.some(({ id }) => id === "nothing")));

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
  assert.deepEqual(findingsOf(one.group, { findings: [] }, 0, english), [{ text: words, until: "" }]);
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

test("all groups of the topic have a row, with what their consumers read and have handled", () => {
  const other = {
    state: "Stable", lag: 7,
    consumers: { "audit-1": { partitions: [0, 1], finished: 30 }, "audit-2": { partitions: [2], finished: 12 } },
  };
  const led = { owner: "c1", leader: 1 };
  const mine = { consumer: "c1", condition: "running", failed: null, owned: [0, 1, 2], finished: 40 };
  const group = {
    group_id: "lab", topic: "flights", state: "Stable", partitions: { 0: led, 1: led, 2: led },
    members: { c1: mine, gone: { ...mine, consumer: "c2", condition: "crashed", finished: null } },
    groups: { audit: other, late: { ...other, state: null, consumers: {} } },
  };
  assert.deepEqual(othersTable(group, null, String).rows.map((row) => row.map((cell) => cell.trim())), [
    ["lab", "Stable", "40", "–"], ["c1", "0–2", "40", ""], ["c2", "–", "–", ""],
    ["audit", "Stable", "42", "7"], ["audit-1", "0–1", "30", ""], ["audit-2", "2", "12", ""], ["late", "–", "0", "7"],
  ]);
});

test("the row of the lane as it is now", () => {
  assert.deepEqual(
    [
      ["classic", "sticky"], ["classic", "custom"], ["consumer", "uniform"], ["consumer", "range"],
    ].map(([protocol, assignor]) => ownRow({ protocol, assignor }, "sticky")),
    ["sticky", "custom", "consumer", "consumer_range"],
  );
});

test("a read_committed group has its lag up to the last stable offset beside the other one", () => {
  const group = { ...committed.group, also: committed.group_topics }, refunds = group.also.refunds.partitions[0];
  assert.ok(refunds.high_watermark > refunds.stable && refunds.stable_lag === 0);
  assert.ok(
    gridWords(group, committed.group_health, say).includes(
      `groups.grid_open ${JSON.stringify({ lag: committed.group_health.stable_lag, hidden: refunds.lag })}`,
    ),
  );
  assert.ok(
    gridWords(committed.group, committed.group_health, say).includes("groups.grid_stable"),
    "the own topic has no transactions",
  );
  assert.ok(sub(group, say).includes("groups.sub_committed") && !sub(rest.group, say).includes("groups.sub_committed"));
  const table = partitionsTable(group, committed.group_health, {}, say);
  const plain = partitionsTable(rest.group, rest.group_health, {}, say);
  assert.equal(table.head.length, table.terms.length);
  assert.equal(table.head.length, plain.head.length + 2);
  assert.ok(
    table.rows.every((row) => row.length === table.head.length) &&
      plain.rows.every((row) => row.length === plain.head.length),
  );
  assert.equal(cells({ ...committed, group }).shapes.find(({ id }) => id === "stable_lag-refunds-0").text, "0");
  assert.equal(cells(rest).shapes.some(({ id }) => id.startsWith("stable")), false);
});

test("on a phone no word of a message is cut", () => {
  const plain = (code, params = {}) =>
    code.startsWith("groups.note.") ? `generation ${params.number}, leader` : code === "list.comma" ? ", " : code;
  for (const view of ALL) {
    for (const { id, text, tag } of chart(view, { available: 332, isPhone: true, say: plain }).shapes) {
      if (tag === "text") assert.doesNotMatch(text, /…$/, `${id} ${text}`);
    }
  }
});

// A group of 40 with a folded row of heartbeats and commits, as the chart has it.
const crowded = (count) => {
  const exchange = Object.values(rest.group.exchanges).find(({ quiet }) => quiet) ?? {
    ...Object.values(rest.group.exchanges)[0], quiet: true,
  };
  const names = Array.from({ length: count }, (_, place) => `c${place + 1}`), last = rest.at_us;
  const said = Object.fromEntries(
    ["heartbeat", "commit"].flatMap((kind, at) =>
      names.map((member, place) => [1000 * at + place, { ...exchange, kind, member, sent_us: last, quiet: true }]),
    ),
  );
  const group = {
    ...rest.group,
    members: Object.fromEntries(names.map((name) => [name, { ...rest.group.members.c1, consumer: name }])),
    exchanges: said, timers: {},
  };
  return {
    ...rest, group, consumers: Object.fromEntries(names.map((name, order) => [name, { ...rest.consumers.c1, order }])),
  };
};

const plainly = (code, params = {}) =>
  code.startsWith("groups.note.") ? `generation ${params.number}` : code === "list.comma" ? ", " : code;

test("the words of a row are whole and end before the first lifeline, with few members and many, " +
  "also on a phone", () => {
  for (const view of [...ALL, crowded(3), crowded(13), crowded(40)]) {
    for (const [available, isPhone] of [
      [332, true], [960, false], [1010, false],
    ]) {
      for (const isFolded of [true, false]) {
        const { shapes } = chart(view, { available, isPhone, isFolded, height: 2000, say: plainly });
        const words = shapes.filter(({ id }) => /^(title|title-more|row-note)-/.test(id));
        const dots = shapes
          .filter(({ id }) => /^(dot|parked)-/.test(id) && !id.startsWith("parked-words"))
          .map(({ cx, x }) => cx - 5 || x);
        for (const { id, x, text, class: name } of words) {
          assert.ok(
            x + text.length * (/ n |^n /.test(name) ? 7.9 : name.includes(" b") ? 8.7 : 6.8) <=
              Math.min(Infinity, ...dots),
            `${id} ${text}`,
          );
          assert.doesNotMatch(text, /…$/);
        }
        const rows = words.filter(({ id }) => id.startsWith("title-") && !id.startsWith("title-more"));
        for (const { id, title } of rows) {
          assert.equal(
            words
              .filter((word) => word.id === id || word.id.startsWith(id.replace("title-", "title-more-") + "-"))
              .map(({ text }) => text)
              .join("")
              .replace(/\s/g, ""),
            title.replace(/\s/g, ""),
          );
        }
      }
    }
  }
});

test("with 40 members the figures of the partitions are in view, and no number over the columns meets another", () => {
  const view = crowded(40), made = cells(view, { available: 1010 });
  const heads = made.shapes.filter(({ id }) => id.startsWith("name-"));
  check(made.shapes);
  assert.equal(made.width, 1010);
  assert.ok(heads.length >= 10 && heads.length <= 40);
  heads
    .slice(1)
    .forEach(({ x, text }, place) => assert.ok(x - heads[place].x >= (text.length + heads[place].text.length) * 3.75));
  for (const shape of made.shapes) if (shape.class?.startsWith("cell-of")) assert.ok(shape.width >= 5);
});

test("what is out of sight at the right is counted", () => {
  const at = (scrollLeft) => hiddenOf([100, 200, 300, 400], { scrollLeft, clientWidth: 250 });
  assert.deepEqual([at(0), at(60), at(200)], [2, 1, 0]);
  assert.equal(chart(crowded(40), { available: 960 }).columns.length, 40);
});

test("words break where they may", () => {
  assert.deepEqual(broken("Heartbeat ×66, OffsetCommit ×12", 120, 6.8), ["Heartbeat ×66,", "OffsetCommit ×12"]);
  assert.deepEqual(broken("Heartbeat ×66、OffsetCommit ×12", 120, 6.8), ["Heartbeat ×66、", "OffsetCommit ×12"]);
  assert.deepEqual(broken("REBALANCE_IN_PROGRESS", 110, 7.9), ["REBALANCE_IN_", "PROGRESS"]);
  assert.deepEqual(broken("ConsumerGroupHeartbeat ×3", 120, 8.8), ["ConsumerGroup", "Heartbeat ×3"]);
  assert.deepEqual(broken("JoinGroup", 300, 8.8), ["JoinGroup"]);
});

test("what an answer comes to is said in the page's language", () => {
  assert.equal(noteWords("generation 12", say), 'groups.note.generation {"number":12}');
  assert.equal(noteWords("generation 3 leader", say), 'groups.note.generation_leader {"number":3}');
  assert.equal(noteWords("epoch -2 flights: 0–3", say), 'groups.note.epoch {"number":-2} flights: 0–3');
  assert.equal(noteWords("flights: 0–3", say), "flights: 0–3");
  for (const view of ALL) {
    for (const { tag, text } of chart(view).shapes) {
      if (tag === "text") assert.doesNotMatch(text, /^(generation|epoch) -?\d/);
    }
  }
});

test("the seconds that are left stand apart: with their units where all have room, else as seconds alone", () => {
  const short = (code) => ({ second: "s", minute: "min" })[code] ?? code;
  const names = Array.from({ length: 6 }, (_, place) => `c${place}`);
  const members = Object.fromEntries(names.map((name) => [name, { consumer: name, condition: "running" }]));
  for (const pitch of [34, 44, 60, 120]) {
    const timers = Object.fromEntries(
      names.map((name, place) => [
        `session:${name}`, { member: name, kind: "session", until_us: place ? 660e6 : 45e6, of_us: 700e6 },
      ]),
    );
    const at = {
      columns: Object.fromEntries(names.map((name, place) => [name, 100 + place * pitch])), pitch, now: 300,
      coordinator: 20,
    };
    const labels = rings({ members, timers }, at, { atUs: 0, say: short }).filter(({ id }) => id.startsWith("left-"));
    assert.equal(labels.length, 6);
    labels
      .slice(1)
      .forEach(({ x, text }, place) =>
        assert.ok(
          x - labels[place].x >= (widthOf(text) + widthOf(labels[place].text)) / 2,
          `${labels[place].text}${text} at ${pitch}`,
        ),
      );
    assert.deepEqual(
      [...new Set(labels.map(({ text }) => text))],
      pitch >= 60 ? ["45\u202fs", "11\u202fmin"] : ["45", "660"],
    );
  }
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
      ["group_reset_offsets", "cluster_send_record"], ["group_reset_offsets", "cluster_send_record"],
    ],
  );
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
      ["many", undefined], [undefined, undefined],
    ],
    "the server says what is wrong with it",
  );
  assert.equal(orders("c1", "").at(-1).args.offset, null);
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
