// One copy of a partition as a strip: its records upward, a band of colour for each leader epoch, the flag of its high watermark, its open
// end. A leader's fill is full, a follower's 35 %. In the ISR: a firm outline. Hatched: what consumers cannot see.

import { round } from "../draw.js";
import { paint, textOn } from "../paint.js";
import { number } from "../say.js";
import { rise } from "./window.js";

const OPEN = 7, RECORD_LEAST = 7, FOOT_APART = 20, LETTER = 7.8, FLAG = 14, LIFT = 6;

// copy: of the view. at: {x, width, base: y of the bottom, window}. -> shapes for draw.js, all ids under `id`.
export function layout(id, copy, { x, width, base, window, say, labels = true }) {
  const y = (offset) => round(base - rise(window, offset)), right = x + width, shapes = [];
  const from = Math.max(copy.start, window.low), isRunning = copy.role !== "not_running", fill = copy.role === "leads" ? 1 : 0.35;
  const top = y(copy.end), bottom = y(from), mark = y(copy.high_watermark);

  copy.epochs.forEach(([epoch, start], place) => {
    const begin = Math.max(start, from), end = Math.min(place + 1 < copy.epochs.length ? copy.epochs[place + 1][1] : copy.end, copy.end);
    if (end <= begin) return;
    shapes.push({ id: `${id}-band-${epoch}-${start}`, tag: "rect", x, y: y(end), width, height: round(y(begin) - y(end)), fill: paint(1 + (epoch % 7)), "fill-opacity": fill, class: "band" });
    const height = y(begin) - y(end);
    if (labels && height >= 14 && width >= 40) shapes.push({ id: `${id}-epoch-${epoch}-${start}`, tag: "text", x: x + width / 2, y: round(y(begin) - 4), class: "n mid epoch", fill: fill === 1 ? textOn(1 + (epoch % 7)) : null, text: say("cluster.epoch_short", { epoch }) });
  });
  if (window.pitch >= RECORD_LEAST && copy.end > from) {
    let d = "";
    for (let offset = from + 1; offset < copy.end; offset += 1) d += `M${x} ${y(offset)}h${width}`;
    if (d) shapes.push({ id: `${id}-records`, tag: "path", d, class: "records" });
  }
  if (mark > top) shapes.push({ id: `${id}-unseen`, tag: "rect", x, y: top, width, height: round(mark - top), fill: "url(#unseen)", class: "thin" });
  const sides = from > copy.start ? `M${x} ${bottom + OPEN}V${top - OPEN}M${right} ${bottom + OPEN}V${top - OPEN}` : `M${x} ${top - OPEN}V${bottom}H${right}V${top - OPEN}`;
  shapes.push({ id: `${id}-wall`, tag: "path", d: sides, class: `wall ${copy.is_in_isr ? "in" : "out"}${isRunning ? "" : " gone"}` });
  if (!labels) return shapes;

  // An arrow: it ends below what is shown. The flag stands on the right, its number beside it; the end's number above the open edge, or lower where the flag is in its place.
  shapes.push({ id: `${id}-pole`, tag: "path", d: `M${x - 4} ${mark}H${right + 10}`, class: "pole" });
  shapes.push({ id: `${id}-flag`, tag: "path", d: `M${right + 2} ${mark}v-11h10l-3 4 3 4h-8z`, class: "ink" });
  shapes.push({ id: `${id}-hw`, tag: "text", x: right + 14, y: mark - 1, class: "n b halo", "data-term": "high_watermark", text: number(copy.high_watermark) });
  if (copy.stable < copy.high_watermark && copy.stable >= from) {
    const stable = y(copy.stable);
    shapes.push({ id: `${id}-stable`, tag: "path", d: `M${x - 10} ${stable}H${right}`, class: "stable" });
    shapes.push({ id: `${id}-lso`, tag: "text", x: x - 12, y: stable + 4, class: "n m s end halo", "data-term": "last_stable_offset", text: `LSO ${number(copy.stable)}` });
  }
  if (bottom <= base - FOOT_APART) shapes.push({ id: `${id}-start`, tag: "text", x: x + width / 2, y: bottom + 15, class: "n m s mid halo", "data-term": "log_start", text: say("cluster.starts_at", { offset: copy.start }) });
  const text = `${copy.end < window.low ? "↓ " : ""}LEO ${number(copy.end)}`, isWide = text.length * LETTER > width + 2 * FLAG;       // it reaches over the flag's number
  const endAt = top - OPEN - (isWide ? 3 + LIFT : 3);
  shapes.push({ id: `${id}-leo`, tag: "text", x: x + width / 2, y: round(endAt), class: "n m mid halo", text });
  return shapes;
}
