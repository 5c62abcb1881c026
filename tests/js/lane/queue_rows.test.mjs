// The Stage's picture of several queues and the real clients at them.
import assert from "node:assert/strict";
import test from "node:test";

import { layout } from "../../../static/js/lane/pictures/queue_rows.js";
import { SHORT, TALL, WIDTH } from "../../../static/js/lane/pictures/size.js";
import { twin } from "../../../static/js/lane/twins.js";
import { say } from "../fixtures/load.mjs";

const hand = (unacked, prefetch) => ({
  unacked, prefetch, in_flight: Array.from({ length: unacked }, (_, record) => ({ record, redelivered: record === 0 })),
});
const queue = (ready, consumers) => ({
  ready, unacked: 0, consumers,
  head: Array.from({ length: Math.min(12, ready) }, (_, record) => ({ record, redelivered: false })),
});
const laneOf = (queues, more = 0) => {
  const names = Object.values(queues).flatMap(({ consumers }) => Object.keys(consumers));
  return {
    order: names, consumers: Object.fromEntries(names.map((name, place) => [name, { name, color: place + 1 }])),
    picture: { kind: "queues", queues, more, unacked: 0, publishers: names.length ? ["billing-service"] : [] },
  };
};
const textsOf = (shapes) => shapes.filter(({ tag }) => tag === "text").map(({ text }) => text);

test("each queue has its clients by their whole names", () => {
  const lane = laneOf({
    orders: queue(6, { "shipping-worker-1": hand(2, 5) }), invoices: queue(0, { ledger: hand(1, 0) }),
  });
  const shapes = layout(lane, { say }), texts = textsOf(shapes);
  const told = say("picture.publishers", { names: "billing-service" });
  for (const word of ["orders", "invoices", "shipping-worker-1", "ledger", "2/5", "1", told]) {
    assert.ok(texts.some((text) => text.startsWith(word.slice(0, 30))), word);
  }
  assert.equal(shapes.filter(({ id }) => id.startsWith("ready-orders-")).length, 6);
  assert.equal(shapes.filter(({ class: look }) => look === "free").length, 3);
  assert.equal(new Set(shapes.map(({ id }) => id)).size, shapes.length);
});

test("nothing leaves the picture, however many queues and clients there are", () => {
  for (const height of [SHORT, TALL]) {
    for (let queues = 1; queues <= 6; queues += 1) {
      for (let clients = 0; clients <= 8; clients += 1) {
        const names = Array.from({ length: clients }, (_, at) => `client-with-a-very-long-name-${at}`);
        const many = Object.fromEntries(names.map((name) => [name, hand(3, 9)]));
        const all = Object.fromEntries(Array.from({ length: queues }, (_, at) => [`queue ${at}`, queue(20, many)]));
        for (const { tag, x, y, cy, cx } of layout(laneOf(all, 2), { say, height })) {
          if (tag === "path") continue;
          assert.ok((y ?? cy) >= 0 && (y ?? cy) <= height && (x ?? cx) >= 0 && (x ?? cx) <= WIDTH);
        }
      }
    }
  }
});

test("where there is no room a queue says how many consume it, and how many queues there are beside", () => {
  const many = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, hand(0, 1)]));
  const all = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`q${at}`, queue(1, many)]));
  const texts = textsOf(layout(laneOf(all, 3), { say }));
  assert.ok(texts.some((text) => text.includes(say("picture.consumers", { count: 4 }))));
  assert.ok(texts.includes(say("picture.more", { count: 3 + 6 - texts.filter((text) => /^q\d$/u.test(text)).length })));
});

test("no queue is said, and the table has a line for each client at each queue", () => {
  assert.deepEqual(textsOf(layout(laneOf({}), { say })), [say("picture.no_queues")]);
  const lane = laneOf({ orders: queue(3, { ledger: hand(3, 0) }), empty: queue(0, {}) });
  const { rows } = twin(lane, new Proxy({}, { get: (_, code) => code }));
  assert.deepEqual(rows.map((row) => row.slice(0, 3)), [["orders", "3", "ledger"], ["empty", "0", "–"]]);
});
