// Plotly, fetched when the first chart asks for it, and the colours that a chart takes from the tokens of the page.

// Plotly's bundle carries the map library's stylesheet and would put it into the page as an inline style, which our
// content security policy forbids; it does not when an element of this id is there.
const MAP_STYLE_ID = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";

let loading = null;

// -> Plotly. After a failure the next call tries again.
export function loadPlotly(source) {
  if (!source) return Promise.reject(new Error("a capsule has no charts"));
  loading ??= fetchScript(source).catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

function fetchScript(source) {
  return new Promise((done, failed) => {
    if (!document.getElementById(MAP_STYLE_ID)) {
      const standIn = document.createElement("template");
      standIn.id = MAP_STYLE_ID;
      document.head.append(standIn);
    }
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => done(globalThis.Plotly);
    script.onerror = failed;
    document.head.append(script);
  });
}

// Whether a chart has room for its axes: the box of a hidden or folded panel has none, and Plotly would draw it with
// negative widths. It is drawn when it comes on screen.
export const hasRoom = (root) => root.clientWidth >= 200;

export function colorsOf(element) {
  const style = getComputedStyle(element), get = (name) => style.getPropertyValue(name).trim();
  return {
    ink: get("--ink"), muted: get("--muted"), rule: get("--rule"), panel: get("--panel"), outline: get("--outline"),
    font: get("--ui"), mono: get("--mono"),
    model: Object.fromEntries(["pulsar", "kafka", "tubemq", "rabbitmq"].map((name) => [name, get(`--model-${name}`)])),
    identity: [1, 2, 3, 4, 5, 6, 7].map((place) => get(`--id-${place}`)),
  };
}
