// What a change would do, asked of the server: it gives the change to a copy of the lab, at the moment that the page
// shows.

import { page } from "../base/chrome.js";
import { ask } from "../base/requests.js";

// name: one for each place of the page that asks; of its questions the newest counts.
export function createTrial(name, past) {
  const look = `${name}-${Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join("")}`;
  return (given) => {
    const { until_us: atUs, until_position: position } = past.isShown() ? past.moment() : {};
    const moment = atUs === undefined ? {} : { at_us: atUs, position: position ?? null };
    const known = Object.entries({ ...moment, ...given, look }).filter(([, value]) => value !== null);
    return ask(`${page.urls.trial}?${new URLSearchParams(known)}`);
  };
}

// Whether a question was overtaken by a newer one of the same place.
export const isOvertaken = (error) => Boolean(error.fields?.look);

export const reasonOf = (error) => Object.values(error.fields ?? {})[0]?.[0] ?? "";
