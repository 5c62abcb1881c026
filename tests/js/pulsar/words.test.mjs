// What the page says of a subscription: head, lines and causes.
import assert from "node:assert/strict";
import test from "node:test";

import { rows as consumerRows } from "../../../static/js/pulsar/consumers.js";
import { owned } from "../../../static/js/pulsar/space.js";
import { othersTable, spaceTable } from "../../../static/js/pulsar/tables.js";
import { lines } from "../../../static/js/pulsar/what_if.js";
import {
  handedWords, idleWords, rulesWords, spaceTitle, spaceWords, story,
} from "../../../static/js/pulsar/words.js";
import { say } from "../fixtures/load.mjs";
import {
  RATE, LANES, joined, newcomer, draining, sticky, failover, shared, exclusive, nobody, crowd, mixed, letters,
  refusedAcks,
} from "./known.mjs";

function headline(...given) {
  const { what, means } = story(...given);
  return means ? `${what} ${means}` : what;
}

function refusing(...names) {
  const lane = structuredClone(exclusive);
  const one = Object.values(lane.pulsar.consumers).find(({ idle }) => idle?.code === "refused");
  for (const name in lane.pulsar.consumers) {
    if (lane.pulsar.consumers[name].idle?.code === "refused") delete lane.pulsar.consumers[name];
  }
  for (const name of names) lane.pulsar.consumers[name] = structuredClone(one);
  return lane;
}

test("the headline names a crashed consumer before whoever waits for it", () => {
  const crashed = structuredClone(newcomer);
  Object.assign(crashed.pulsar.consumers.c1, { idle: { code: "crashed", deadline_us: 1 } });
  assert.match(
    headline(crashed, RATE, say),
    /^subscription\.head\.crashed .*"count":1,"who":"c1".*subscription\.head\.newcomer .*"c4"/,
  );
  const both = structuredClone(crashed);
  both.pulsar.consumers.c2.idle = { code: "crashed", deadline_us: 1 };
  assert.match(
    headline(both, RATE, say),
    /^subscription\.head\.crashed .*"count":2,"who":"list.and {.*first.*c1.*last.*c2/,
    "who are silent are told in one sentence",
  );
  for (const known of Object.values(crashed.pulsar.consumers)) if (known.idle?.code !== "crashed") known.idle = null;
  assert.match(headline(crashed, RATE, say), /^subscription\.head\.crashed [^.]*$/);
  assert.deepEqual(consumerRows(crashed, "c2", say).filter(({ isBad }) => isBad).length, 1);
});

test("where more comes in than the consumers handle the headline says by how much", () => {
  const handled = Object.values(crowd.consumers)
    .filter(({ state, share }) => state === "live" && share !== 0)
    .reduce((sum, { capacity }) => sum + capacity, 0);
  assert.match(headline(crowd, handled, say), /head.well/);
  assert.match(headline(crowd, handled + 6, say), /^overload .*"excess":6/);
});

test("the headline and the lines of the table name the cause", () => {
  const { position, older } = newcomer.pulsar.consumers.c4.idle;
  assert.match(headline(newcomer, RATE, say), new RegExp(`head.newcomer .*"older":${older}.*"consumer":"c4"`));
  assert.match(
    idleWords(newcomer.pulsar.consumers.c2.idle, say),
    new RegExp(`idle.behind_newcomer .*"position":${position}.*"holder":"c1"`),
  );
  assert.match(headline(sticky, RATE, say), /head.gap .*50/);
  assert.match(headline(failover, RATE, say), /head.switching/);
  assert.match(headline(exclusive, RATE, say), /head.refused .*ConsumerBusy/);
  assert.match(headline(refusing("c2", "c3"), RATE, say), /"who":"list.and {.*first.*c2.*last.*c3/);
  assert.match(headline(refusing("c2"), RATE, say), /"who":"c2"/);
  assert.match(headline(refusing("c2", "c3", "c4", "c5"), RATE, say), /"who":"subscription.head.consumers {.*4/);
  assert.match(headline(nobody, RATE, say), /head.nobody/);
  assert.match(headline(crowd, RATE, say), /head.well .*17/);
  const rows = consumerRows(newcomer, "c2", say);
  assert.deepEqual(rows.map(({ isBad }) => isBad), [true, true, true, true]);
  assert.deepEqual(rows.map(({ isChosen }) => isChosen), [false, true, false, false]);
  assert.equal(rows[0].cells[3], String(newcomer.pulsar.consumers.c1.unacked));
});

test("a message without a key that goes by its number is promised to nobody", () => {
  const rows = lines(
    {
      key: "", hash: null, slot: null, range: null, partition: null, topic: null, consumer: null, joins: {}, leaves: {},
    },
    draining,
    say,
  );
  assert.deepEqual(
    rows.map(([, text]) => text),
    [say("subscription.answer.spread_hash"), say("subscription.answer.spread")],
  );
});

test("the page says which rule runs", () => {
  assert.match(
    rulesWords(newcomer, say),
    /^subscription.type.Key_Shared {} · .*version.3.2 .* · subscription.order_words.recently_joined/,
  );
  assert.match(rulesWords(draining, say), /order_words.draining(?!_)/);
  assert.match(rulesWords({ ...draining, algorithm: "sticky" }, say), /order_words.draining_sticky/);
  assert.doesNotMatch(rulesWords(shared, say), /order_words/);
  assert.match(rulesWords(failover, say), /"rule":"subscription.type.Failover {}".*version.3.2/);
  assert.deepEqual(spaceTable(joined, say).rows.map(([name]) => name), joined.order);
  for (const lane of LANES) assert.ok(spaceTitle(lane.pulsar, lane.picture, say) && spaceWords(lane, say));
  assert.match(spaceWords(sticky, say), /gap_words.3.2/);
  const current = { ...sticky, pulsar: { ...sticky.pulsar, rule: { selector: "current", order: "current" } } };
  assert.match(spaceWords(current, say), /gap_words.current/);
  assert.doesNotMatch(spaceWords(draining, say), /gap_words/);
  assert.match(
    handedWords({ from: null, to: "c1", slots: 5, pieces: 1, largest: [0, 4] }, 10, say),
    /from_nobody .*50/,
  );
});

test("who acknowledges cumulatively where that is refused says so", () => {
  const [row] = consumerRows(refusedAcks, null, say);
  assert.match(row.state, /acks_refused/);
  assert.match(headline(refusedAcks, RATE, say), /head.acks_refused/);
});

test("a process that is silent is called so, whatever its client was last", () => {
  const stateOf = (state, known) =>
    consumerRows(
      {
        ...joined, consumers: { ...joined.consumers, c1: { ...joined.consumers.c1, state } },
        pulsar: {
          ...joined.pulsar, consumers: { ...joined.pulsar.consumers, c1: { ...joined.pulsar.consumers.c1, ...known } },
        },
      },
      null,
      say,
    )[0].state;
  for (const known of [{ holds_acks: true }, { refused_acks: 3 }, { refused: "ConsumerBusy" }, {}]) {
    assert.match(stateOf("crashed", known), /^state.crashed/);
  }
  assert.match(stateOf("live", { holds_acks: true }), /state.holding/);
  assert.match(stateOf("paused", { holds_acks: true }), /^state.paused/);
  assert.match(stateOf("slow", {}), /^state.slow/);
});

test("other subscriptions have a row for each consumer, named once", () => {
  const { rows, head } = othersTable(
    {
      audit: {
        type: "Shared", backlog: 7,
        consumers: { "audit-1": { finished: 3, unacked: 1 }, "audit-2": { finished: 4, unacked: 0 } },
      },
    },
    say,
  );
  assert.deepEqual(rows, [["audit", "Shared", "7", "audit-1", "3", "1"], ["", "", "", "audit-2", "4", "0"]]);
  assert.equal(head.length, 6);
});

test("the headline names who waits, not whom it waits for", () => {
  const waits = structuredClone(draining);
  for (const known of Object.values(waits.pulsar.consumers)) known.idle = null;
  waits.pulsar.consumers.c4.idle = { code: "draining", slot: 7, consumer: "c1", count: 2 };
  assert.match(headline(waits, RATE, say), /head.draining .*"consumer":"c4"/);
});

test("a gap that newcomers wait for is the head's sentence", () => {
  const lane = structuredClone(newcomer);
  const [name] = Object.entries(lane.pulsar.consumers).find(([, { idle }]) => idle?.code === "newcomer");
  lane.pulsar.consumers[name].idle = { ...lane.pulsar.consumers[name].idle, holder: null, unowned: true };
  assert.match(idleWords(lane.pulsar.consumers[name].idle, say), /subscription.nobody_owns/);
  lane.picture = {
    ...lane.picture, now: sticky.picture.now, space: sticky.picture.space, kind: sticky.picture.kind,
    names: sticky.picture.names.slice(0, -1),
  };
  assert.match(headline(lane, RATE, say), /subscription.head.gap_newcomers/);
});

test("the head says who is gone, which subscription is not there, " +
  "whose slice is too wide and what nobody could handle", () => {
  const changed = (lane, change) => {
    const copy = structuredClone(lane);
    change(copy);
    return headline(copy, RATE, say);
  };
  const rest = (lane) =>
    Object.values(lane.pulsar.consumers).forEach((known) => {
      known.idle = null;
    });
  assert.match(
    changed(joined, (lane) => {
      lane.pulsar.exists = false;
    }),
    /^subscription.head.no_subscription/,
  );
  assert.match(
    changed(shared, (lane) => {
      for (const known of Object.values(lane.pulsar.consumers)) {
        Object.assign(known, { connected: false, idle: { code: "gone" } });
      }
    }),
    /^subscription.head.nobody/,
  );
  // One that has crashed and is given up stands by no more.
  assert.equal(
    changed(failover, (lane) => {
      rest(lane);
      const { connected } = Object.values(lane.pulsar.consumers)[0], names = Object.keys(lane.pulsar.consumers);
      assert.ok(connected);
      lane.pulsar.failover.partitions = { 0: { active: names[0], next: null } };
      for (const name of names.slice(1)) lane.pulsar.consumers[name].connected = false;
    }),
    'subscription.head.failover_all {"count":1}',
  );
  const uneven = (lane) => {
    rest(lane);
    lane.pulsar.batches = null;
    const [wide, ...others] = [...owned(lane.picture.now, lane.picture)]
      .sort(([, one], [, other]) => other.slots - one.slots)
      .map(([name]) => name);
    lane.pulsar.consumers[wide].queue = 150;
    for (const name of others) lane.pulsar.consumers[name].queue = 10;
    return wide;
  };
  assert.match(changed(mixed, uneven), /^subscription.head.uneven .*"queue":150/);
  assert.match(
    changed(mixed, (lane) => {
      lane.consumers[uneven(lane)].state = "slow";
    }),
    /^subscription.head.well/,
  );
  assert.match(
    changed(shared, (lane) => {
      Object.values(lane.pulsar.consumers).forEach((known, place) => {
        known.idle = place ? null : { code: "better_level", priority: 2, best: 0 };
      });
    }),
    /^subscription.head.levels .*"waiting":1/,
  );
  const former = (lane) => {
    rest(lane);
    Object.values(lane.pulsar.consumers)[0].former = 9;
  };
  assert.match(changed(failover, former), /^subscription.head.former .*"count":9/);
  assert.match(
    changed(exclusive, (lane) => {
      Object.values(lane.pulsar.consumers)[0].former = 9;
    }),
    /^subscription.head.former/,
  );
  assert.match(
    changed(letters, (lane) => {
      rest(lane);
      lane.pulsar.again.dead_letters = 2;
    }),
    /^subscription.head.letters/,
  );
});

test("who came back waits for its own former connection, not for itself", () => {
  const idle = { code: "draining", slot: 7, consumer: "c1", count: 2 };
  assert.match(idleWords(idle, say, "c1"), /"consumer":"subscription.former_self/);
  assert.match(idleWords(idle, say, "c2"), /"consumer":"c1"/);
  assert.match(
    idleWords({ code: "newcomer", limit: 9, position: 3, older: 1, holder: "c1" }, say, "c1"),
    /"holder":"subscription.former_self/,
  );
});

test("who waits behind entries that cannot be sent is told for whom the first of them is, " +
  "or that it is for nobody", () => {
  const idle = { code: "out_of_reach", position: 295, before: 106, owner: "c1" };
  assert.match(idleWords(idle, say, "c2"), /"owner":"c1"/);
  assert.match(idleWords({ ...idle, owner: null }, say, "c2"), /"owner":"subscription.gap/);
});
