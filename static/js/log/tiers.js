// A look-up on the page: one tier a step, each with its sentence, its picture and its table. The tier of the current
// moment is lit.

import { createRoving } from "../base/roving.js";
import { writeTable } from "../base/table.js";
import * as indexSearch from "./index_search.js";
import * as scan from "./scan.js";
import { indexTable, scanTable } from "./tables.js";
import { lookWords, stepWords } from "./words.js";

const SVG = "http://www.w3.org/2000/svg", LEAST = 560;

const kindOf = ({ step, kind = "" }) => `${step} ${kind}`;

export function createTiers(root, { say, folder }) {
  const sizes = new Map();                              // of the segments looked at, also when they have gone since
  let tiers = [], lookup = null;

  const make = (tag, className, parent) => {
    const element = document.createElement(tag);
    element.className = className;
    return parent.appendChild(element);
  };

  function tier(step, place) {
    const section = make("section", "tier", root), sentence = make("p", "step", section);
    const no = make("b", "no", sentence), line = make("span", "", sentence);
    const texts = [make("span", "", line), make("b", "n", line), make("span", "", line)];
    no.textContent = String(place + 1);
    if (step.step === "segment") return { kind: kindOf(step), section, texts };
    const look = make("p", "look s m", section), box = make("div", "pic scroll", section);
    const svg = box.appendChild(document.createElementNS(SVG, "svg"));
    svg.setAttribute("role", "group");
    box.dataset.scroll = "";
    const twinBox = make("div", "twin-box", section), twin = make("table", "twin", twinBox);
    line.id = `step-${place + 1}`;
    twinBox.tabIndex = document.body.hasAttribute("data-twins") ? 0 : -1;
    for (const [name, value] of [["role", "group"], ["aria-labelledby", line.id]]) twinBox.setAttribute(name, value);
    twin.createTHead();
    twin.createTBody();
    if (step.step === "scan") svg.setAttribute("height", scan.HEIGHT);
    return { kind: kindOf(step), section, texts, look, box, svg, twin, around: createRoving(svg) };
  }

  // Tiers of the same kind are kept: what has the focus in one of them keeps it.
  function open(newLookup) {
    lookup = newLookup;
    const kept = tiers.findIndex(({ kind }, place) => !lookup.steps[place] || kindOf(lookup.steps[place]) !== kind);
    const same = kept < 0 ? tiers : tiers.slice(0, kept);
    for (const { section } of tiers.slice(same.length)) section.remove();
    tiers = [...same, ...lookup.steps.slice(same.length).map((step, place) => tier(step, same.length + place))];
  }

  // A look-up may go on in the next segment: what belongs to a step are the segment chosen before it and the scan that
  // follows.
  const scanOf = (place) => lookup.steps.slice(place).find((step) => step.step === "scan") ?? null;
  const chosenAt = (place) =>
    lookup.steps.slice(0, place + 1).findLast((step) => step.step === "segment")?.chosen ?? null;
  const bytesAt = (place) => {
    const chosen = chosenAt(place);
    const found = folder().segments.find(({ base_offset, state }) => base_offset === chosen && state !== "deleted");
    if (found) sizes.set(chosen, found.bytes);
    return sizes.get(chosen) ?? scanOf(place)?.to ?? 1;
  };

  function show(moment, { isMoving }) {
    root.toggleAttribute("data-moving", isMoving);
    lookup.steps.forEach((step, place) => {
      const { section, texts, look, svg, box, twin, around } = tiers[place];
      const isLit = place === moment.step, isDone = place < moment.step || (isLit && moment.isResult);
      section.toggleAttribute("data-lit", isLit);
      section.toggleAttribute("data-ahead", place > moment.step);
      section.dataset.tier = step.step;
      stepWords(lookup, step, say).forEach((text, part) => {
        texts[part].textContent = part === 0 || isDone ? text : part === 1 ? "…" : "";
      });
      if (!svg) return;
      look.textContent = isLit ? lookWords(lookup, moment, say) : "";
      const width = Math.max(LEAST, Math.floor(box.clientWidth)), gap = scanOf(place);
      svg.style.setProperty("min-width", `${LEAST}px`);
      if (step.step === "index") {
        const probes = isDone ? step.probes.length : isLit ? moment.probes : 0;
        around(() =>
          indexSearch.render(svg, step, { width, probes, isResult: isDone, gap, segmentBytes: bytesAt(place), say }),
        );
        svg.setAttribute("aria-label", say(step.kind === "time" ? "log.time_label" : "log.index_label"));
        writeTable(twin, indexTable(step, say), say(step.kind === "time" ? "log.time_label" : "log.index_label"));
      } else {
        around(() =>
          scan.render(svg, step, { width, scanned: isLit ? moment.scanned : 0, isFound: isDone, found: lookup.found }),
        );
        svg.setAttribute("aria-label", say("log.scan_label"));
        writeTable(twin, scanTable(step, say), say("log.scan_label"));
      }
      svg.dataset.seq = lookup.found ?? -1;
      if (isLit && box.scrollWidth > box.clientWidth) center(box, svg.querySelector(".chosen"));
    });
  }

  // On a phone the picture is wider than the screen: what was found comes into sight.
  function center(box, part) {
    if (!part) return;
    const outer = box.getBoundingClientRect(), inner = part.getBoundingClientRect();
    box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  }

  // What the folder's picture shows of this look-up: the chosen segment, and the bytes that the index tier is about.
  function ofFolder() {
    if (!lookup?.steps.length) return { chosen: null, gap: null };
    const place = lookup.steps.findLastIndex(({ kind }) => kind === "offset");
    if (place < 0) return { chosen: chosenAt(lookup.steps.length - 1), gap: null };
    const { from, to } = indexSearch.span(lookup.steps[place], scanOf(place), bytesAt(place));
    return { chosen: chosenAt(place), gap: [from, Math.min(to, bytesAt(place))] };
  }

  return { open, show, ofFolder };
}
