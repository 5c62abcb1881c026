// Which elements of a page show what a noun names. A noun's key is its kind and id: "consumer:c2", "broker:1",
// "lane:kafka". An element says what it shows by data-consumer, data-broker or data-lane, a row of a table by its first
// word, a shape by `of` or by its id, of which the name is a part: "hand-c4-0", "c4/name", "broker-name-1".

import { shapeOf } from "./shapes.js";

const PARTS = /[-/]/, SHOWN = "svg *, [data-consumer], [data-broker], [data-lane] h2, tbody tr";

export function namedShapes(root, key) {
  return [...root.querySelectorAll(SHOWN)].filter((element) => shows(element, key));
}

// The key of what the target shows, or what holds it, the nearest first; null where none of the keys is.
export function subjectOf(target, keys) {
  for (let element = target; element && element !== element.ownerDocument.body; element = element.parentElement) {
    const key = keys.find((each) => shows(element, each));
    if (key) return key;
  }
  return null;
}

function shows(element, key) {
  const cut = key.indexOf(":"), kind = key.slice(0, cut), id = key.slice(cut + 1);
  if (kind === "lane") return element.matches("[data-lane] h2") && element.closest("[data-lane]").dataset.lane === id;
  if (element.dataset[kind] !== undefined) return element.dataset[kind] === id;
  if (element.tagName === "TR") return kind === "consumer" && firstWord(element) === id;
  const shape = shapeOf(element);
  return shape !== undefined && isOf(shape, kind, id);
}

const firstWord = (row) => row.cells[0]?.textContent.trim().split(/\s/)[0];

export function isOf({ id: shape, of }, kind, id) {
  if (of !== undefined) return of === (kind === "consumer" ? id : `${kind}-${id}`);
  const parts = shape.split(PARTS);
  if (kind === "broker") return parts[0] === "broker" && parts.includes(id, 1);
  // a name may hold what parts others
  return parts.includes(id) || (PARTS.test(id) && shape.includes(id));
}
