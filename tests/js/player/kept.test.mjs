// Any of the documents that were kept, in any order, as it was; and the way from one to another.
import assert from "node:assert/strict";
import test from "node:test";

import { applyPatch } from "../../../static/js/feed/patch.js";
import { createKept } from "../../../static/js/player/kept.js";

const COUNT = 100;
const times = Array.from({ length: COUNT }, (_, place) => 10 + 5 * place);
const documents = times.map((_, place) => (
  { place, list: [place, place * 2], ...(place % 7 ? {} : { seventh: place }) }
));
const patchTo = (place) => [
  { op: "replace", path: "/place", value: place }, { op: "replace", path: "/list", value: [place, place * 2] },
  ...(place % 7 === 0 ? [{ op: "add", path: "/seventh", value: place }] : []),
  ...(place % 7 === 1 ? [{ op: "remove", path: "/seventh" }] : []),
];
const make = () => createKept(times, [documents[0], ...times.slice(1).map((_, place) => patchTo(place + 1))]);

test("each document is the one that was kept, whichever was asked for before", () => {
  const kept = make();
  for (const place of [0, 99, 3, 98, 50, 49, 0, 24, 25, 23, 99]) assert.deepEqual(kept.at(place), documents[place]);
});

test("what is done to a document that was given changes none that comes later", () => {
  const kept = make();
  for (const place of [0, 24, 30]) {
    const given = kept.at(place);
    given.list.push("mine");
    delete given.place;
    assert.deepEqual(kept.at(place), documents[place]);
    assert.deepEqual(kept.at(place + 1), documents[place + 1]);
  }
});

test("what lies between two leads from one to the other", () => {
  const kept = make();
  assert.deepEqual(applyPatch(kept.at(4), kept.between(4, 30)), documents[30]);
  assert.deepEqual(kept.between(8, 8), []);
});

test("a time is at the document before it, or from the one after it", () => {
  const kept = make();
  assert.deepEqual([0, 10, 14, 15, 504, 505, 9999].map(kept.placeAt), [0, 0, 0, 1, 98, 99, 99]);
  assert.deepEqual([0, 10, 14, 15, 504, 505, 9999].map(kept.placeFrom), [0, 0, 1, 1, 99, 99, 99]);
});
