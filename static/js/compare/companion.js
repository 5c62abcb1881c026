// The other lab of two: its view at the moment that the page shows. The newest wish counts; where that lab has not come
// so far, its last picture stays.

import { ask } from "../base/requests.js";

const AGAIN_MS = 1000;

// start: its view as the page opens, which is how far it has come. url: of its past. changed(): another view is here.
export function createCompanion({ start, url, changed }) {
  const look = `beside-${Math.random().toString(36).slice(2)}`, endUs = start.at_us;
  let view = start, wish = null, isAsking = false, pageUs = start.at_us;

  async function answer() {
    isAsking = true;
    while (wish !== null) {
      const atUs = wish;
      wish = null;
      try {
        const picture = await ask(`${url}?${new URLSearchParams({ at_us: atUs, look })}`);
        view = picture.view;
        changed();
      } catch (error) {
        if (error.fields?.look) continue;                 // a newer one is on its way
        await new Promise((done) => setTimeout(done, AGAIN_MS));
        wish ??= Math.min(pageUs, endUs);
      }
    }
    isAsking = false;
  }

  return {
    view: () => view,
    isSame: () => view.at_us === pageUs,
    // Whether the page shows a moment to which that lab has not come.
    isShort: () => pageUs > endUs,
    follow(atUs) {
      const wanted = Math.min(atUs, endUs);
      if (atUs === pageUs) return;
      pageUs = atUs;
      if (view.at_us === wanted) return;
      wish = wanted;
      if (!isAsking) answer();
    },
  };
}
