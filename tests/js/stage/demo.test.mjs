// The demo's own press: once, after a while in sight, and never when somebody was there first.
import assert from "node:assert/strict";
import test from "node:test";

import { createDemo } from "../../../static/js/stage/demo.js";

const DEMO = { command_id: "demo:join", after_ms: 8000 };
const fresh = () => ({ playing: true, timeline: { 0: { kind: "join" } } });

function stage({ demo = DEMO, view = fresh, visible = true } = {}) {
  const target = new EventTarget(), sent = [];
  let timer = null;
  target.visibilityState = visible ? "visible" : "hidden";
  createDemo(demo, {
    view, target, submit: (order) => sent.push(order),
    after: (act, ms) => { timer = { act, ms }; return 1; }, forget: () => { timer = null; },
  });
  return { sent, target, timer: () => timer, pass: () => timer?.act() };
}

test("a demo that nobody touches adds one consumer, under an id that is the same in every tab", () => {
  const { sent, timer, pass } = stage();
  assert.equal(timer().ms, 8000);
  pass();
  assert.deepEqual(sent, [{ command_id: "demo:join", kind: "join", args: { count: 1 } }]);
  assert.equal(timer(), null);
});

for (const press of ["pointerdown", "keydown", "click"]) {
  test(`after a ${press} it waits no more, also when the page comes back into sight`, () => {
    const { target, timer } = stage();
    target.dispatchEvent(new Event(press));
    target.dispatchEvent(new Event("visibilitychange"));
    assert.equal(timer(), null);
  });
}

for (const sign of ["pointermove", "wheel", "scroll", "focusin"]) {
  test(`a ${sign} is a visitor on the way to a button: the time begins again`, () => {
    const { sent, target, timer, pass } = stage(), before = timer();
    target.dispatchEvent(new Event(sign));
    assert.notEqual(timer(), before);
    assert.equal(timer().ms, 8000);
    target.dispatchEvent(new Event("pointerdown"));
    target.dispatchEvent(new Event(sign));
    pass();
    assert.deepEqual([sent, timer()], [[], null]);
  });
}

test("the time counts while the page is in sight", () => {
  const { target, timer } = stage({ visible: false });
  assert.equal(timer(), null);
  target.visibilityState = "visible";
  target.dispatchEvent(new Event("visibilitychange"));
  assert.equal(timer().ms, 8000);
});

test("a lab that is paused, or where another tab did something, or that is no fresh demo is left alone", () => {
  for (const view of [() => ({ ...fresh(), playing: false }), () => ({ ...fresh(), timeline: { 0: {}, 2: {} } })]) {
    const { sent, pass } = stage({ view });
    pass();
    assert.deepEqual(sent, []);
  }
  assert.equal(stage({ demo: null }).timer(), null);
});
