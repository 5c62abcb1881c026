// The page's words, rows and orders over views of real servers: every state has a story, no amount is undefined, what
// is typed becomes arguments.
import assert from "node:assert/strict";
import test from "node:test";

import { FieldError } from "../../../static/js/base/field_errors.js";
import { rateText } from "../../../static/js/base/say.js";
import { consumerRows, verbsOf } from "../../../static/js/rabbitmq/consumers.js";
import { countsOf, handedOver, lastMoment, risen } from "../../../static/js/rabbitmq/dots.js";
import { FORMS, argsOf, atFile, serverVerbs } from "../../../static/js/rabbitmq/forms.js";
import { layout } from "../../../static/js/rabbitmq/graph.js";
import { byGrowth, queueRows } from "../../../static/js/rabbitmq/queues.js";
import { ratesOf, seriesOf } from "../../../static/js/rabbitmq/rates.js";
import { layout as seriesLayout } from "../../../static/js/rabbitmq/series.js";
import { shapeOf, shownOf } from "../../../static/js/rabbitmq/shown.js";
import { tableOf } from "../../../static/js/rabbitmq/table_values.js";
import { fieldsWords, traceWords } from "../../../static/js/rabbitmq/trace_words.js";
import { sumWords } from "../../../static/js/rabbitmq/tried.js";
import { answerWords, bindingKey, graphWords, mayWords, story, waysTable } from "../../../static/js/rabbitmq/words.js";
import { load, say } from "../fixtures/load.mjs";
import { check } from "../pulsar/known.mjs";

const LANES = load("rabbitmq").map(({ lanes }) => lanes.rabbitmq);
const [WORK, ORDERS, FULL, DOWN, AGAIN, EMPTY, MANY, NOBODY, PRIORITIES, TRACED, REFUSES] = LANES;
const KINDS = { join: [], rabbitmq_settle: [] };
const codes = (texts) => texts.map((text) => text.split(" ")[0]);
const graphs = (lane) => Object.values(lane.rabbitmq.vhosts);
const told = (lane, vhost = "/") => {
  const graph = lane.rabbitmq.vhosts[vhost];
  return story(lane.rabbitmq, graph, ratesOf(lane.rabbitmq, vhost), say);
};

// A panel with these samples.
const kept = (history, limits = {}) => ({ history, flows: { exchanges: history, limits } });
const TAKES_ALL = { refused: 0, nacked: 0 };

test("every state has its story", () => {
  const heads = [told(WORK), told(ORDERS, "shop"), told(FULL, "shop"), told(DOWN, "shop"), told(EMPTY), told(NOBODY)];
  assert.deepEqual(codes(heads.map(([head]) => head)), [
    "topology.head.well", "topology.head.grows", "topology.head.alarm", "topology.head.down", "topology.head.nothing",
    "topology.head.grows",
  ]);
  assert.match(told(NOBODY)[0], /queue.growing.no_consumer/);
  assert.match(told(ORDERS, "shop")[1], /topology.sub.flow .* topology.cure./);
});

test("a queue that drops what comes in is not said to keep up", () => {
  const history = { 4: { "/\nrecords": [9, 1, 20, 4] }, 9: { "/\nrecords": [9, 1, 80, 24] } };
  const graph = WORK.rabbitmq.vhosts["/"], rates = ratesOf(kept(history), "/");
  assert.deepEqual(rates.records, { in: 12, acked: 4, growth: 0, lost: 8, ...TAKES_ALL });
  assert.match(story(WORK.rabbitmq, graph, rates, say)[0], /^topology.head.drops .*"rate":"8"/);
  assert.match(queueRows(graph, rates, null, say)[0].cells.at(-1).text, /^topology.rate.drops/);
  const letters = structuredClone(graph);
  letters.queues.records.dead_letters_to = "";
  assert.match(story(WORK.rabbitmq, letters, rates, say)[0], /^topology.head.dead_letters /);
  letters.queues.records.dead_letters_to = "not there";
  assert.match(story(WORK.rabbitmq, letters, rates, say)[0], /^topology.head.drops /);
  Object.assign(letters.queues.records, { is_delay: true, dead_letters_to: "" });
  assert.match(story(WORK.rabbitmq, letters, rates, say)[0], /^topology.head.well /);
});

const flowing = (exchanges, programs) => {
  const samples = (named, at) => Object.fromEntries(
    Object.entries(named).map(([name, rates]) => [name, rates.map((rate) => rate * at)]),
  );
  const panel = structuredClone(WORK.rabbitmq);
  panel.flows = {
    exchanges: { 4: { "/": samples(exchanges, 4) }, 9: { "/": samples(exchanges, 9) } },
    programs: { 4: { "/": samples(programs, 4) }, 9: { "/": samples(programs, 9) } },
    limits: {},
  };
  return panel;
};

test("what no queue gets is in the head, the picture and the table", () => {
  const panel = flowing({ animals: [12, 8, 0], "": [1, 0, 0] }, {}), graph = panel.vhosts["/"];
  graph.exchanges.animals = { ...graph.exchanges[""], name: "animals", type: "topic", dropped: 72 };
  const [head, sub] = story(panel, graph, {}, say);
  assert.match(head, /^topology.head.dropped .*animals.*"8"/);
  assert.match(sub, /topology.sub.published .*"13".*topology.sub.dropped .*"8"/);
  Object.assign(graph.queues.records, { growing: "no_consumer", growing_by: [] });
  assert.match(story(panel, graph, {}, say)[1], /topology.cure.no_consumer.*topology.head.dropped .*animals/);
  const { shapes } = layout(graph, { width: 900, colorOf: () => null, words: graphWords(say), chosen: null });
  assert.equal(shapes.find(({ id }) => id === "dropped-exchange:animals").text, "−72");
  assert.ok(waysTable(graph, say).rows.some(([what, from,,, count]) =>
    what.startsWith("topology.way.dropped") && from === "animals" && count === "72"));
  const given = { verb: "publish", exchange: "animals", routing_key: "x", unrouted: true };
  const answer = answerWords({ kind: "rabbitmq.operator.answered", inputs: {}, data: given }, say);
  assert.ok(answer.isBad && answer.text.startsWith("topology.answer.unrouted"));
});

test("copies, auto-acks and what is given back are not called acknowledged", () => {
  const [one, two] = WORK.order, rates = { a: { in: 12, acked: 0 }, b: { in: 12, acked: 0 } };
  const panel = flowing({ logs: [12, 0, 0] }, { [one]: [0, 14.4, 0, 0], [two]: [2, 0, 0, 0], left: [7, 0, 0, 0] });
  const [, sub] = story(panel, panel.vhosts["/"], rates, say);
  assert.match(sub, /sub.published {"rate":"12"}.*sub.copies {"rate":"24"}/);
  assert.match(sub, /sub.acked {"rate":"9","consumers":2}.*sub.given_back {"rate":"14.4"}/);
  const rows = consumerRows(WORK, panel, { chosen: null, vhost: "/" }, say);
  assert.match(rows[0].cells.at(-1).text, /^0.0.*topology.settled.given_back {"rate":"14.4"}/);
  assert.equal(rows[1].cells.at(-1).text, "2.0");
  const auto = flowing({ logs: [12, 0, 0] }, { [one]: [0, 0, 0, 12] });
  assert.match(story(auto, auto.vhosts["/"], {}, say)[1], /sub.auto {"rate":"12"}/);
  assert.doesNotMatch(story(auto, auto.vhosts["/"], {}, say)[1], /sub.acked/);
});

test("a queue that is full and has not dropped enough for a rate is at its limit, and does not keep up", () => {
  const panel = structuredClone(WORK.rabbitmq), graph = panel.vhosts["/"];
  graph.queues.records.is_full = true;
  assert.match(story(panel, graph, {}, say)[0], /^topology.head.full .*records/);
  assert.match(queueRows(graph, {}, null, say)[0].cells.at(-1).text, /^topology.full/);
  Object.assign(graph.queues.records, { is_full: false, has_changed: true, ready: 9 });
  assert.match(story(panel, graph, {}, say)[0], /^topology.head.changed .*records.*9/);
  graph.queues.records.ready = 0;
  assert.match(story(panel, graph, {}, say)[0], /^topology.head.well/);
});

test("a delay queue is not said to want a consumer", () => {
  const delayed = structuredClone(WORK.rabbitmq), { records } = delayed.vhosts["/"].queues;
  Object.assign(records, { ready: 9, growing: "", is_delay: true, dead_letters_to: "" });
  delayed.vhosts["/"].consumers = {};
  const graph = delayed.vhosts["/"];
  assert.doesNotMatch(story(delayed, graph, {}, say)[0], /head.left/);
  assert.match(queueRows(graph, {}, null, say)[0].cells.at(-1).text, /^topology.delays .*topology.default/);
  records.is_delay = false;
  assert.match(story(delayed, graph, {}, say)[0], /head.left/);
});

test("queues that grow stand first, and the slow consumer is named with its cause", () => {
  const { vhosts: { shop } } = ORDERS.rabbitmq, rates = ratesOf(ORDERS.rabbitmq, "shop");
  const names = byGrowth(shop, rates).map(({ name }) => name);
  const growth = (name) => (shop.queues[name].growing ? rates[name].growth : 0);
  assert.deepEqual(names.map(growth), names.map(growth).sort((one, other) => other - one));
  assert.equal(names[0], "pdf");
  const row = queueRows(shop, rates, { kind: "queue", name: "created" }, say).find(({ key }) => key === "created");
  assert.match(row.cells.at(-1).text, /^topology.grows .*at_prefetch/);
  assert.ok(row.isChosen && row.cells[6].names.includes("c3"));
  assert.ok(Math.abs(rates.created.in - rates.created.acked - rates.created.growth) < 1);
});

test("of a server that is down its disk is told, and no program is said to consume", () => {
  assert.match(told(DOWN, "shop")[1], /^topology.sub.down {"queues":[1-9]/);
  const rows = consumerRows(DOWN, DOWN.rabbitmq, { chosen: null, vhost: "shop" }, say);
  for (const { cells } of rows) {
    assert.match(cells[2].text, /^(topology.state.apart|state.(crashed|gone))/);
    assert.deepEqual([cells[4], cells[5].text], ["0", "–"]);
  }
  const empty = structuredClone(DOWN.rabbitmq);
  for (const graph of Object.values(empty.vhosts)) graph.queues = {};
  assert.match(story(empty, empty.vhosts.shop, {}, say)[1], /^topology.sub.down_empty/);
});

test("what a program was refused is in its row, and of a publisher in the head", () => {
  const panel = structuredClone(WORK.rabbitmq), graph = panel.vhosts["/"], [first] = WORK.order;
  const { name } = Object.values(graph.publishers)[0];
  panel.refused = { [first]: "404 NOT_FOUND - no queue", [name]: "404 NOT_FOUND - no exchange" };
  const rows = consumerRows(WORK, panel, { chosen: null, vhost: "/" }, say);
  assert.match(rows[0].cells[2].text, /^topology.state.refused .*404 NOT_FOUND - no queue/);
  assert.match(story(panel, graph, {}, say)[0], /^topology.sub.refused .*no exchange/);
  Object.assign(panel, { refused: {}, cancelled: [first] });
  const [{ cells }] = consumerRows(WORK, panel, { chosen: null, vhost: "/" }, say);
  assert.match(cells[2].text, /^topology.state.cancelled/);
});

test("every rate is over the seconds that the flows have, which no restart lies in", () => {
  const at = (published) => ({ "/\nq": [0, 0, published, published] });
  const history = { 1: at(10), 2: at(20), 40: at(20), 41: at(24) };
  assert.deepEqual(ratesOf({ history, flows: { exchanges: { 40: {}, 41: {} }, limits: {} } }, "/").q.in, 4);
  assert.deepEqual(ratesOf(kept({ 2: at(20), 4: at(24), 6: at(28) }), "/").q.in, 2);
});

test("what a queue refuses is in the head, its row, its publisher and the table, and all adds up", () => {
  const graph = REFUSES.rabbitmq.vhosts["/"], [head, sub] = told(REFUSES), rates = ratesOf(REFUSES.rabbitmq, "/");
  const { in: taken, refused, nacked: all } = rates.jobs, rate = rateText(refused);
  assert.ok(refused > 7.5 && refused === all && Math.abs(taken + refused - 12) < 0.5);
  assert.ok(head.startsWith(`topology.head.refuses {"queue":"jobs","rate":"${rate}"}`), head);
  const published = rateText(taken + refused);
  for (const [code, of] of [["published", published], ["refuses", rate]]) {
    assert.ok(sub.includes(`sub.${code} {"rate":"${of}"}`), sub);
  }
  assert.doesNotMatch(sub, /sub.copies/);
  const [row] = queueRows(graph, rates, null, say);
  assert.equal(row.cells.at(-1).text, `topology.rate.refuses {"rate":"${rate}"}`);
  const { shapes } = layout(graph, { width: 900, colorOf: () => null, words: graphWords(say), chosen: null });
  const [[id, { nacked }]] = Object.entries(graph.publishers);
  assert.equal(shapes.find((shape) => shape.id === `nacked-publisher:${id}`).text, `−${nacked}`);
  const counts = (code) =>
    waysTable(graph, say).rows.filter(([what]) => what.split(" ")[0] === code).map((row) => row.at(-1));
  assert.deepEqual(counts("topology.way.nacked"), counts("topology.way.refused"));
  assert.deepEqual(counts("topology.way.refused_silently"), []);
});

test("without confirms a refusal is silent, and named so", () => {
  const graph = structuredClone(WORK.rabbitmq.vhosts["/"]), at = { "/\nrecords": [5, 1, 20, 4] };
  const limits = { 4: {}, 9: { "/": { records: [40, 10] } } };
  const panel = { ...WORK.rabbitmq, ...kept({ 4: at, 9: at }, limits) };
  panel.flows = { ...panel.flows, exchanges: { 4: {}, 9: {} }, programs: {} };
  Object.assign(graph.queues.records, { refused: 40, nacked: 10 });
  const rates = ratesOf(panel, "/");
  assert.deepEqual([rates.records.refused, rates.records.nacked], [8, 2]);
  assert.match(story(panel, graph, rates, say)[0], /^topology.head.refuses /);
  rates.records.nacked = 0;
  assert.match(story(panel, graph, rates, say)[0], /^topology.head.refuses_silently .*"8"/);
  assert.match(queueRows(graph, rates, null, say)[0].cells.at(-1).text, /^topology.rate.refuses_silently/);
  assert.ok(waysTable(graph, say).rows.some(([what, from,,, count]) =>
    what.startsWith("topology.way.refused_silently") && from === "records" && count === "30"));
  graph.queues.records.growing = "slow";
  assert.match(story(panel, graph, rates, say)[1], /topology.head.refuses_silently/);
});

test("rates are of one virtual host, and of nothing with a single sample", () => {
  assert.deepEqual(Object.keys(ratesOf(ORDERS.rabbitmq, "/")), []);
  assert.deepEqual(ratesOf(kept({ 4: { "/\nq": [1, 0, 1, 0] } }), "/"), {});
  assert.deepEqual(ratesOf(kept({ 4: { "/\nq": [1, 0, 1, 0] }, 6: { "/\nq": [5, 1, 9, 3] } }), "/"), {
    q: { in: 4, acked: 1.5, growth: 2.5, lost: 0, ...TAKES_ALL },
  });
  assert.deepEqual(ratesOf(kept({}), "/"), {});
});

test("a queue's course has its rates between samples, and none before the first", () => {
  const rows = seriesOf(ORDERS.rabbitmq.history, "shop", "created");
  assert.ok(rows.length > 10 && rows[0].in === null && rows.at(-1).ready > rows[0].ready);
  assert.equal(rows.at(-1).unacked, 10);
  const { traces } = seriesLayout(rows, { say, colors: { ink: "", rule: "", panel: "", muted: "", font: "" } });
  assert.deepEqual(traces.map(({ y }) => y.length), Array(4).fill(rows.length));
});

test("what nobody uses is not drawn, and no edge hangs in the air", () => {
  for (const graph of LANES.flatMap(graphs)) {
    const { exchanges, bindings } = shownOf(graph);
    assert.ok(Object.values(bindings).every(({ source }) => source in exchanges));
    const own = Object.keys(graph.exchanges).filter((name) => name && !name.startsWith("amq."));
    assert.ok(own.every((name) => name in exchanges));
  }
  assert.deepEqual(Object.keys(shownOf(WORK.rabbitmq.vhosts["/"]).exchanges), [""]);
  assert.deepEqual(Object.keys(shownOf(EMPTY.rabbitmq.vhosts["/"], ["amq.topic"]).exchanges), ["", "amq.topic"]);
  assert.ok(!("" in shownOf(ORDERS.rabbitmq.vhosts.shop).exchanges));
});

test("every server is drawn, also one in the middle of a change", () => {
  for (const lane of LANES) for (const graph of graphs(lane)) {
    const shown = shownOf(graph), colorOf = (name) => lane.consumers[name]?.color ?? null;
    check(layout(shown, { width: 900, colorOf, words: graphWords(say), chosen: null }).shapes);
    assert.equal(shapeOf(shown), shapeOf(structuredClone(shown)));
    const { head, rows } = waysTable(shown, say);
    for (const row of rows) assert.ok(row.length === head.length && row.every((text) => typeof text === "string"));
    for (const { cells } of queueRows(graph, ratesOf(lane.rabbitmq, graph.vhost), null, say)) {
      assert.ok(!/undefined|NaN/.test(JSON.stringify(cells)));
    }
  }
  assert.equal(Object.keys(MANY.rabbitmq.vhosts["/"].queues).length, 40);
});

test("a server that came back has its durable queues alone", () => {
  const [before, after] = [DOWN, AGAIN].map(({ rabbitmq }) => Object.keys(rabbitmq.vhosts.shop.queues).sort());
  assert.ok(before.length >= after.length && after.includes("created"));
});

test("a server's orders are those that make sense", () => {
  assert.deepEqual(serverVerbs(ORDERS.rabbitmq), ["stop", "crash", "memory_on", "disk_on"]);
  assert.deepEqual(serverVerbs(FULL.rabbitmq), ["stop", "crash", "memory_on", "disk_off"]);
  assert.deepEqual(serverVerbs(DOWN.rabbitmq), ["start"]);
});

test("consumers: rows, and the verbs of the chosen one", () => {
  const rows = consumerRows(ORDERS, ORDERS.rabbitmq, { chosen: "c3", vhost: "shop" }, say);
  const elsewhere = consumerRows(ORDERS, ORDERS.rabbitmq, { chosen: null, vhost: "/" }, say);
  assert.equal(rows[2].cells[1].text, "created");
  assert.match(elsewhere[2].cells[1].text, /^topology.in_vhost .*created.*shop/);
  assert.deepEqual(rows.map(({ key }) => key), ORDERS.order);
  const c3 = rows.find(({ key }) => key === "c3");
  assert.ok(c3.isChosen && c3.cells[4] === "10" && c3.cells[2].text.startsWith("state.slow"));
  assert.deepEqual(verbsOf(ORDERS, null, KINDS, say).map(({ id }) => id), ["join"]);
  const verbs = verbsOf(ORDERS, "c3", KINDS, say);
  assert.deepEqual(verbs.find(({ id }) => id === "reject").order, {
    kind: "rabbitmq_settle", consumer: "c3", args: { how: "nack", requeue: false },
  });
  const keys = verbs.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length, "a key is one verb's");
});

test("what a user may do is said, also nothing", () => {
  assert.match(mayWords(ORDERS.rabbitmq, "till", "shop", say), /"write":"tasks\|audit".*topology.may_none/);
  assert.match(mayWords(ORDERS.rabbitmq, "till", "/", say), /^topology.may_nothing/);
});

test("what the server answered is said with its code and text", () => {
  const of = (kind, data, inputs = {}) =>
    answerWords({ kind: `rabbitmq.operator.${kind}`, inputs, data }, say);
  const refused = of("refused", { verb: "purge" }, { reply_code: 404, reply_text: "NOT_FOUND" });
  assert.ok(refused.isBad && refused.text.includes("404 NOT_FOUND"));
  const published = { verb: "publish", routing_key: "a", exchange: "" };
  assert.match(of("answered", published).text, /^topology.answer.published/);
  assert.ok(of("answered", { ...published, returned: true }).isBad);
  assert.match(of("answered", { ...published, nacked: true }).text, /^topology.answer.nacked/);
  assert.match(of("answered", { verb: "get", name: "q", empty: true }).text, /^topology.answer.empty/);
  const got = { verb: "get", name: "q", message: 7, redelivered: true, routing_key: "a", left: 3 };
  assert.match(of("answered", got).text, /^topology.answer.got_again .*topology.path.record/);
  assert.match(of("answered", { ...got, message: 2 ** 40 + 9, by_hand: 7 }).text, /topology.path.sent .*7/);
  assert.match(of("answered", { verb: "purge", count: 4 }).text, /^topology.answer.count .*"count":4/);
  assert.match(of("answered", { verb: "bind" }).text, /^topology.answer.done/);
  const user = answerWords({ kind: "rabbitmq.server.user", inputs: {}, data: { name: "u" } }, say);
  assert.match(user.text, /^topology.answer.done .*topology.form.user/);
  assert.equal(answerWords({ kind: "rabbitmq.server.crash", inputs: {}, data: {} }, say), null);
});

test("a binding says its key and its arguments", () => {
  assert.equal(bindingKey({ routing_key: "a.#", arguments: {} }), "a.#");
  const wanted = { "x-match": "any", n: { $t: "l", v: 3 }, void: null };
  assert.equal(bindingKey({ routing_key: "", arguments: wanted }), "x-match=any n=3 void");
});

const typedRow = (name, type, typed) => ({ name, type, typed });

test("rows become a table: each value by its type, and no number changes", () => {
  const rows = [
    typedRow("x-max-length", "integer", " 5 "), typedRow("format", "string", "pdf"),
    typedRow("flag", "boolean", "false"), typedRow("list", "json", "[1]"), typedRow("any", "void", ""),
    typedRow("half", "double", "3"), typedRow("", "string", ""),
    typedRow("digits", "string", "9007199254740993"), typedRow("__proto__", "string", "own"),
  ];
  const table = tableOf("args.headers", rows, "any-with-x");
  assert.deepEqual(Object.entries(table), [
    ["x-match", "any-with-x"], ["x-max-length", 5], ["format", "pdf"], ["flag", false], ["list", [1]], ["any", null],
    ["half", { $t: "d", v: 3 }], ["digits", "9007199254740993"], ["__proto__", "own"],
  ]);
  assert.deepEqual(tableOf("args.headers", []), {});
});

test("what is wrong in a row is said at its name or at its value", () => {
  const wrong = (rows, match) => {
    try {
      tableOf("args.arguments", rows, match);
    } catch (error) {
      assert.ok(error instanceof FieldError);
      return [error.field, error.message];
    }
    return null;
  };
  const fine = typedRow("a", "string", "");
  assert.deepEqual(wrong([fine, typedRow("", "string", "x")]), ["args.arguments/1", "topology.rows.no_name"]);
  assert.deepEqual(wrong([fine, fine]), ["args.arguments/1", "topology.rows.twice"]);
  assert.deepEqual(wrong([typedRow("x-match", "string", "all")], "any"), ["args.arguments/0", "topology.rows.twice"]);
  for (const [type, typed] of [
    ["integer", "1.5"], ["integer", ""], ["integer", "9007199254740993"], ["double", "x"], ["double", ""],
    ["boolean", "yes"], ["json", "{"],
  ]) {
    const [field, code] = wrong([typedRow("n.a", type, typed)]);
    assert.deepEqual([field, code], ["args.arguments.n.a", `topology.rows.not_${type}`], typed);
  }
  assert.equal(wrong([fine]), null);
});

test("what is typed becomes arguments", () => {
  assert.deepEqual(argsOf("user", { name: "u", password: "", tags: "management, monitoring" }), {
    name: "u", password: "", tags: ["management", "monitoring"],
  });
  assert.throws(() => argsOf("import", { definitions: "{" }), FieldError);
  assert.deepEqual(argsOf("import", { definitions: "{\"queues\": []}" }), { definitions: { queues: [] } });
});

test("what is wrong in a file is said at the file, with its place", () => {
  const fields = { "args.definitions.exchanges.3.type": ["a"], "args.definitions.queues.0": ["b"], lane: ["c"] };
  assert.deepEqual(atFile("import", fields, say), {
    "args.definitions": [
      say("list.named", { name: "exchanges[3].type", what: "a" }), say("list.named", { name: "queues[0]", what: "b" }),
    ],
    lane: ["c"],
  });
  assert.deepEqual(atFile("user", { "args.name": ["a"] }, say), { "args.name": ["a"] });
});

test("an import says by name what the broker lacks", () => {
  const data = { left_out: { queues: ["invoices", "audit"], policies: ["ha"] } };
  const { text } = answerWords({ kind: "rabbitmq.server.import", inputs: {}, data }, say);
  assert.match(text, /topology.left_out.queues .*invoices.*audit/);
  assert.match(text, /topology.left_out.policies .*ha/);
  const declared = { kind: "rabbitmq.operator.answered", inputs: {}, data: { verb: "import", vhost: "/" } };
  assert.equal(answerWords(declared, say), null, "one import, one answer");
  const inputs = { reply_code: 406, reply_text: "X" };
  assert.ok(answerWords({ ...declared, kind: "rabbitmq.operator.refused", inputs }, say).isBad);
});

test("a try is summed up: copies, more ways to one queue, and what becomes of a message without one", () => {
  const answer = { queues: ["a", "b"], exchanges: [] }, none = { queues: [], exchanges: [] };
  assert.deepEqual(codes([sumWords(answer, [], "", say)]), ["topology.try.copies"]);
  assert.match(sumWords(answer, [{ state: "again" }], "", say), /topology.try.agains .*"count":1/);
  assert.match(sumWords(none, [], "spare", say), /^topology.try.alternate .*spare/);
  assert.match(sumWords(none, [], "", say), /^topology.try.nowhere/);
  assert.match(sumWords({ queues: [], exchanges: ["x"] }, [], "", say), /^topology.try.to_exchanges/);
});

test("a dot flies where a count rose, and not on a way that has just come", () => {
  const { shop } = ORDERS.rabbitmq.vhosts, later = structuredClone(shop), [id] = Object.keys(shop.publishes);
  assert.deepEqual(risen(countsOf(shop), countsOf(later)), []);
  later.publishes[id].published += 2;
  later.dead_letters.eu_orders.reasons.rejected += 1;
  const [binding] = Object.keys(later.bindings);
  later.bindings[binding].routed += 1;
  assert.deepEqual(risen(countsOf(shop), countsOf(later)).sort(), [
    `binding:${binding}`, "dead_letter:eu_orders", `publish:${id}`,
  ].sort());
  assert.deepEqual(risen({}, countsOf(shop)), []);
  const { ways } = layout(shop, { width: 900, colorOf: () => 1, words: graphWords(say), chosen: null });
  assert.ok(Object.keys(countsOf(shop)).every((way) => way in ways), "a way's name is the graph's");
});

test("what a consumer took and gave back moves between its queue and it, from the last messages' ways", () => {
  const { paths, vhosts: { shop } } = ORDERS.rabbitmq, all = handedOver(paths, shop, -1), kinds = new Set();
  const { ways } = layout(shop, { width: 900, colorOf: () => 1, words: graphWords(say), chosen: null });
  for (const { way, kind, message } of all) {
    assert.ok(way in ways && message in paths.of, way);
    kinds.add(kind);
  }
  assert.deepEqual([...kinds].sort(), ["ack", "deliver", "reject"]);
  assert.deepEqual(handedOver(paths, shop, lastMoment(paths)), [], "each moves once");
  assert.equal(lastMoment({ of: {} }), -1);
});

test("a queue with priorities says how many wait of each, and the sum is what is ready", () => {
  const { urgent } = PRIORITIES.rabbitmq.vhosts["/"].queues, waiting = Object.entries(urgent.waiting);
  assert.ok(waiting.length > 1);
  assert.equal(waiting.reduce((sum, [, count]) => sum + count, 0), urgent.ready);
  assert.deepEqual(ORDERS.rabbitmq.vhosts.shop.queues.pdf.waiting, {});
});

test("a traced method says its fields by name, those of its message too", () => {
  const { trace, connections } = TRACED.rabbitmq, methods = Object.values(trace.methods);
  assert.ok(methods.length > 10 && methods.some(({ is_sent: isSent }) => isSent === false));
  for (const { fields } of methods) assert.ok(!/undefined|\[object/.test(fieldsWords(fields)));
  const fields = { queue: "", no_ack: false, properties: { headers: { a: 1 }, priority: 3 }, arguments: {}, list: [1] };
  assert.equal(
    fieldsWords(fields),
    "queue=“”  no_ack=false  properties.headers.a=1  properties.priority=3  arguments={}  list=[1]",
  );
  assert.match(traceWords(trace, connections, 3e6, say), /^topology.trace.of .*"name"/);
  assert.match(traceWords({ ...trace, channel: 1 }, connections, 3e6, say), /^topology.trace.of_channel/);
  assert.match(traceWords(trace, {}, 3e6, say), /^topology.trace.gone/);
  assert.match(traceWords({ ...trace, connection: 0 }, connections, 3e6, say), /^topology.trace.ended/);
  assert.match(traceWords(WORK.rabbitmq.trace, connections, 3e6, say), /^topology.trace.about/);
});

test("no two fields of a form have one name", () => {
  for (const { fields } of Object.values(FORMS)) {
    assert.equal(new Set(fields.map(({ name }) => name)).size, fields.length);
  }
});
