// The grid of partitions and members: every figure the view's, words where they have room.
import assert from "node:assert/strict";
import test from "node:test";

import { widthOf } from "../../../static/js/drawing/labels.js";
import * as grid from "../../../static/js/groups/grid.js";
import { hiddenOf } from "../../../static/js/groups/more.js";
import { groupTimer, left, ownTimers, rings, sweep } from "../../../static/js/groups/timers.js";
import { counts, gridWords, headline } from "../../../static/js/groups/words.js";
import { say } from "../fixtures/load.mjs";
import { ALL, first, rest, silent, nobody, check, chart, cells, withMember, codesIn, crowded } from "./known.mjs";

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

test("the figures of a partition are the view's", () => {
  const text = (view, id) => cells(view).shapes.find((shape) => shape.id === id).text;
  for (const [name, partition] of Object.entries(rest.group.partitions)) {
    assert.equal(text(rest, `lag-${name}`), String(rest.group_health.partitions[name].lag));
    assert.equal(text(rest, `high_watermark-${name}`), String(partition.high_watermark));
  }
  assert.equal(text(nobody, "committed-0"), "–");
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
  assert.equal(chart(crowded(20), { available: 960 }).columns.length, 20);
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
      coordinator: 20, columnOf: (name) => name,
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
