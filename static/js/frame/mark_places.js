// Where the things that a question can mark are on a lane's picture, as boxes of the page.

import { shapeOf } from "../drawing/shapes.js";
import { placeOfSlot } from "./marks.js";

const R = 9;

export const pictureOf = (lane) => document.querySelector(`[data-picture="${CSS.escape(lane)}"]`);

// kind: partition, slot or record. view: of the lane. -> placeOf(name): {x, y, width, height}, null where the picture
// does not show it; of slots a name is one, or a range of them.
export function placesOn({ lane, kind, view: { picture } }) {
  const svg = pictureOf(lane);
  if (!svg?.getClientRects().length) return () => null;
  return kind === "slot" ? slotsOn(svg, picture) : shapesOn(svg, idsOf(kind, picture));
}

function slotsOn(svg, picture) {
  const box = svg.viewBox.baseVal, toPage = svg.getScreenCTM();
  return (name) => {
    if (!box?.width) return null;
    const slot = Array.isArray(name) ? Math.floor((name[0] + name[1]) / 2) : Number(name);
    const { x, y } = placeOfSlot(slot, picture, box), at = new DOMPoint(x, y).matrixTransform(toPage);
    return { x: at.x + scrollX - R, y: at.y + scrollY - R, width: 2 * R, height: 2 * R };
  };
}

function shapesOn(svg, idsOfName) {
  const byId = new Map();
  for (const element of svg.querySelectorAll("*")) {
    const id = shapeOf(element)?.id;
    if (id) byId.set(id, [...(byId.get(id) ?? []), element]);
  }
  return (name) => {
    const elements = idsOfName(name).flatMap((id) => byId.get(id) ?? []);
    const boxes = elements.map((element) => element.getBoundingClientRect()).filter(({ width }) => width);
    if (!boxes.length) return null;
    const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
    const [right, foot] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
    return { x: left + scrollX - 2, y: top + scrollY - 2, width: right - left + 4, height: foot - top + 4 };
  };
}

// A message that is out: the ring in which its consumer holds it.
function idsOf(kind, { in_flight: inFlight }) {
  if (kind === "partition") return (name) => [`cell-${name}`];
  return (record) => {
    for (const [consumer, items] of Object.entries(inFlight ?? {})) {
      const at = items.findIndex((item) => item && String(item.record) === record);
      if (at >= 0) return [`hand-${consumer}-${at}`, `edge-${consumer}-${at}`];
    }
    return [];
  };
}
