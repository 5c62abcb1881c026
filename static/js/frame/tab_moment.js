// The bar's ways to the lab's other pages and lanes lead to the moment of the past that is shown.

import { momentHash } from "../lane/moment_link.js";

const WAYS = ".lab-tabs a:not(#to-settings, #to-break), .lane-tabs a";

// past: as createTransport has it.
export function keepMoment({ past }) {
  function keep({ target }) {
    const link = target.closest?.(WAYS);
    if (link) link.hash = past.isShown() ? momentHash(past.place()) : "";
  }
  for (const type of ["click", "auxclick"]) document.addEventListener(type, keep, true);
}
