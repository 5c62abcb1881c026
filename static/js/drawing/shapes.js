// Writes shapes into an SVG root, keyed by id: only what changed since the last frame touches the document. A shape is
// { id, tag, text?, title?, of?, ...attributes }, title being its tooltip, of whom it shows; shapes that are gone are
// removed, new ones are put in the order of the list.

const SVG = "http://www.w3.org/2000/svg";
const NOT_WRITTEN = new Set(["id", "tag", "title", "of"]);
const drawn = new WeakMap(), shapes = new WeakMap();

// The shape that an element was written from; undefined for one that was not.
export const shapeOf = (element) => shapes.get(element);

export function draw(root, list) {
  const before = drawn.get(root) ?? new Map(), after = new Map();
  let place = null;                                   // the element before the next one
  for (const shape of list) {
    let known = before.get(shape.id);
    if (known && known.tag !== shape.tag) {
      known.element.remove();
      known = undefined;
    }
    if (!known) known = { element: document.createElementNS(SVG, shape.tag), tag: shape.tag, shape: {} };
    write(known, shape);
    const next = place ? place.nextSibling : root.firstChild;
    if (known.element !== next) root.insertBefore(known.element, next);
    place = known.element;
    after.set(shape.id, known);
    before.delete(shape.id);
  }
  for (const { element } of before.values()) element.remove();
  drawn.set(root, after);
}

function write(known, shape) {
  const { element, shape: old } = known;
  for (const name in shape) {
    const value = shape[name];
    if (value === old[name] || NOT_WRITTEN.has(name)) continue;
    if (name === "text") element.textContent = value;
    else if (value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
  for (const name in old) if (!(name in shape) && name !== "text") element.removeAttribute(name);
  // A new text took the old tooltip with it.
  if (shape.title && (shape.title !== old.title || shape.text !== old.text)) {
    element.querySelector("title")?.remove();
    element.append(document.createElementNS(SVG, "title"));
    element.lastChild.textContent = shape.title;
  }
  known.shape = shape;
  shapes.set(element, shape);
}

// A layout runs again only when what it looks at changed; `marks` is a cheap summary of that.
export const round = (value) => Math.round(value * 10) / 10;
