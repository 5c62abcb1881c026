// What a follower's page does for a state, and what a tab keeps of its room.

import assert from "node:assert/strict";
import test from "node:test";

import { isCalled, momentOf, queryOf, shownOf, stepsOf } from "../../../static/js/room/follow.js";
import { createSession } from "../../../static/js/room/session.js";

const state = (more = {}) => ({ path: "/lab/a/", at_us: null, position: null, chosen: {}, recalls: 0, ...more });
const here = (more = {}) => ({ address: "/lab/a/", went: null, moment: null, chosen: {}, ...more });

test("who is where the presenter is has nothing to do", () => {
  assert.deepEqual(stepsOf(state(), here()), {});
  const past = { at_us: 5, position: 2 };
  assert.deepEqual(stepsOf(state(past), here({ moment: past })), {});
});

test("another page is opened, once: one that leads elsewhere is not opened again", () => {
  const moved = state({ path: "/lab/a/tubemq/?lane=t", at_us: 5 });
  assert.deepEqual(stepsOf(moved, here()), { go: "/lab/a/tubemq/?lane=t" });
  assert.deepEqual(stepsOf(moved, here({ went: "/lab/a/tubemq/?lane=t" })), { moment: { at_us: 5 } });
});

test("a moment, the present and what is chosen are applied where they are new", () => {
  assert.deepEqual(stepsOf(state({ at_us: 7, position: 3 }), here()), { moment: { at_us: 7, position: 3 } });
  assert.deepEqual(stepsOf(state(), here({ moment: { at_us: 7 } })), { moment: null });
  assert.deepEqual(stepsOf(state({ chosen: { lane: "kafka" } }), here()), { chosen: { lane: "kafka" } });
});

test("a state names what the presenter's page shows, and nothing that is empty", () => {
  const shown = shownOf({
    page: "stage", query: "", moment: { at_us: 5 }, chosen: { lane: "kafka", sort: "", partition: null, row: 3 },
    thing: null,
  });
  assert.deepEqual(shown, {
    page: "stage", lecture: "", query: "", at_us: 5, position: null, thing: null, chosen: { lane: "kafka", row: "3" },
  });
  assert.deepEqual(momentOf(shown), { at_us: 5 });
});

test("whether the demo plays on its own is no part of an address", () => {
  assert.equal(queryOf("?demo=off"), "");
  assert.equal(queryOf("?lane=kafka&demo=off"), "?lane=kafka");
  assert.equal(queryOf("?lane=a,b"), "?lane=a,b");
});

test("a call back is for those who look around and have not followed it yet", () => {
  assert.equal(isCalled(state({ recalls: 2 }), { looking: true, recalls: 1 }), true);
  assert.equal(isCalled(state({ recalls: 2 }), { looking: true, recalls: 2 }), false);
  assert.equal(isCalled(state({ recalls: 2 }), { looking: false, recalls: 1 }), false);
});

function browser(search, kept = null) {
  const addresses = [];
  let text = kept;
  const storage = {
    getItem: () => text, setItem: (_, next) => { text = next; }, removeItem: () => { text = null; },
  };
  const location = { pathname: "/lab/a/", search, hash: "" };
  const session = createSession(storage, location, { replaceState: (_, __, to) => addresses.push(to) });
  return { session, addresses, storage, kept: () => JSON.parse(text) };
}

test("a link brings the room into the tab and goes out of the address", () => {
  const { session, addresses, kept } = browser("?lane=kafka&room=ABC2DF");
  assert.deepEqual(session.read(), { code: "ABC2DF", looking: false });
  assert.deepEqual(addresses, ["/lab/a/?lane=kafka"]);
  session.keep({ recalls: 3 });
  assert.deepEqual(kept(), { code: "ABC2DF", looking: false, recalls: 3 });
  session.leave();
  assert.equal(session.read(), null);
});

test("the way to a copy says that one looks around there; another room begins without the old one's marks", () => {
  const old = JSON.stringify({ code: "ABC2DF", looking: false, recalls: 4 });
  assert.deepEqual(browser("?room=ABC2DF&look=1", old).session.read(), { code: "ABC2DF", looking: true, recalls: 4 });
  assert.deepEqual(browser("?room=XYZ2DF", old).session.read(), { code: "XYZ2DF", looking: false });
});

test("a tab without a room, or with another program's text, is in none", () => {
  for (const text of [null, "5", "{", '{"code":5}']) assert.equal(browser("", text).session.read(), null);
});
