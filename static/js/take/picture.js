// The picture of a panel as a file: its drawings where they stand, and below them what it shows, of which lab, when and
// with which seed.

import { standAlone } from "./inline.js";
import { wrap } from "./wrap.js";

const SVG = "http://www.w3.org/2000/svg", EDGE = 16, LEAST = 480, SCALE = 2;
const LINES = { title: [600, 15, 22, "--ink"], text: [400, 15, 22, "--ink"], about: [400, 13, 20, "--muted"] };

// The drawings of a panel that can be seen now: none while tables stand in their place.
export const drawingsOf = (panel) =>
  [...panel.querySelectorAll(".pic svg, svg.pic, .plot svg.main-svg")].filter((svg) => {
    const { width, height } = svg.getBoundingClientRect();
    return !svg.parentElement.closest("svg") && !svg.closest("button, .key, .legend") && width > 24 && height > 12
      && svg.checkVisibility();
  });

export function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  return element;
}

// Where a drawing is seen: one with a measure of its own may be smaller than its element, in the middle of it.
function drawnBox(drawing) {
  const box = drawing.getBoundingClientRect(), { width: wide, height: high } = drawing.viewBox?.baseVal ?? {};
  if (!wide || !high) return box;
  const scale = Math.min(box.width / wide, box.height / high), [width, height] = [wide * scale, high * scale];
  return new DOMRect(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2, width, height);
}

// Drawings where they stand towards one another. -> {nodes, defs, width, height}
export function gather(drawings, edge = 0) {
  const boxes = drawings.map(drawnBox), { nodes, defs } = standAlone(drawings);
  const left = Math.min(...boxes.map((box) => box.left)), top = Math.min(...boxes.map((box) => box.top));
  nodes.forEach((node, place) => {
    const box = boxes[place], sizes = { width: box.width, height: box.height };
    if (!node.hasAttribute("viewBox")) node.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    for (const [name, value] of Object.entries({ x: box.left - left + edge, y: box.top - top + edge, ...sizes })) {
      node.setAttribute(name, value);
    }
  });
  const width = Math.max(...boxes.map((box) => box.right)) - left + 2 * edge;
  return { nodes, defs, width, height: Math.max(...boxes.map((box) => box.bottom)) - top + 2 * edge };
}

// said: {title, text, about}, each a line or more below the picture. -> {text, width, height}
export function pictureOf(panel, said) {
  const { nodes, defs, width: wide, height: high } = gather(drawingsOf(panel), EDGE);
  const width = Math.ceil(Math.max(LEAST, wide)), page = getComputedStyle(document.documentElement);
  const color = (name) => page.getPropertyValue(name).trim();
  const texts = [];
  let y = high;
  for (const [kind, [weight, size, step, ink]] of Object.entries(LINES)) {
    const font = `${weight} ${size}px ${color("--ui")}`;
    for (const line of wrap(said[kind] ?? "", width - 2 * EDGE, measure(font))) {
      const text = make("text", {
        x: EDGE, y: y + size, fill: color(ink), "font-weight": weight, "font-size": size, "font-family": color("--ui"),
      });
      text.textContent = line;
      texts.push(text);
      y += step;
    }
  }
  const height = Math.ceil(y + EDGE);
  const root = make("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  const title = make("title", {}), held = make("defs", {});
  title.textContent = Object.values(said).filter(Boolean).join(" ");
  held.append(...defs);
  root.append(title, held, make("rect", { width, height, fill: color("--panel") }), ...nodes, ...texts);
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

function measure(font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font;
  return (text) => context.measureText(text).width;
}

// The same as pixels, two for each of the page's. -> a promise of its bytes.
export async function pngOf({ text, width, height }) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), image = new Image();
  try {
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: width * SCALE, height: height * SCALE });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
