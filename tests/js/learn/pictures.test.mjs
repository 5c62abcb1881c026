// Where a picture on a slide is, as a text of the room.

import assert from "node:assert/strict";
import test from "node:test";

import { isPicturePage, placeOf, placeText } from "../../../static/js/learn/place_text.js";

const PLACES = [
  [{ at_us: 9_100_000, to_us: null, speed: null }, "9100000"],
  [{ at_us: 0, to_us: 9_300_000, speed: 0.5 }, "0-9300000@0.5"],
  [{ at_us: null, to_us: null, speed: null }, "now"],
];

test("a place is a text and back", () => {
  for (const [place, text] of PLACES) {
    assert.equal(placeText(place), text);
    assert.deepEqual(placeOf(text), place);
  }
});

test("what is no place is none", () => {
  for (const text of ["", "-1", "1.5", "1-2", "1-2@", "1-2@x", "later", "1e9", "1".repeat(16)]) {
    assert.equal(placeOf(text), null, text);
  }
});

test("a follower's slide shows pages of lessons and labs alone, as pictures", () => {
  for (const text of ["/embed/learn/kafka_join/?frame=4&picture=1", "/embed/lab/Y5/kafka/groups/?lane=a+b&picture=1"]) {
    assert.ok(isPicturePage(text), text);
  }
  for (const text of [undefined, "", "/lab/a/?picture=1", "/embed/lab/a/", "https://x.example/embed/lab/a/?picture=1",
    "/embed/lab/../../rooms/?picture=1", "//x.example/embed/lab/a/?picture=1", "/embed/lab/a/?picture=1#x"]) {
    assert.ok(!isPicturePage(text), text);
  }
});
