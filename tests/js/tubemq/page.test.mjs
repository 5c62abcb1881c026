// The TubeMQ page's pictures, words and forms over views of real lanes: every state has a story, nothing is drawn
// outside its picture, every cause has its words, what is typed becomes arguments.
import assert from "node:assert/strict";
import test from "node:test";

import { FieldError } from "../../../static/js/base/field_errors.js";
import * as brokers from "../../../static/js/tubemq/brokers.js";
import { CALLS, DEFAULTS, answerWords, argsOf, orderOf, wholeAnswer } from "../../../static/js/tubemq/calls.js";
import { linesOf, placed, shortKey, tallOf, widthOf } from "../../../static/js/tubemq/chips.js";
import * as difference from "../../../static/js/tubemq/difference.js";
import * as first from "../../../static/js/tubemq/first_record.js";
import { FORMS, argsOf as orderArgs } from "../../../static/js/tubemq/forms.js";
import { verbsOf } from "../../../static/js/tubemq/verbs.js";
import {
  brokerWords, clientTable, differenceWords, fightsOf, foldedWords, ownState, partitionTable, queryTable, ruleWords,
  story, unreadOf, whyWords,
} from "../../../static/js/tubemq/words.js";
import { load, say } from "../fixtures/load.mjs";
import { check } from "../pulsar/known.mjs";

const VIEWS = load("tubemq"), WIDTHS = [358, 600, 860, 1000];
const [WELL, CRASHED, OLD_MAP, OFFLINE, STARTING, NOBODY, CROWD, MANY] = VIEWS;
const panelOf = (view) => view.lanes.tubemq.tubemq;
const told = (view) => story(panelOf(view), view.at_us, say);
const colorOf = (view) => (name) => view.lanes.tubemq.consumers[name]?.color ?? null;
const drawn = (view, width, picture, more = {}) => {
  const panel = panelOf(view);
  const words = picture === difference ? differenceWords(panel, view.at_us, say) : brokerWords(panel, view.at_us, say);
  return picture.layout(panel, { width, atUs: view.at_us, colorOf: colorOf(view), words, ...more });
};
const changed = (view, change) => {
  const copy = structuredClone(view);
  change(panelOf(copy));
  return copy;
};

test("every state has its story", () => {
  const codes = VIEWS.map((view) => told(view)[0].split(" ")[0]);
  assert.deepEqual(codes, [
    "balance.head.well", "balance.head.unread", "balance.head.offline", "balance.head.offline", "balance.head.unread",
    "balance.head.nobody", "balance.head.well", "balance.head.well",
  ]);
  assert.match(told(CRASHED)[1], /balance.unread.client_crashed .*"consumer":"c2".*balance.unread.let_go/);
  const refused = changed(WELL, ({ clients: { c3 } }) => Object.assign(c3, { state: "refused", refused_code: 429 }));
  assert.match(told(refused).join(" "), /balance.head.refused .*429.*balance.code.429/);
  const dead = changed(WELL, ({ masters }) => Object.values(masters).forEach((each) => (each.condition = "crashed")));
  assert.match(told(dead)[0], /balance.head.no_master/);
});

test("two clients that want one partition are named with it", () => {
  const fight = changed(WELL, ({ partitions }) => {
    const [key] = Object.keys(partitions);
    Object.assign(partitions[key], { owner: "c1", takers: ["c1", "c4"], refused: ["c4"] });
  });
  assert.equal(fightsOf(panelOf(fight)).length, 1);
  assert.match(told(fight)[0], /balance.head.fight .*"owner":"c1","rival":"c4"/);
  const says = (view, code) => drawn(view, 860, brokers).shapes.some(({ text }) => code.test(text ?? ""));
  assert.ok(says(fight, /balance.fought/));
  const soon = changed(fight, ({ partitions }) => (Object.values(partitions)[0].refused = []));
  assert.ok(says(soon, /balance.rivalled .*"rival":"c4"/) && !says(soon, /balance.fought/), "410 comes with its pass");
  const again = changed(soon, ({ clients: { c4 }, partitions }) =>
    Object.assign(c4, { pass: { registers: [], refused: { [Object.keys(partitions)[0]]: 410 } } }));
  assert.ok(says(again, /balance.fought/), "it was refused, and asks again with its next pass");
  const closed = changed(WELL, ({ partitions, brokers: all }) => {
    all[1].is_black_listed = true;
    for (const key of all[1].partitions) partitions[key].is_subscribable = false;
  });
  assert.ok(says(closed, /balance.owner_but .*black_listed/), "its owner reads on until its map says so");
  assert.equal(fightsOf(panelOf(WELL)).length, 0);
});

test("a client fights neither with its own dead process nor with another client's", () => {
  const ghost = (owner, takers, refused) => changed(WELL, ({ partitions }) => {
    const cause = { code: "ghost", consumer: takers[0], node_id: 0, owner, until_us: 99e9 };
    Object.assign(Object.values(partitions)[0], { owner, is_ghost: true, takers, refused, unread: cause });
  });
  for (const view of [ghost("c1", ["c1"], ["c1"]), ghost("c1", ["c1"], []), ghost("c1", ["c4"], ["c4"])]) {
    assert.equal(fightsOf(panelOf(view)).length, 0);
    assert.match(told(view)[0], /^balance.head.unread /);
    assert.match(told(view)[1], /^balance.unread.ghost .*"owner":"c1".*balance.unread.broker_lets_go/);
    const texts = drawn(view, 860, brokers).shapes.map(({ text }) => text ?? "");
    assert.ok(texts.some((text) => /owner_but .*brief.ghost/.test(text)) && !texts.some((text) => /fought/.test(text)));
  }
  const free = changed(WELL, ({ partitions }) =>
    Object.assign(Object.values(partitions)[0], { owner: null, takers: ["c1"], refused: ["c1"] }));
  assert.equal(fightsOf(panelOf(free)).length, 0, "one client alone");
  assert.match(told(ghost("c1", ["c1", "c4"], ["c1"]))[0], /^balance.head.wanted /, "two that live");
});

test("whom its master refuses fights with no client, and is named as refused", () => {
  const refused = changed(WELL, ({ clients, partitions }) => {
    Object.assign(clients.c4, { state: "refused", refused_code: 429 });
    Object.values(partitions)[0].takers = ["c1", "c4"];
  });
  assert.equal(fightsOf(panelOf(refused)).length, 0);
  assert.ok(!drawn(refused, 860, brokers).shapes.some(({ text }) => /balance.fought/.test(text ?? "")));
  const own = changed(WELL, ({ clients: { c3 } }) => Object.assign(c3, {
    state: "refused", refused_code: 400, is_own_refusal: true,
  }));
  assert.match(told(own)[1], /balance.sub.refused_start .*balance.code.400/);
});

test("of two clients with one node id the arithmetic names the one that reads, and the head names all refused", () => {
  const [key, { owner }] = Object.entries(panelOf(WELL).partitions)[0];
  const other = Object.keys(panelOf(WELL).clients).find((name) => name !== owner);
  const twins = (state, isOwned) => changed(WELL, ({ clients, partitions }) => {
    const { node_id: node } = clients[owner], first = { ...clients[other], node_id: node, state, refused_code: 430 };
    for (const name of Object.keys(clients)) if (name !== owner) delete clients[name];
    const own = clients[owner];
    delete clients[owner];
    Object.assign(clients, { [other]: first, [owner]: own });
    if (!isOwned) partitions[key].owner = null;
  });
  for (const view of [twins("refused", true), twins("refused", false), twins("started", true)]) {
    assert.match(whyWords(panelOf(view), key, null, 0, say), new RegExp(`balance.arithmetic .*"consumer":"${owner}"`));
  }
  const two = changed(WELL, ({ clients: { c2, c3 } }) => {
    Object.assign(c2, { state: "refused", refused_code: 430 });
    Object.assign(c3, { state: "refused", refused_code: 429 });
  });
  assert.match(told(two)[0], /refused .*"c2","code":430.*refused .*"c3","code":429/);
  assert.match(told(two)[1], /balance.code.430.*balance.code.429/);
  const crowd = changed(WELL, ({ clients: { c1 }, clients }) => {
    for (const name of ["c1", "c2", "c3", "c5"]) clients[name] = { ...c1, state: "refused", refused_code: 430 };
  });
  assert.match(told(crowd)[0], /^balance.head.refused_many .*"count":4,"consumer":"c1","code":430/);
});

test("what an outage moves follows from the rule, the set it shares out and who balances", () => {
  const outage = (rule) => {
    const view = changed(OFFLINE, (panel) => Object.assign(panel.rule, rule));
    const panel = panelOf(view), isDown = ([, { unread }]) => unread.code === "broker_offline";
    const [key, { unread }] = unreadOf(panel).find(isDown);
    return [told(view)[1], whyWords(panel, key, unread, view.at_us, say)];
  };
  for (const [rule, code] of [
    [{ id: "modulo", over: "subscribable" }, "kept"], [{ id: "by_lag", over: "configured" }, "kept"],
    [{ id: "by_lag", over: "subscribable" }, "moved"], [{ id: "modulo", over: "subscribable", own: "x" }, "moved"],
    [{ id: "server", over: "subscribable" }, "served"], [{ id: "article", over: "configured" }, "served"],
  ]) {
    const [head, why] = outage(rule);
    assert.match(head, new RegExp(`balance.offline.${code} `));
    assert.match(why, new RegExp(`balance.offline_key.${code} `));
  }
});

test("who works the shares out follows from the rule", () => {
  const sub = (rule) => told(changed(WELL, (panel) => Object.assign(panel.rule, rule)))[1].split(" ")[0];
  assert.deepEqual(
    [{}, { id: "sticky" }, { id: "by_lag" }, { own: "def" }, { id: "server" }, { id: "article" }].map(sub),
    ["well", "dealt", "dealt", "dealt", "served", "served"].map((code) => `balance.sub.${code}`),
  );
});

test("a list by hand is named at its client, and no arithmetic stands where every client has one", () => {
  const one = changed(WELL, ({ clients: { c1 } }) => (c1.by_hand = true));
  assert.match(told(one)[1], /^balance.sub.hand /);
  assert.match(ruleWords(panelOf(one), say), /^balance.rule.modulo /);
  const { node } = differenceWords(panelOf(one), one.at_us, say), { c1, c2 } = panelOf(one).clients;
  assert.deepEqual([node(c1), node(c2)], ["#0 balance.by_list {}", "#1"]);
  const all = changed(WELL, ({ clients }) => Object.values(clients).forEach((each) => (each.by_hand = true)));
  assert.match(ruleWords(panelOf(all), say), /^balance.rule.hand /);
  const [key] = Object.keys(panelOf(all).partitions), why = (code) =>
    whyWords(panelOf(all), key, { code, consumer: "c1", node_id: 0 }, all.at_us, say);
  assert.ok(!why("lists_without").includes("balance.arithmetic") && why("list_without").includes("balance.arithmetic"));
});

test("beside an outage what else is not read is counted, and a dealt share has no node id", () => {
  const both = changed(OFFLINE, ({ partitions }) => {
    const [read] = Object.values(partitions).filter(({ unread }) => unread === null);
    read.unread = { code: "client_crashed", consumer: "c1", node_id: -2, until_us: 9e6 };
  });
  assert.match(told(both)[1], /balance.sub.others {"count":1}/);
  assert.ok(!told(OFFLINE)[1].includes("balance.sub.others"));
  const [key, { unread }] = unreadOf(panelOf(both)).find(([, each]) => each.unread.code === "client_crashed");
  assert.match(whyWords(panelOf(both), key, unread, 0, say), /^balance.unread.client_crashed_dealt /);
});

test("readers are those who own a partition, whoever else runs", () => {
  const idle = changed(WELL, ({ partitions }) => Object.values(partitions).forEach((each) => (each.owner = "c1")));
  assert.match(told(idle)[0], /balance.head.well .*"clients":1}/);
});

test("pictures stay in their frame at every width, with ids of their own", () => {
  for (const view of VIEWS) for (const width of WIDTHS) for (const picture of [difference, brokers]) {
    const { shapes, height } = drawn(view, width, picture);
    check(shapes.filter(({ tag, width: wide }) => tag !== "rect" || wide > 0));
    for (const { id, tag, x, y, width: wide = 0, height: tall = 0 } of shapes) {
      const isIn = x >= 0 && x + wide <= width + 0.01 && y + tall <= height + 0.01;
      if (tag === "rect") assert.ok(isIn, `${id} at ${width}`);
      if (tag === "text") assert.ok(x >= 0 && x <= width && y <= height, `${id} at ${width}`);
    }
  }
});

test("a client's row shows what it would take, has, releases and registers", () => {
  const open = changed(OFFLINE, ({ clients: { c1 } }) => {
    c1.releases = [c1.takes[0]];
    c1.registers = ["2:flights:0"];
  });
  const { shapes } = drawn(open, 860, difference), looks = (prefix) =>
    shapes.filter(({ id }) => id.startsWith(`c1/${prefix}/`) && id.endsWith("/box")).map((each) => each.class);
  const { clients: { c1 }, partitions } = panelOf(open);
  assert.deepEqual(looks("takes"), c1.takes.map((key) => `chip ${c1.closed.includes(key) ? "void" : "has"}`));
  assert.ok(looks("takes").includes("chip void"), "what is assigned and not subscribable is hatched");
  assert.deepEqual([looks("releases"), looks("registers")], [["chip goes"], ["chip comes"]]);
});

test("of many clients those with nothing to do are counted, of many partitions those that are read", () => {
  const { shown, folded } = difference.rowsOf(panelOf(CROWD).clients);
  assert.equal(shown.length, difference.ROWS_MOST);
  assert.equal(shown.length + folded.length, Object.keys(panelOf(CROWD).clients).length);
  const busy = changed(CROWD, ({ clients: { c20 } }) => (c20.registers = ["1:flights:0"]));
  assert.ok(difference.rowsOf(panelOf(busy).clients).shown.includes("c20"));
  const { clients } = panelOf(CROWD), holding = (names) => names.filter((name) => clients[name].has.length);
  assert.ok(difference.rowsOf(clients, folded[0]).shown.includes(folded[0]), "the selected one has a row");
  assert.ok(!holding(folded).length || holding(shown).length === shown.length, "who reads comes before who does not");
  const late = shown.find((name) => clients[name].has.length);
  const starting = changed(CROWD, (panel) => folded.forEach((name) => (panel.clients[name].state = "starting")));
  const reading = difference.rowsOf(panelOf(starting).clients).shown;
  assert.ok(reading.includes(late), "who reads comes before who starts");
  assert.equal(reading.filter((name) => clients[name].has.length).length, holding(shown).length);
  const counted = foldedWords({ clients }, folded, say);
  assert.match(counted, /^balance.folded {"count":4,/);
  const parts = [...counted.matchAll(/"count\\?":(\d+)/g)].slice(1).map(([, count]) => Number(count));
  assert.equal(parts.reduce((sum, count) => sum + count, 0), 4);
  const many = changed(CROWD, (panel) => Object.values(panel.clients).forEach((each) => (each.registers = ["1:t:0"])));
  const busyFolded = foldedWords(panelOf(many), difference.rowsOf(panelOf(many).clients).folded, say);
  assert.match(busyFolded, /^balance.folded {"count":4,"parts":"balance.rest.busy {.*4}"}/);
  assert.equal(foldedWords({ clients }, [], say), "");
  const { partitions, brokers: all } = panelOf(MANY), keys = all[1].partitions;
  const unread = changed(MANY, (panel) => (panel.partitions[keys.at(-1)].unread = { code: "no_client" }));
  assert.equal(brokers.rowsOf(keys, partitions).shown.length, brokers.ROWS_MOST);
  assert.ok(brokers.rowsOf(keys, panelOf(unread).partitions).shown.includes(keys.at(-1)));
});

test("a partition that is not read says why, one that is read says by whom", () => {
  for (const view of VIEWS) for (const [key, { unread, owner }] of Object.entries(panelOf(view).partitions)) {
    const words = whyWords(panelOf(view), key, unread, view.at_us, say);
    assert.match(words, unread ? new RegExp(`^balance.unread.${unread.code} `) : /^balance.unread.none /);
    if (!unread) assert.ok(words.includes(`"consumer":"${owner}"`));
  }
  const [[key, { hash, node, owner }]] = Object.entries(panelOf(WELL).partitions);
  const sum = `balance.arithmetic ${JSON.stringify({ hash, count: 4, node, consumer: owner })}`;
  assert.ok(whyWords(panelOf(WELL), key, null, 0, say).endsWith(sum) && hash % 4 === node);
  assert.equal(unreadOf(panelOf(WELL)).length, 0);
  assert.ok(unreadOf(panelOf(CRASHED)).length > 0);
});

test("one picture has one source count, the group's; a client with another states its own", () => {
  const key = (view) => Object.keys(panelOf(view).partitions).find((each) => panelOf(view).partitions[each].node === 1);
  const cause = (count) => ({ code: "not_given", node: 1, group_count: 4, consumer: "c2", count });
  const other = (sourceCount, nodeId, count) => changed(WELL, ({ clients: { c2 }, partitions }) => {
    Object.assign(c2, { state: "refused", refused_code: 429, source_count: sourceCount, node_id: nodeId });
    for (const each of Object.values(partitions)) if (each.node === 1) each.unread = cause(count);
  });
  const wrong = other(5, 1, 5), off = other(-2, -2, -1);
  for (const [view, count] of [[wrong, 5], [off, -1]]) {
    const words = whyWords(panelOf(view), key(view), cause(count), view.at_us, say);
    assert.match(words, /^balance.unread.not_given .*"node":1,"group_count":4/);
    const counts = JSON.stringify(cause(count)).replace('"code":"not_given",', "");
    assert.ok(words.includes(`balance.unread.counts ${counts}`));
    assert.match(words, /balance.arithmetic_nobody .*"count":4,"node":1/);
  }
  const alone = { code: "not_given", node: 1, group_count: 4 };
  assert.ok(!whyWords(panelOf(wrong), key(wrong), alone, 0, say).includes("balance.unread.counts"));
  const head = (view, name) => differenceWords(panelOf(view), view.at_us, say).node(panelOf(view).clients[name]);
  assert.deepEqual([head(wrong, "c2"), head(off, "c2"), head(wrong, "c1")], [
    '#1 balance.own_count {"count":5}', 'balance.own_count_off {"count":-2}', "#0",
  ]);
  const node = (view, name) => clientTable(panelOf(view), view.at_us, say).rows.find(([each]) => each === name)[1];
  assert.deepEqual([node(wrong, "c2"), node(wrong, "c1")], ["1/5", "0/4"]);
  assert.match(node(off, "c2"), /^balance.own_count_off /);
  const title = (view, name) => differenceWords(panelOf(view), view.at_us, say).title("takes", name, key(view));
  assert.match(title(wrong, "c2"), /^balance.title.own_count .*"count":5/);
  assert.match(title(wrong, "c1"), /^balance.title.takes /);
  for (const rule of [{ id: "sticky" }, { id: "server" }, { own: "def" }]) {
    const dealt = changed(wrong, (panel) => Object.assign(panel.rule, rule, { source_count: -1 }));
    assert.equal(head(dealt, "c2"), "#1", "no count shares out there");
  }
  const unused = changed(off, (panel) => (panel.rule.source_count = -1));
  assert.deepEqual([head(unused, "c2"), head(unused, "c1")], ["", '#0 balance.own_count {"count":4}']);
});

test("a rule of one's own that fails says why and where, and that the shares before it hold", () => {
  const failed = { reason: "KeyError: 'x'", line: 2, code: "", params: {} };
  const state = (rule) => ownState({ own: null, failed: null, ...rule }, say), words = (rule) => state(rule).text;
  assert.match(words({ own: "def", failed }), /^balance.own.failed .*"line":2,"reason":"KeyError: 'x'"/);
  const steps = { reason: "took more than 5 steps", line: 0, code: "steps", params: { steps: 5 } };
  assert.match(words({ own: "def", failed: steps }), /^balance.own.failed_whole .*assignor.reason.steps/);
  assert.equal(words({ own: "def" }).split(" ")[0], "balance.own.runs");
  assert.equal(words({}).split(" ")[0], "balance.own.none");
  assert.deepEqual([state({ own: "def", failed }).isWrong, state({ own: "def" }).isWrong], [true, false]);
  assert.deepEqual([state({ own: "def" }).isOwn, state({}).isOwn], [true, false]);
  const rule = { id: "modulo", own: "def", failed, source_count: -1 };
  assert.match(ruleWords({ rule, clients: {} }, say), /balance.rule.own_failed/);
});

test("where the count is off the modulo is no arithmetic", () => {
  const off = { ...panelOf(WELL), rule: { id: "modulo", own: null, failed: null, source_count: -1 } };
  assert.match(ruleWords(off, say), /^balance.rule.off /);
  assert.equal(ruleWords(panelOf(NOBODY), say), "", "without a client there is no count");
  assert.match(ruleWords(panelOf(WELL), say), /^balance.rule.modulo .*4/);
});

test("chips wrap in their column, and what has no room is counted in the last place", () => {
  const keys = Array.from({ length: 9 }, (_, number) => `1:t:1000${number}`);
  const all = placed(keys, 200, linesOf(keys, keys.length, 200));
  assert.equal(all.rest, null);
  for (const { key, x } of all.places) assert.ok(x + widthOf(key) <= 200);
  const { places, rest } = placed(keys, 200, 2);
  assert.deepEqual([...places.map(({ key }) => key), ...rest.keys], keys);
  assert.ok(rest.y + 26 <= tallOf(2) && places.every(({ x, y }) => x !== rest.x || y !== rest.y));
  assert.deepEqual(placed([], 200, 1), { places: [], rest: null });
  assert.equal(shortKey("12:flights:10001"), "12:10001");
});

test("rows keep their height and place whoever has the partitions", () => {
  const frameOf = (view, width) => {
    const { shapes, height } = drawn(view, width, difference);
    return [height, shapes.filter(({ id }) => id.endsWith("/rule")).map(({ d }) => d)];
  };
  for (const width of WIDTHS) for (const view of [WELL, CROWD, MANY]) {
    const one = changed(view, ({ clients, partitions }) => {
      for (const client of Object.values(clients)) Object.assign(client, { takes: [], has: [] });
      Object.assign(Object.values(clients)[0], { takes: Object.keys(partitions), has: Object.keys(partitions) });
    });
    assert.deepEqual(frameOf(one, width), frameOf(view, width));
  }
  const { shapes } = drawn(WELL, 1000, difference), more = changed(WELL, ({ clients: { c1 }, partitions }) =>
    (c1.has = Object.keys(partitions)));
  assert.ok(!shapes.some(({ id }) => id.endsWith("/rest")));
  const [{ text, title }] = drawn(more, 1000, difference).shapes.filter(({ id }) => id === "c1/has/rest");
  assert.ok(/^\+\d+$/.test(text) && title.includes("balance.more_chips"));
});

test("the time to the first record stops with the record, and is counted until then", () => {
  const found = first.waits(panelOf(WELL).clients);
  assert.ok(found.every(({ us, isOver }) => isOver && us > 0 && us < 1e6), JSON.stringify(found));
  assert.ok(found.every(({ apart }) => apart.some(([what, us]) => what === "boot" && us > 300e3)));
  const late = changed(WELL, ({ clients: { c1 } }) =>
    Object.assign(c1.first, { is_over: false, us: 9e6, parts: [["cycle", 8e6], ["gainer", 1e6]] }));
  const [worst] = first.waits(panelOf(late).clients);
  assert.deepEqual([worst.name, worst.isOver], ["c1", false]);
  const words = {
    part: String, apart: String, wait: String, seconds: String,
    waiting: String, atMost: String, bound: "server-side", total: 69e6 };
  const lanes = [{ id: "tubemq", label: "", waits: found }];
  for (const width of WIDTHS) {
    const bound = { parts: [["cycle", 30e6], ["loser", 39e6]] };
    const { shapes } = first.layout(lanes, { width, bound, words, colorOf: colorOf(WELL) });
    check(shapes);
    for (const { x, width: wide = 0 } of shapes) assert.ok(x === undefined || x + wide <= width);
  }
  assert.equal(first.table(lanes, { words, say }).rows.length, found.length + 1);
});

test("each of the 17 calls has its last answer in words", () => {
  const { calls } = panelOf(WELL).clients.c1;
  assert.deepEqual(Object.keys(calls).sort(), Object.keys(CALLS).sort());
  assert.equal(Object.keys(CALLS).length, 17);
  for (const [call, answer] of Object.entries(calls)) {
    const { text, code } = answerWords(call, answer, say);
    assert.ok(!/undefined|null|\[object/.test(text + code), JSON.stringify(answer));
  }
  const told = (call, answer) => answerWords(call, { value: null, exception: "", why: "", ...answer }, say);
  assert.equal(told("connect2Partition", { code: 422, argument: "2:flights:1" }).look, "er");
  assert.equal(told("connect2Partition", { code: 200, argument: "2:flights:1, -1" }).text, "2:1, -1");
  assert.equal(told("getMessage", { code: 404, argument: "" }).text, "balance.code.404 {}");
  assert.equal(answerWords("connect2Partition", null, say).text, "balance.call.never {}");
  assert.equal(told("confirmConsume", { code: 400, argument: "2:flights:1:7" }).text, "2:flights:1:7");
  const thrown = told("confirmConsume", { code: null, exception: "NumberFormatException" });
  assert.deepEqual(thrown, { code: "", look: "er", text: "NumberFormatException" });
  assert.deepEqual(told("isPartitionsReady", { code: null, value: true }).text, "balance.yes {}");
  assert.deepEqual(told("shutdown", { code: null }), { code: "", look: "", text: "balance.call.void {}" });
});

test("the answer to a person's call stands whole, and names the check that refused", () => {
  const whole = (call, answer) =>
    wholeAnswer(call, answer && { code: 200, value: null, exception: "", why: "", argument: "", ...answer }, say);
  assert.match(whole("start", { code: 400, why: "running" }).text, /^balance.check.running/);
  assert.match(whole("connect2Partition", { code: 422 }).text, /^balance.code.422/);
  assert.match(whole("start", null).text, /^balance.answer.none/);
  const records = [{ key: "AA", offset: 28 }, { key: null, offset: 56 }];
  const batch = { partition: "1:t:0", curr_offset: 28, max_offset: 280, context: "1:t:0:7", count: 5, records };
  const { more, text } = whole("getMessage", { value: batch });
  assert.match(text, /balance.answer.batch .*"count":5/);
  assert.match(more[0], /"context":"1:t:0:7"/);
  assert.match(more[2], /^28 AA$/);
  assert.match(more.at(-1), /balance.answer.more .*3/);
  const map = whole("getPartitionMetaInfo", { value: { "1:t:0": true, "1:t:1": false } });
  assert.deepEqual(map.more.map((line) => line.split(" ")[0]), ["balance.answer.open", "balance.answer.closed"]);
  const info = whole("getCurPartitionOffsetInfos", { code: null, value: { "1:t:0": [28, 56, 15e6] } });
  assert.match(info.more[0], /"key":"1:t:0","offset":28,"end":56,"at":"0:15.0"/);
  assert.match(whole("getCurRegisteredPartSet", { code: null, value: ["1:t:0"] }).text, /^1:t:0$/);
});

test("what is typed becomes the arguments of the call", () => {
  const args = argsOf("connect2Partition", { partition: "1:t:0", offset: " -1 " });
  assert.deepEqual(args, { partition: "1:t:0", offset: -1 });
  assert.throws(() => argsOf("connect2Partition", { partition: "1:t:0", offset: "soon" }), FieldError);
  assert.deepEqual(orderOf("c1", "connect2Partition", args), {
    kind: "tubemq_call", consumer: "c1", args: { call: "connect2Partition", key: "1:t:0", number: -1, node_id: 0 },
  });
  const given = argsOf("confirmConsume", { context: "1:t:0:7", is_consumed: true });
  assert.deepEqual(orderOf("c1", "confirmConsume", given).args, {
    call: "confirmConsume", key: "1:t:0:7", number: 1, node_id: 0,
  });
  const started = argsOf("start", { topics: "t", filters: "a,b", source_count: "2", node_id: "0" });
  assert.equal(orderOf("c1", "start", started).args.filters, "a,b");
  assert.equal(argsOf("connect2Partition", { partition: " ", offset: "-1" }).partition, " ");
  assert.ok(Object.values(CALLS).flat().every(([name, kind]) => kind !== "number" || name in DEFAULTS));
});

test("orders leave out what is not typed, and say what is no number or no offset", () => {
  assert.deepEqual(orderArgs("restart", { source_count: " -1 ", node_id: "" }), { source_count: -1 });
  assert.deepEqual(orderArgs("assign", { partitions: "1:t:0, 2:t:1\n", bootstrap: "1:t:0=28" }), {
    partitions: ["1:t:0", "2:t:1"], bootstrap: { "1:t:0": 28 },
  });
  assert.deepEqual([orderArgs("by_rule", {}), orderArgs("failover", {})], [{}, {}]);
  assert.deepEqual(orderArgs("expand", { broker: "2", count: "6" }), { broker: 2, count: 6 });
  for (const [verb, values] of [
    ["restart", { source_count: "x", node_id: "" }], ["expand", { broker: "1", count: "" }],
    ["assign", { partitions: "", bootstrap: "1:t:0" }], ["assign", { partitions: "", bootstrap: "1:t:0=soon" }],
  ]) assert.throws(() => orderArgs(verb, values), FieldError, verb);
  assert.ok(Object.values(FORMS).every(({ kind }) => kind.startsWith("tubemq_")));
});

test("tables say the same as the pictures", () => {
  const panel = panelOf(CRASHED), clients = clientTable(panel, CRASHED.at_us, say);
  assert.equal(clients.rows.length, Object.keys(panel.clients).length);
  const partitions = partitionTable(panel, CRASHED.at_us, say);
  assert.equal(partitions.rows.filter((row) => row.at(-1)).length, unreadOf(panel).length);
  const query = queryTable(panel, say);
  assert.equal(query.rows.length, panel.query.members.length);
  for (const { head, rows } of [clients, partitions, query]) {
    for (const row of rows) assert.equal(row.length, head.length);
  }
  const pass = clients.head.indexOf("balance.twin.pass {}");
  assert.equal(clients.rows.find(([name]) => name === "c2")[pass], "–", "who has crashed has no next pass");
  for (const view of [STARTING, NOBODY]) clientTable(panelOf(view), view.at_us, say);
});

test("a client's verbs follow from its state", () => {
  const ids = (view, name) => verbsOf(view.lanes.tubemq, name, say).map(({ id }) => id);
  assert.deepEqual(ids(WELL, "c1"), ["join", "pause", "slow", "crash", "leave"]);
  assert.deepEqual(ids(CRASHED, "c2"), ["join", "rejoin", "leave"]);
  assert.deepEqual(ids(NOBODY, null), ["join"]);
});
