// A question answered on the picture: which partitions, slices or messages will the change move, or bring again? One
// presses them, or types their names, and then hears what was right, missed and wrong. The picture is held at the
// moment that is asked about.

import { onLanguage, say, speak } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { draw } from "../drawing/shapes.js";
import { changeWords, marksWords } from "./asked.js";
import { placesOn } from "./mark_places.js";
import { judged, kindsOf, typed } from "./marks.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const SIGNS = { right: "✓", missed: "!", wrong: "×" };

// thingAt(target, event): what a press is on, as {lane, thing}; null on a page whose pictures cannot be marked.
export function createMarking({ current, past, thingAt }) {
  const box = $("marking"), overlay = document.body.appendChild(document.createElementNS(SVG, "svg"));
  overlay.setAttribute("class", "marks");
  overlay.setAttribute("aria-hidden", "true");
  let open = null;                                        // {lane, kind, change, truth, total, marked, send, isShown}

  const canMark = (outcome) => thingAt !== null && kindsOf(outcome).length > 0;

  // told: the answer of a trial; change: {kind, consumer}.
  function start({ told, lane, change }) {
    const { marks } = told.lanes[lane].outcome, [kind] = kindsOf(told.lanes[lane].outcome);
    if (!past.isLooking() && current().playing) past.seek({ at_us: told.at_us, position: told.position });
    begin({ lane, kind, change, truth: marks[kind].true, total: marks[kind].total, marked: [], send: null });
  }

  // Of a room's question: what is marked is sent, and judged when all are. ended(): it is over, sent or not.
  function startForRoom({ lane, change, marking: { kind, total }, marked, send, ended }) {
    begin({ lane, kind, change, truth: null, total, marked, send, ended });
  }

  function begin(what) {
    open = { ...what, isShown: false };
    $("marking-names").value = open.marked.join(" ");
    write();
    $("marking-names").focus({ preventScroll: true });
  }

  function stop() {
    const ended = open?.ended;
    open = null;
    write();
    ended?.();
  }

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
    speak($("marking-show"), open.send ? "marking.send" : "marking.show");
    const words = isShown ? marksWords({ kind, marked, truth }, say) : say("marking.marked", { count: marked.length });
    setText($("marking-told"), words);
    drawMarks(isShown ? judged(kind, marked, truth) : { marked });
  }

  function drawMarks(sets) {
    const placeOf = placesOn({ lane: open.lane, kind: open.kind, view: view() });
    const shapesOf = ([state, names]) => names.flatMap((name) => shapesAt(placeOf(name), name, state));
    draw(overlay, Object.entries(sets).flatMap(shapesOf));
  }

  // name: of a thing, or of slots a range.
  function shapesAt(at, name, state) {
    if (!at) return [];
    const id = `${state}-${[name].flat().join("-")}`, { x, y, width, height } = at;
    const mark = { id, tag: "rect", x, y, width, height, rx: 6, class: state };
    if (!SIGNS[state]) return [mark];
    return [mark, { id: `${id}-s`, tag: "text", x: x + width / 2, y: y + height / 2 + 5, text: SIGNS[state] }];
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
    if (open.send) return sendMarks();
    open.isShown = true;
    write();
    return $("marking-told").focus();
  });

  async function sendMarks() {
    const { send, marked } = open;
    if (await send(marked, $("marking-show"))) stop();
  }

  $("marking-end").addEventListener("click", stop);
  for (const kind of ["resize", "scroll"]) addEventListener(kind, () => open && write(), { passive: true });
  onLanguage(write);

  return { canMark, canMarkHere: () => thingAt !== null, start, startForRoom, stop, write: () => open && write() };
}

function cut(thing) {
  const at = thing.indexOf(":");
  return [thing.slice(0, at), thing.slice(at + 1)];
}
