import { paint } from "./paint.js";

// A consumer's colour beside its name, with its texture. color: null for who has none yet.
export function chip(color = null) {
  const [svg, rect] = ["svg", "rect"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries({ width: 12, height: 12, "aria-hidden": "true" })) {
    svg.setAttribute(name, value);
  }
  for (const [name, value] of Object.entries({ x: 0.5, y: 0.5, width: 11, height: 11, rx: 2, class: "o" })) {
    rect.setAttribute(name, value);
  }
  if (color !== null) rect.setAttribute("fill", paint(color));
  svg.append(rect);
  return svg;
}
