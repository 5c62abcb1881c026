// The chart of messages: rows keep the order of cause and effect, no shape twice, every word from the catalogue.
import assert from "node:assert/strict";
import test from "node:test";

import { geometry } from "../../../static/js/groups/columns.js";
import * as machine from "../../../static/js/groups/machine.js";
import { codeName, labelOf, moment, noteWords, rowsOf, toneOf } from "../../../static/js/groups/rows.js";
import { broken, placed } from "../../../static/js/groups/sequence.js";
import { messageWords } from "../../../static/js/groups/words.js";
import { say } from "../fixtures/load.mjs";
import { ALL, empty, rest, silent, nobody, epochs, large, CLASSIC, check, chart, cells, crowded } from "./known.mjs";

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

test("the time of a row has room at the left, however late it is", () => {
  for (const minutes of [0, 9, 10, 99, 100, 1_000]) {
    const atUs = minutes * 60e6 + 1;
    const { time } = geometry(["c1"], { available: 960, height: 580, atUs });
    assert.ok(moment(atUs).length * 7.83 <= time - 8, `${minutes} minutes`);
  }
});

test("a message to a dead coordinator is crossed out, a parked one is drawn to now", () => {
  const lost = chart(nobody).shapes.filter(({ id }) => id.startsWith("lost-"));
  assert.ok(lost.length > 0);
  const open = chart(silent).shapes.filter(({ id, class: name }) => id.startsWith("parked-") && name === "parked open");
  assert.equal(open.length, 3);
  assert.ok(rowsOf(nobody.group.exchanges, { isFolded: true }).some((row) => toneOf(row) === "bad"));
});

test("who waits has a bar from the top where the row of its request is older than all that fit", () => {
  const parked = Object.values(silent.group.exchanges).find(({ kind, answered_us: at, arrived_us: arrived }) =>
    kind === "join" && at === null && arrived !== null);
  const heartbeats = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [1000 + at, {
    ...parked, kind: "find", sent_us: parked.sent_us + at * 1e6, answered_us: parked.sent_us + at * 1e6,
    received_us: parked.sent_us + at * 1e6,
  }]));
  const group = { ...silent.group, exchanges: { 1: parked, ...heartbeats } };
  const { shapes } = chart({ ...silent, group });
  assert.ok(!shapes.some(({ id }) => id === "line-1-ask"), "its row is out of sight");
  const bar = shapes.find(({ id }) => id === "parked-1"), now = shapes.find(({ id }) => id === "now");
  assert.equal(bar?.class, "parked open");
  assert.ok(bar.y <= 40 && now.d.startsWith("M") && Number(now.d.split(" ")[1].split("H")[0]) === bar.y + bar.height);
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

test("nobody: the chart says so", () => assert.ok(chart(empty).shapes.some(({ id }) => id === "nothing")));

test("on a phone no word of a message is cut", () => {
  const plain = (code, params = {}) =>
    code.startsWith("groups.note.") ? `generation ${params.number}, leader` : code === "list.comma" ? ", " : code;
  for (const view of ALL) {
    for (const { id, text, tag } of chart(view, { available: 332, isPhone: true, say: plain }).shapes) {
      if (tag === "text") assert.doesNotMatch(text, /…$/, `${id} ${text}`);
    }
  }
});

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

const told = ({ shapes }, start) => shapes.filter(({ id }) => id.startsWith(start));
const lanesOf = (made) => told(made, "life-name-").map(({ id }) => id.slice("life-name-".length));

test("of a crowd the members that something sets apart have a column, the others one with their number", () => {
  const view = crowded(128), made = chart(view, { named: ["c77", "c128", "c3"], height: 580 });
  const names = lanesOf(made);
  assert.ok(names.length <= 13 && ["c77", "c128", "c3", "others"].every((name) => names.includes(name)), names.join());
  const count = made.shapes.find(({ id }) => id === "life-count-others").text;
  assert.equal(Number(count) + names.length - 1, 128);
  assert.equal(made.others.length, Number(count));
  assert.ok(made.width === 960, "nothing stands to the right");
  for (const available of [332, 700, 960, 1400]) {
    const wide = chart(view, { available, isPhone: available < 640 });
    assert.equal(wide.width, available);
    assert.ok(Math.max(...wide.columns) < available - 40);
  }
});

test("each message of a crowd is counted once: on its member's lifeline, or with the others'", () => {
  const view = crowded(128), made = chart(view, { named: ["c77"], isFolded: true });
  const dots = told(made, "dot-").filter(({ id }) => !id.endsWith("-others")), together = told(made, "dot-")
    .filter(({ id }) => id.endsWith("-others")).reduce((sum, dot) => sum + dot["data-count"], 0);
  assert.equal(dots.length + together, Object.keys(view.group.exchanges).length);
  for (const { id, text } of told(made, "many-")) {
    const dot = made.shapes.find((one) => one.id === `${id.replace("many-", "dot-")}-others`);
    assert.equal(text, `×${dot["data-count"]}`);
  }
});

const change = (view, names, changes) => ({
  ...view,
  group: {
    ...view.group,
    members: Object.fromEntries(Object.entries(view.group.members).map(([key, member]) => [
      key, names.includes(key) ? { ...member, ...changes } : member,
    ])),
  },
});

test("who is silent and who leads has a column; of more than have room the rest are counted by what they do", () => {
  const plain = crowded(128);
  const led = change(change(plain, ["c1"], { is_leader: false }), ["c90"], { is_leader: true });
  const few = lanesOf(chart(change(led, ["c40", "c41"], { condition: "crashed" })));
  assert.ok(["c40", "c41", "c90"].every((name) => few.includes(name)), few.join());
  const dead = Array.from({ length: 60 }, (_, place) => `c${place + 60}`);
  const made = chart(change(plain, dead, { condition: "crashed" })), names = lanesOf(made);
  const sign = made.shapes.find(({ id }) => id === "life-sign-others-▼");
  assert.equal(sign.text, `▼${60 - names.filter((name) => dead.includes(name)).length}`);
});

test("what waits of the others is one bar with their number, what is lost a cross that says how many", () => {
  const view = crowded(128), parked = Object.values(silent.group.exchanges).find(({ kind, answered_us: at }) =>
    kind === "join" && at === null);
  const said = Object.fromEntries(Object.keys(view.group.members).map((member, place) => [
    place, { ...parked, member, sent_us: view.at_us, arrived_us: view.at_us },
  ]));
  const joining = { ...view, group: { ...view.group, exchanges: said } }, made = chart(joining);
  const bars = told(made, "parked-").filter(({ tag }) => tag === "rect");
  assert.equal(bars.length, lanesOf(made).length);
  const bar = bars.find(({ id }) => id.startsWith("parked-others"));
  assert.match(bar.title, new RegExp(`"count":${made.others.length}`));
  const lost = chart({ ...joining, group: { ...joining.group, exchanges: Object.fromEntries(
    Object.entries(said).map(([number, one]) => [number, { ...one, arrived_us: null, lost_us: view.at_us }]),
  ) } });
  const cross = told(lost, "lost-").find(({ id }) => id.endsWith("-others"));
  assert.match(cross.title, new RegExp(`"lost":${lost.others.length},"count":${lost.others.length}`));
});

test("the timer of the others is that of the first of them to run out", () => {
  const view = crowded(128), timers = Object.fromEntries(Object.keys(view.group.members).map((member, place) => [
    `session:${member}`,
    { kind: "session", member, of_us: 10_000_000, until_us: view.at_us + 9_000_000 - place * 1000 },
  ]));
  const made = chart({ ...view, group: { ...view.group, timers } });
  const ring = made.shapes.find(({ id }) => id === "kind-@others");
  assert.match(ring.text, new RegExp(`first_of.*"count":${made.others.length}`));
  const low = { ...timers, "session:c55": { ...timers["session:c55"], until_us: view.at_us + 1_000_000 } };
  assert.ok(lanesOf(chart({ ...view, group: { ...view.group, timers: low } })).includes("c55"), "its time runs out");
});

test("a card of a message that is drawn with others says with how many", () => {
  const [exchange] = Object.values(rest.group.exchanges);
  assert.match(messageWords(exchange, rest.group, moment, say, 87).about, /one_of.*"count":87/);
  assert.doesNotMatch(messageWords(exchange, rest.group, moment, say).about, /one_of/);
});
