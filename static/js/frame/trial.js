// Questions about the moment that the page shows: the server answers them with a copy of the lab.

import { page } from "../base/chrome.js";
import { ask } from "../base/requests.js";

// name: one for each place of the page that asks; of its questions the newest counts.
export function moments(name, url, past) {
  const bytes = crypto.getRandomValues(new Uint8Array(8)), look = `${name}-${Array.from(bytes, String).join("")}`;
  return (given) => {
    const { until_us: atUs, until_position: position } = past.isShown() ? past.moment() : {};
    const moment = atUs === undefined ? {} : { at_us: atUs, position: position ?? null };
    const known = Object.entries({ ...moment, ...given, look }).filter(([, value]) => value !== null);
    return ask(`${url}?${new URLSearchParams(known)}`);
  };
}

export const createTrial = (name, past) => moments(name, page.urls.trial, past);

// Whether a question was overtaken by a newer one of the same place.
export const isOvertaken = (error) => Boolean(error.fields?.look);

export const reasonOf = (error) => Object.values(error.fields ?? {})[0]?.[0] ?? "";
