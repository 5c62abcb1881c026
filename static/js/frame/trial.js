// Questions about the moment that the page shows: the server answers them with a copy of the lab.

import { page } from "../base/chrome.js";
import { ask } from "../base/requests.js";

// The moment that the page shows, as a look names it; {} is the present.
export function momentShown(past) {
  const { until_us: atUs, until_position: position } = past.isShown() ? past.moment() : {};
  return atUs === undefined ? {} : { at_us: atUs, position: position ?? null };
}

// name: one for each place of the page that asks; of its questions the newest counts.
export function moments(name, url, past) {
  const bytes = crypto.getRandomValues(new Uint8Array(8)), look = `${name}-${Array.from(bytes, String).join("")}`;
  return (given) => {
    const known = Object.entries({ ...momentShown(past), ...given, look }).filter(([, value]) => value !== null);
    return ask(`${url}?${new URLSearchParams(known)}`);
  };
}

export const createTrial = (name, past) => moments(name, page.urls.trial, past);

// Whether a question was overtaken by a newer one of the same place.
export const isOvertaken = (error) => Boolean(error.fields?.look);

export const reasonOf = (error) => Object.values(error.fields ?? {})[0]?.[0] ?? "";
