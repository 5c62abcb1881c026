// A drawing of the page as one that stands alone: what the page's styles say of each part is written into the part
// as its attributes, and what it refers to (textures, symbols) comes along. Text stays text.

const INHERITED = [
  "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
  "stroke-linecap", "stroke-linejoin", "stroke-opacity", "font-family", "font-size", "font-weight", "font-style",
  "letter-spacing", "text-anchor", "visibility", "paint-order",
];
const OWN = {
  opacity: "1", "dominant-baseline": "auto", "clip-path": "none", mask: "none", "vector-effect": "none",
  "text-decoration-line": "none", overflow: "hidden",
};
const OF_PAGE = /^(?:class|style|tabindex|role|focusable|data-.*|aria-.*)$/;
const SHAPED = ["svg", "symbol", "pattern", "marker", "foreignObject"];   // what has an overflow
const REFERENCE = /url\((?:"|')?[^"')#]*#([^"')]+)(?:"|')?\)/g;

const local = (value) => value.replace(REFERENCE, "url(#$1)");

// -> {nodes, defs}: a copy of each of these drawings, and of all that they refer to outside of themselves.
export function standAlone(drawings) {
  const wanted = new Set(), nodes = drawings.map((drawing) => copyOf(drawing, null, wanted));
  const defs = [], done = new Set();
  const inside = new Set(drawings.flatMap((drawing) => [...drawing.querySelectorAll("[id]")].map(({ id }) => id)));
  for (const id of wanted) {                                // grows while it is gone through
    const target = inside.has(id) || done.has(id) ? null : document.getElementById(id);
    done.add(id);
    if (target) defs.push(copyOf(target, null, wanted));
  }
  for (const node of [...nodes, ...defs]) dropIds(node, wanted);
  return { nodes, defs };
}

function copyOf(element, parent, wanted) {
  const style = getComputedStyle(element), isHeld = parent === null;
  if (style.display === "none" && !isHeld && element.tagName !== "symbol") return null;
  const copy = element.cloneNode(false), said = {};
  for (const name of INHERITED) {
    const value = style.getPropertyValue(name);
    if (isHeld || value !== parent.getPropertyValue(name)) said[name] = value;
  }
  for (const [name, initial] of Object.entries(OWN)) {
    const value = style.getPropertyValue(name);
    if (value && value !== initial && (name !== "overflow" || SHAPED.includes(element.tagName))) said[name] = value;
  }
  const isTurned = element.hasAttribute("transform") || element.hasAttribute("patternTransform");
  if (style.transform !== "none" && !isTurned) said.transform = turned(style);
  else if (style.offsetPath !== "none" && !isHeld) said.transform = onItsWay(element);
  for (const { name, value } of [...copy.attributes]) {
    if (OF_PAGE.test(name) || INHERITED.includes(name) || name in OWN) copy.removeAttribute(name);
    else if (name === "href" && value.startsWith("#")) wanted.add(value.slice(1));
    else if (value.includes("url(")) said[name] = value;
  }
  for (const [name, value] of Object.entries(said)) {
    for (const [, id] of value.matchAll(REFERENCE)) wanted.add(id);
    copy.setAttribute(name.replace(/-line$/, ""), local(value));
  }
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.cloneNode());
    else if (child.nodeType === Node.ELEMENT_NODE) {
      const part = copyOf(child, style, wanted);
      if (part) copy.append(part);
    }
  }
  return copy;
}

// Where a message is that moves along its way at this moment.
function onItsWay(element) {
  const { a, b, c, d, e, f } = element.parentElement.getScreenCTM().inverse().multiply(element.getScreenCTM());
  return `matrix(${[a, b, c, d, e, f].join(" ")})`;
}

function turned({ transform, transformOrigin }) {
  const [x, y] = transformOrigin.split(" ").map(parseFloat);
  return `translate(${x} ${y}) ${transform} translate(${-x} ${-y})`;
}

function dropIds(root, wanted) {
  for (const node of [root, ...root.querySelectorAll("[id]")]) if (!wanted.has(node.id)) node.removeAttribute("id");
}
