// Writes a sentence with its nouns: parts as nouns.js has them. The server writes the first as story_part.html.

import { paint } from "../drawing/paint.js";

const SVG = "http://www.w3.org/2000/svg";

// Gives what writes parts into a line; it tells whether the line has changed.
export function createLine(line) {
  let shown = null;
  return (parts) => {
    const key = JSON.stringify(parts);
    if (key === shown) return false;
    shown = key;
    line.replaceChildren(...parts.map(element));
    return true;
  };
}

function element(part) {
  if (!part.kind) return part.text;
  const noun = document.createElement("span");
  noun.className = part.color ? `noun hue-${part.hue}` : "noun";
  noun.dataset.noun = `${part.kind}:${part.id}`;
  noun.tabIndex = 0;
  if (part.color) noun.append(swatch(part.color));
  noun.append(part.text);
  return noun;
}

function swatch(color) {
  const svg = document.createElementNS(SVG, "svg"), rect = document.createElementNS(SVG, "rect");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, value] of [["x", 0.5], ["y", 0.5], ["width", 11], ["height", 11], ["rx", 2]]) {
    rect.setAttribute(name, value);
  }
  rect.setAttribute("class", "o");
  rect.setAttribute("fill", paint(color));
  svg.append(rect);
  return svg;
}
