// The canvas of one lane: clients, brokers with their logs, links with their messages. It draws what a view says, and
// gives what was pressed or drawn across to whoever made it.

import { setAttribute } from "../base/dom.js";
import { createRoving } from "../base/roving.js";
import { draw } from "../drawing/shapes.js";
import * as boxes from "./boxes.js";
import { consumersShapes, producerShapes } from "./clients.js";
import * as linkWords from "./link_words.js";
import { crossed, linkLines } from "./links.js";
import { topicOf } from "./names.js";
import { layout as copies, logsOf } from "./partition.js";
import { placesOf } from "./places.js";
import { FLIES_MS, SLOW, createFlights, dots, flightOf, flown, waysOf } from "./wire.js";

const SVG = "http://www.w3.org/2000/svg", STROKE_LEAST = 14;

// All shapes of a lane's canvas, and the lines of its links. lane: of the view. state: {name, chosen, shown: name of
// the
// producer that is shown}. -> {shapes, lines, logs}
export function layout(view, lane, places, { name, chosen, shown, say, logs: before = null }) {
  const { cluster } = lane, partition = name === null ? null : cluster.partitions[name], reader = readerOf(view, lane,
    name);
  const isSlow = !view.playing || view.speed <= SLOW, ways = partition && isSlow ? waysOf(cluster, name) : [];
  const held = Object.keys(partition?.copies ?? {}), leader = partition?.leader ?? null;
  const lines = linkLines(cluster, places, {
    held, chosen, leader, reader: reader?.name ?? null, busy: ways.map(({ key }) => key),
  });
  const colors = Object.fromEntries(Object.entries(view.consumers ?? {}).map(([one, { color }]) => [one, color]));
  const rate = shown === Object.keys(cluster.producers)[0] ? view.workload?.rate ?? null : null;
  const shapes = [
    ...boxes.linkShapes(cluster, lines, { say, chosen }),
    ...boxes.controllerShapes(cluster, places, lines, { say, chosen }),
    ...producerShapes(cluster, places, { shown, rate, leader, chosen, say }),
    ...consumersShapes(cluster, places, { name, reader, colors, chosen, say }),
    ...boxes.layout(cluster, places, name, { say, chosen }),
  ];
  if (!partition) return { shapes, lines, logs: null };
  const logs = logsOf(partition, places, before);
  shapes.push(
    ...copies(partition, places, logs, { say, reader, cuts: cluster.cut_off?.[name] ?? {} }),
    ...linkWords.layout(cluster, lines, { name, ways, reader: reader?.name ?? null, place: reader, say }),
    ...dots(lines, ways, { atUs: view.at_us, say }),
  );
  return { shapes, lines, logs };
}

// Who reads a partition: of the lane's own topic the group's member. -> {name, color, position} or null
export function readerOf(view, { cluster, picture }, name) {
  if (name === null || topicOf(name) !== cluster.topic) return null;
  const known = picture?.partitions?.[name.slice(name.lastIndexOf("-") + 1)];
  if (!known?.owner) return null;
  return { name: known.owner, color: view.consumers?.[known.owner]?.color ?? null, position: known.position };
}

// Whether a link of the controller is drawn where nothing is on its way.
const hasController = ({ links }, chosen) =>
  Boolean(chosen?.includes("controller")) ||
  Object.entries(links).some(([key, { cut, slow }]) =>
    key.includes("controller") && (cut.length > 0 || Object.keys(slow).length > 0),
  );

// svg: the picture. say; isStill(view): nothing moves. onPress(data of the part, element), onStroke(keys): links that
// were drawn across.
export function createCanvas(svg, { isStill, onPress, onStroke }) {
  const layer = () => svg.appendChild(document.createElementNS(SVG, "g")), drawing = layer(), overlay = layer();
  const flights = createFlights(overlay, isStill), around = createRoving(drawing, '[role="button"]', ["Enter"]);
  let lines = [], logs = null, before = null, width = 0, flownAt = -Infinity, shownName = null;

  function showFlights(view, partition, name) {
    const was = before?.name === name ? before.partition : null, at = performance.now();
    before = { name, partition: structuredClone(partition) };
    if (view.speed <= SLOW || at - flownAt < FLIES_MS) return;
    const found = flown(was, partition).map((dot) => flightOf(dot, lines)).filter((dot) => dot !== null);
    if (!found.length) return;
    flownAt = at;
    flights.add(found);
  }

  drawing.addEventListener("click", (event) => {
    const part = event.target.closest("[data-part]");
    if (part) onPress(part.dataset, part);
  });

  // A stroke that begins beside everything and crosses a link cuts it; one that crosses a cut link heals it.
  let stroke = null;
  const pointOf = (event) => {
    const { left, top } = svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  svg.addEventListener("pointerdown", (event) => {
    const isPart = event.target.closest("[data-broker], [data-client], [data-acks]");
    if (event.button || (event.pointerType === "touch" && event.isPrimary === false) || isPart) return;
    stroke = { from: pointOf(event), line: null };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    const [x, y] = pointOf(event), [fx, fy] = stroke.from;
    if (!stroke.line && Math.hypot(x - fx, y - fy) < STROKE_LEAST) return;
    stroke.line ??= overlay.appendChild(document.createElementNS(SVG, "path"));
    stroke.line.setAttribute("class", "stroke");
    stroke.line.setAttribute("d", `M${fx} ${fy}L${x} ${y}`);
  });
  addEventListener("pointerup", (event) => {
    const drawn = stroke;
    stroke = null;
    if (!drawn?.line) return;
    drawn.line.remove();
    onStroke(crossed(lines, drawn.from, pointOf(event)), svg);
    // The click that ends a stroke chooses nothing. There is none where what the stroke began on is gone: then the next
    // click is a person's own.
    const swallow = (click) => click.stopPropagation();
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }));
  });

  return {
    // size: {width, height, hasClients}. state: as layout takes it.
    draw(view, lane, size, state) {
      const partition = state.name === null ? null : lane.cluster.partitions[state.name];
      const ends = Object.values(partition?.copies ?? {}).map(({ end }) => end);
      const places = placesOf(lane.cluster, {
        ...size, held: Object.keys(partition?.copies ?? {}), highest: Math.max(0, ...ends),
        leader: partition?.leader ?? null, hasController: hasController(lane.cluster, state.chosen),
      });
      if (places.width !== width || state.name !== shownName) {
        flights.clear();
        [width, logs, shownName] = [places.width, null, state.name];
      }
      const made = layout(view, lane, places, { ...state, logs });
      [lines, logs] = [made.lines, made.logs];
      setAttribute(svg, "width", places.width);
      setAttribute(svg, "height", places.height);
      setAttribute(svg, "aria-label", state.say("cluster.picture", { partition: state.name ?? "" }));
      around(() => draw(drawing, made.shapes));
      if (partition) showFlights(view, partition, state.name);
    },
  };
}
