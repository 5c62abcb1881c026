// Orders on their way: each is settled once, by its own event, whichever comes first, the frame or the answer.
import assert from "node:assert/strict";
import test from "node:test";

import { createSent } from "../../../static/js/rabbitmq/sent.js";

const refused = (command) => ({ kind: "lab.command_refused", cause: { command } });
const answered = (command) => ({ kind: "rabbitmq.server.import", cause: { command } });

function form({ isShown = true } = {}) {
  const heard = [];
  return {
    heard,
    answered: ({ kind }) => heard.push(kind),
    refused({ kind }) {
      heard.push(kind);
      return isShown;
    },
  };
}

function page() {
  const requests = [], said = [];
  const sent = createSent({
    send: () => new Promise((done) => { requests.push(done); }), refuse: (event) => said.push(event.cause.command),
  });
  return { sent, said, accept: (position) => requests.shift()({ position }) };
}

test("an order waits until its own event comes, and is answered once", async () => {
  const { sent, accept } = page(), own = form(), order = sent.send({}, own);
  accept(7);
  await order;
  assert.ok(sent.isWaiting(own));
  assert.equal(sent.hear(answered(6)), false);
  assert.ok(sent.isWaiting(own) && !own.heard.length);
  sent.hear(answered(7));
  sent.hear({ ...answered(7), kind: "rabbitmq.operator.answered" });
  assert.deepEqual(own.heard, ["rabbitmq.server.import"]);
  assert.equal(sent.isWaiting(own), false);
});

test("a refusal stands at its form, also where the frame is quicker than the request's answer", async () => {
  for (const isQuick of [false, true]) {
    const { sent, said, accept } = page(), own = form(), order = sent.send({}, own);
    if (isQuick) assert.equal(sent.hear(refused(3)), true, "nothing says it before the form does");
    accept(3);
    await order;
    if (!isQuick) assert.equal(sent.hear(refused(3)), true);
    assert.deepEqual([own.heard, said], [["lab.command_refused"], []]);
    assert.equal(sent.isWaiting(own), false);
  }
});

test("a refusal that no form shows is said all the same", async () => {
  const { sent, said, accept } = page(), gone = form({ isShown: false });
  let order = sent.send({}, gone);
  accept(3);
  await order;
  assert.equal(sent.hear(refused(3)), false, "the page says it");
  order = sent.send({}, gone);
  sent.hear(refused(4));
  sent.hear(refused(99));
  accept(4);
  await order;
  assert.deepEqual(said, [4, 99]);
  assert.equal(sent.hear(refused(5)), false, "one of another page");
});

test("a request that fails waits for nothing", async () => {
  const sent = createSent({ send: () => Promise.reject(new Error("no")), refuse: assert.fail }), own = form();
  await assert.rejects(sent.send({}, own));
  assert.equal(sent.isWaiting(own), false);
});
