// An element that stands for a drawn shape.
import { draw, shapeOf } from "../../../static/js/drawing/shapes.js";

const element = () => ({
  dataset: {}, setAttribute() {}, removeAttribute() {}, remove() {}, nextSibling: null, firstChild: null,
});

export function shapeFor(shape) {
  const made = element(), root = { ...element(), insertBefore() {} };
  globalThis.document = { createElementNS: () => made };
  draw(root, [{ tag: "rect", ...shape }]);
  if (shapeOf(made)?.id !== shape.id) throw new Error("not drawn");
  return made;
}
