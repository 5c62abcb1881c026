// The membership history as a step chart: how many consumers there are after each change. Node tests the arithmetic.

import { draw } from "../drawing/shapes.js";

const HEIGHT = 132, TOP = 18, BOTTOM = 26, LEFT = 34, RIGHT = 12, LABEL_WIDTH = 34;

export function layout(steps, { width }) {
  const counts = steps.map(({ members }) => members.length), high = Math.max(1, ...counts), base = HEIGHT - BOTTOM;
  const pitch = (width - LEFT - RIGHT) / steps.length, x = (place) => LEFT + place * pitch;
  const y = (count) => base - (count / high) * (base - TOP);
  let path = `M${x(0).toFixed(1)} ${y(counts[0]).toFixed(1)}`;
  counts.forEach((count, place) => { path += `V${y(count).toFixed(1)}H${x(place + 1).toFixed(1)}`; });
  const shapes = [
    { id: "base", tag: "path", d: `M${LEFT} ${base}H${width - RIGHT}`, class: "base" },
    { id: "high", tag: "text", x: LEFT - 8, y: (y(high) + 4).toFixed(1), "text-anchor": "end", text: String(high) },
    { id: "zero", tag: "text", x: LEFT - 8, y: base + 4, "text-anchor": "end", text: "0" },
    { id: "line", tag: "path", d: path, class: "line" },
  ];
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / pitch));
  steps.forEach(({ label, step }, place) => {
    if (step % every === 0) {
      shapes.push({
        id: `label-${step}`, tag: "text", x: (x(place) + pitch / 2).toFixed(1), y: base + 18, "text-anchor": "middle",
        text: label,
      });
    }
  });
  return shapes;
}

export function render(root, steps) {
  const width = Math.max(240, root.getBoundingClientRect().width);
  root.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  draw(root, layout(steps, { width }));
}
