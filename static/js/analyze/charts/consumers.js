// The colour of each consumer of a study: by the order in which they first were there, as in a lab. A chart's dots
// cannot be textured, so the second seven carry a cross and the third a point, where the Stage has diagonals and dots.

import { number } from "../../base/say.js";

const HUES = 7, SYMBOLS = ["circle", "circle-x", "circle-dot"];

// -> Map name -> place from 1.
export function identities(result) {
  const places = new Map();
  for (const { members } of result.steps) {
    for (const name of members) if (!places.has(name)) places.set(name, places.size + 1);
  }
  return places;
}

export const hueOf = (place) => (place - 1) % HUES;
export const symbolOf = (place) => SYMBOLS[Math.floor((place - 1) / HUES) % SYMBOLS.length];

// "after c6 joined", for titles and the choice of a step.
export function stepWords(step, say) {
  if (step.kind === "start") return say("step.start", { count: step.members.length });
  return say(`step.${step.kind}`, { consumer: step.consumer, rate: step.rate });
}

export const stepChoice = (step, say) =>
  step.step === 0
    ? stepWords(step, say)
    : say("step.numbered", { step: number(step.step), what: stepWords(step, say) });
