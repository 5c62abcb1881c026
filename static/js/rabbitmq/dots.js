// Messages as dots that move along their ways: one for each way whose count has risen since the last frame, and from
// queue to consumer and back what the last messages did. Where more than a few a second move, or motion is not wanted,
// numbers alone rise.

const SVG = "http://www.w3.org/2000/svg", FLIGHT_MS = 700, APART_MS = 100;
// What a consumer does with a message, as the dot that goes back to the queue.
const BACK = { ack: "ack", requeue: "requeue", given_back: "requeue", discard: "reject" };
const BACK_KINDS = new Set(Object.values(BACK));

// Between queue and consumer is less room, and dots go both ways.
const apartMs = (kind) => (kind === "deliver" || BACK_KINDS.has(kind) ? 3.5 * APART_MS : APART_MS);

// Way of the graph -> how many messages went it so far.
export function countsOf(graph) {
  const counts = {}, sum = (all) => Object.values(all).reduce((total, each) => total + each, 0);
  for (const [id, { published }] of Object.entries(graph.publishes)) counts[`publish:${id}`] = published;
  for (const [id, { routed }] of Object.entries(graph.bindings)) counts[`binding:${id}`] = routed;
  for (const [id, { reasons }] of Object.entries(graph.dead_letters)) counts[`dead_letter:${id}`] = sum(reasons);
  for (const [id, { returned }] of Object.entries(graph.returns)) counts[`return:${id}`] = returned;
  return counts;
}

// The ways on which a message went between two frames. A way that was not there before has no dot: what it counts may
// be old.
export const risen = (before, after) => Object.keys(after).filter((way) => way in before && after[way] > before[way]);

// What went between queues and consumers after a moment, by what is kept of the last messages. -> [{way, kind:
// deliver | ack | requeue | reject, message}].
export function handedOver(paths, graph, sinceUs) {
  const ways = new Map(Object.entries(graph.consumers).flatMap(([id, { name, queue, of = [name] }]) =>
    of.map((each) => [`${each}\n${queue}`, `consume:${id}`])));
  return Object.entries(paths.of).flatMap(([message, { steps }]) =>
    steps.filter((step) => step.at_us > sinceUs && ways.has(`${step.program}\n${step.queue}`)).map((step) => ({
      way: ways.get(`${step.program}\n${step.queue}`), kind: BACK[step.kind] ?? "deliver", message,
    })));
}

export const lastMoment = (paths) =>
  Math.max(-1, ...Object.values(paths.of).flatMap(({ steps }) => steps.map((step) => step.at_us)));

// -> move(graph, paths, ways: {way: its path}, {isStill}). now: the clock.
export function createDots(svg, now = () => performance.now()) {
  let before = {}, seenUs = null;
  const flownAt = new Map();
  return function move(graph, paths, ways, { isStill }) {
    const after = countsOf(graph), kindOf = (way) => way.slice(0, way.indexOf(":"));
    const gone = risen(before, after).map((way) => ({ way, kind: kindOf(way) }));
    const last = lastMoment(paths);
    if (seenUs !== null && last > seenUs) gone.push(...handedOver(paths, graph, seenUs));
    [before, seenUs] = [after, last];
    if (isStill) return;
    for (const { way, kind, message } of gone) {
      const flight = `${kind} ${way}`;
      if (!ways[way] || now() - (flownAt.get(flight) ?? -Infinity) < apartMs(kind)) continue;
      flownAt.set(flight, now());
      fly(way, kind, message, ways[way]);
    }
  };

  function fly(way, kind, message, path) {
    const dot = document.createElementNS(SVG, "circle"), isBack = BACK_KINDS.has(kind);
    dot.setAttribute("r", isBack ? "3.5" : "4.5");
    dot.setAttribute("class", `dot ${kind}`);
    dot.dataset.way = way;
    if (message !== undefined) dot.dataset.message = message;
    dot.style.setProperty("offset-path", `path("${path}")`);
    svg.append(dot);
    const ends = ["0%", "100%"].map((offsetDistance) => ({ offsetDistance }));
    const flight = dot.animate(isBack ? ends.reverse() : ends, FLIGHT_MS);
    flight.finished.catch(() => {}).then(() => dot.remove());
  }
}
