// A question answered on the picture: which partitions, slices or messages will the change move, or bring again? One
// presses them, or types their names, and then hears what was right, missed and wrong. The picture is held at the
// moment that is asked about.

import { onLanguage, say } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { draw, shapeOf } from "../drawing/shapes.js";
import { changeWords } from "./asked.js";
import { judged, kindsOf, placeOfSlot, typed } from "./marks.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg", R = 9;
const SIGNS = { right: "✓", missed: "!", wrong: "×" };

// thingAt(target, event): what a press is on, as {lane, thing}; null on a page whose pictures cannot be marked.
export function createMarking({ current, past, thingAt }) {
  const box = $("marking"), overlay = document.body.appendChild(document.createElementNS(SVG, "svg"));
  overlay.setAttribute("class", "marks");
  overlay.setAttribute("aria-hidden", "true");
  let open = null;                                        // {lane, kind, change, truth, total, marked, isShown}

  const canMark = (outcome) => thingAt !== null && kindsOf(outcome).length > 0;

  // told: the answer of a trial; change: {kind, consumer}.
  function start({ told, lane, change }) {
    const { marks } = told.lanes[lane].outcome, [kind] = kindsOf(told.lanes[lane].outcome);
    open = { lane, kind, change, truth: marks[kind].true, total: marks[kind].total, marked: [], isShown: false };
    if (!past.isLooking() && current().playing) past.seek({ at_us: told.at_us, position: told.position });
    $("marking-names").value = "";
    write();
    $("marking-names").focus({ preventScroll: true });
  }

  function stop() {
    open = null;
    write();
  }

  const picture = () => document.querySelector(`[data-picture="${CSS.escape(open.lane)}"]`);
  const view = () => current().lanes[open.lane];

  function known() {
    if (open.kind === "partition") return Object.keys(view().picture.partitions ?? {});
    return Object.values(view().picture.in_flight ?? {}).flat().filter((item) => item?.record >= 0)
      .map(({ record }) => String(record));
  }

  function mark(name) {
    const has = open.marked.includes(name);
    open.marked = has ? open.marked.filter((each) => each !== name) : [...open.marked, name];
    $("marking-names").value = open.marked.join(" ");
    write();
  }

  // -- showing --------------------------------------------------------------------------------------------------------

  function write() {
    box.hidden = open === null;
    document.body.toggleAttribute("data-marking", open !== null);
    if (open === null) return draw(overlay, []);
    const { kind, change, total, marked, truth, isShown } = open;
    setText($("marking-ask"), say(`marking.${kind}`, { change: changeWords(change, say), total }));
    $("marking-names").disabled = $("marking-show").hidden = isShown;
    const found = isShown ? judged(kind, marked, truth) : null;
    setText($("marking-told"), found === null ? say("marking.marked", { count: marked.length }) : toldWords(found));
    drawMarks(found ?? { marked });
  }

  function toldWords({ right, missed, wrong }) {
    const counts = { right: right.length, missed: missed.length, wrong: wrong.length, all: open.truth.length };
    return say(open.truth.length ? `marking.told.${open.kind}` : `marking.none.${open.kind}`, counts);
  }

  function drawMarks(sets) {
    const shapes = Object.entries(sets).flatMap(([state, names]) => names.flatMap((name) => shapesOf(name, state)));
    draw(overlay, shapes);
  }

  // name: of a thing, or of slots a range.
  function shapesOf(name, state) {
    const at = placeOf(name);
    if (!at) return [];
    const id = `${state}-${[name].flat().join("-")}`, { x, y, width, height } = at;
    const mark = { id, tag: "rect", x, y, width, height, rx: 6, class: state };
    if (!SIGNS[state]) return [mark];
    return [mark, { id: `${id}-s`, tag: "text", x: x + width / 2, y: y + height / 2 + 5, text: SIGNS[state] }];
  }

  function placeOf(name) {
    if (open.kind === "slot") {
      const slot = Array.isArray(name) ? Math.floor((name[0] + name[1]) / 2) : Number(name), svg = picture();
      const box = svg?.viewBox.baseVal;
      if (!box?.width) return null;
      const { x, y } = placeOfSlot(slot, view().picture, box);
      const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
      return { x: at.x + scrollX - R, y: at.y + scrollY - R, width: 2 * R, height: 2 * R };
    }
    const ids = open.kind === "partition" ? [`cell-${name}`] : handsOf(name);
    const elements = [...picture().querySelectorAll("*")].filter((element) => ids.includes(shapeOf(element)?.id));
    const boxes = elements.map((element) => element.getBoundingClientRect()).filter(({ width }) => width);
    if (!boxes.length) return null;
    const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
    const [right, foot] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
    return { x: left + scrollX - 2, y: top + scrollY - 2, width: right - left + 4, height: foot - top + 4 };
  }

  // A message that is out: the ring in which its consumer holds it.
  function handsOf(record) {
    for (const [consumer, items] of Object.entries(view().picture.in_flight ?? {})) {
      const at = items.findIndex((item) => item && String(item.record) === record);
      if (at >= 0) return [`hand-${consumer}-${at}`, `edge-${consumer}-${at}`];
    }
    return [];
  }

  // -- pressing -------------------------------------------------------------------------------------------------------

  document.addEventListener("click", (event) => {
    if (open === null || open.isShown || !event.target.closest(`[data-picture="${CSS.escape(open.lane)}"]`)) return;
    event.preventDefault();
    event.stopPropagation();
    const { thing } = thingAt(event.target, event) ?? {}, [kind, name] = cut(thing ?? "");
    if (kind === open.kind) mark(name);
  }, true);

  $("marking-names").addEventListener("input", ({ target }) => {
    const { space } = view().picture;
    open.marked = [...new Set(typed(target.value, { kind: open.kind, known: known(), space }))];
    write();
  });
  $("marking-form").addEventListener("submit", (event) => {
    event.preventDefault();
    open.isShown = true;
    write();
    $("marking-told").focus();
  });
  $("marking-end").addEventListener("click", stop);
  for (const kind of ["resize", "scroll"]) addEventListener(kind, () => open && write(), { passive: true });
  onLanguage(write);

  return { canMark, start, write: () => open && write() };
}

function cut(thing) {
  const at = thing.indexOf(":");
  return [thing.slice(0, at), thing.slice(at + 1)];
}
