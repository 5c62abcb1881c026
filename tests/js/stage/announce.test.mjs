// A screen reader hears each change of a lane once, and is not flooded.
import assert from "node:assert/strict";
import test from "node:test";

import { createAnnouncer } from "../../../static/js/stage/announce.js";

function listener(colon = ": ") {
  const heard = [];
  let time = 0, due = null;
  const note = createAnnouncer(
    (text) => heard.push(text),
    (code, { name, what }) => `${name}${colon}${what}`,
    {
      now: () => time,
      after: (act, ms) => {
        due = { act, at: time + ms };
      },
    },
  );
  const pass = (ms) => {
    time += ms;
    if (due && due.at <= time) {
      const { act } = due;
      due = null;
      act();
    }
  };
  return { heard, note, pass };
}

test("what stood there when the page opened, and a countdown, are not said", () => {
  const { heard, note, pass } = listener();
  for (let left = 30; left > 0; left -= 1) {
    note("kafka", "Kafka", `c1 is silent, ${left} s more.`, "crash_pending/3");
    pass(1000);
  }
  assert.deepEqual(heard, []);
});

test("lanes that change together are said together, with their latest words, " +
  "and the next at least four seconds later", () => {
  const { heard, note, pass } = listener();
  for (const lane of ["Kafka", "TubeMQ"]) note(lane, lane, "before", "a");
  note("Kafka", "Kafka", "12 s left.", "b");
  note("TubeMQ", "TubeMQ", "It restarts.", "b");
  note("Kafka", "Kafka", "11 s left.", "b");
  pass(300);
  assert.deepEqual(heard, ["Kafka: 11 s left. TubeMQ: It restarts."]);
  note("Kafka", "Kafka", "Done.", "c");
  pass(3000);
  assert.equal(heard.length, 1);
  pass(1000);
  assert.deepEqual(heard.slice(1), ["Kafka: Done."]);
});

test("in Chinese nothing but its own colon and full stop parts what is said", () => {
  const { heard, note, pass } = listener("：");
  for (const lane of ["Kafka", "TubeMQ"]) note(lane, lane, "之前", "a");
  note("Kafka", "Kafka", "还剩 12 秒。", "b");
  note("TubeMQ", "TubeMQ", "重启。", "b");
  pass(5000);
  assert.deepEqual(heard, ["Kafka：还剩 12 秒。TubeMQ：重启。"]);
});
