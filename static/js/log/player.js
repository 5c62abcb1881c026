// A look-up as moments, one after another: the segment is chosen, each slot of an index is looked at, the row is found,
// each batch header is passed, the batch is found. `moments` is arithmetic; the player walks through them by hand or
// automatically.

import { hopsOf } from "./scan.js";

export const STEP_MS = 480;
const HOPS_MAX = 24;

// [{step: index into look-up's steps, probes, scanned, isResult}]; the steps before it are shown whole.
export function moments(lookup) {
  return lookup.steps.flatMap((step, index) => {
    if (step.step === "index") {
      const looks = step.probes.map((_, place) => ({ step: index, probes: place + 1, scanned: 0, isResult: false }));
      return [...looks, { step: index, probes: step.probes.length, scanned: 0, isResult: true }];
    }
    if (step.step === "scan") {
      const hops = Math.max(0, hopsOf(step, lookup.found)), stride = Math.max(1, Math.ceil(hops / HOPS_MAX)), list = [];
      for (let scanned = 0; scanned < hops; scanned += stride) {
        list.push({ step: index, probes: 0, scanned, isResult: false });
      }
      return [...list, { step: index, probes: 0, scanned: hops, isResult: true }];
    }
    return [{ step: index, probes: 0, scanned: 0, isResult: true }];
  });
}

// onMoment(moment, place, count): draws it. clock: setTimeout and clearTimeout, so that a test can do without waiting.
export function createPlayer({ onMoment, onState = () => {}, clock = globalThis }) {
  let list = [], place = 0, timer = null;

  function show(to) {
    place = Math.max(0, Math.min(list.length - 1, to));
    if (list.length) onMoment(list[place], place, list.length);
    if (place >= list.length - 1) stop();
    onState({ place, count: list.length, isPlaying: timer !== null });
  }

  function stop() {
    if (timer !== null) clock.clearTimeout(timer);
    timer = null;
  }

  function tick() {
    timer = clock.setTimeout(() => {
      tick();
      show(place + 1);
    }, STEP_MS);
  }

  return {
    // Begin a look-up: at its first moment and moving, or at its end.
    open(lookup, isMoving) {
      stop();
      list = moments(lookup);
      if (isMoving && list.length > 1) tick();
      show(isMoving ? 0 : list.length - 1);
    },
    // There is nothing to walk through: what was shown is not drawn again either.
    close() {
      stop();
      list = [];
      place = 0;
    },
    back() { stop(); show(place - 1); },
    next() { stop(); show(place + 1); },
    toggle() {
      if (timer !== null) {
        stop();
        show(place);
      } else {
        const from = place >= list.length - 1 ? 0 : place;
        tick();
        show(from);
      }
    },
    redraw() { if (list.length) onMoment(list[place], place, list.length); },
    moment: () => list[place] ?? null,
  };
}
