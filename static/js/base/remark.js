// What a new lab's page says once about where the lab comes from: what of a study it cannot play, of which moment it is
// a copy.

import { sentences as joined } from "./say.js";

const nameOf = (lab) => `highwater.remark.${lab}`;

export function keepRemark(lab, sentences) {
  try {
    if (sentences.length) sessionStorage.setItem(nameOf(lab), joined(sentences));
  } catch {
    // A browser that keeps nothing: the lab opens without the remark.
  }
}

// The remark, null without one or when it has been given out before.
export function takeRemark(lab) {
  try {
    const text = sessionStorage.getItem(nameOf(lab));
    sessionStorage.removeItem(nameOf(lab));
    return text;
  } catch {
    return null;
  }
}
