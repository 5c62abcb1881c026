// Messages as dots that move along their ways: one for each way whose count has risen since the last frame. Where more
// than a few a second move, or motion is not wanted, numbers alone rise.

const SVG = "http://www.w3.org/2000/svg", FLIGHT_MS = 700, APART_MS = 100;

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

// -> move(graph, ways: {way: its path}, {isStill}). now: the clock.
export function createDots(svg, now = () => performance.now()) {
  let before = {};
  const flownAt = new Map();
  return function move(graph, ways, { isStill }) {
    const after = countsOf(graph), gone = risen(before, after);
    before = after;
    if (isStill) return;
    for (const way of gone) {
      if (!ways[way] || now() - (flownAt.get(way) ?? -Infinity) < APART_MS) continue;
      flownAt.set(way, now());
      fly(way, ways[way]);
    }
  };

  function fly(way, path) {
    const dot = document.createElementNS(SVG, "circle");
    dot.setAttribute("r", "4.5");
    dot.setAttribute("class", `dot ${way.slice(0, way.indexOf(":"))}`);
    dot.style.setProperty("offset-path", `path("${path}")`);
    svg.append(dot);
    const flight = dot.animate([{ offsetDistance: "0%" }, { offsetDistance: "100%" }], FLIGHT_MS);
    flight.finished.catch(() => {}).then(() => dot.remove());
  }
}
