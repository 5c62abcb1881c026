// The log's own addresses: the folder, a look-up, a batch, what compaction does. Each is a plain reading of the server.

import { Refusal } from "../base/commands.js";

export const SETTINGS = ["index_interval_bytes", "retention_bytes", "retention_ms"];

// state: {lane, broker, topic, partition, settings: only those that a person changed}. moment(): {until_us,
// until_position, look} of the past that is shown, {} now.
export function createApi(base, state, moment) {
  async function get(path, params = {}) {
    const url = new URL(base + path, location.href);
    const all = {
      lane: state().lane, broker: state().broker, topic: state().topic, partition: state().partition,
      ...state().settings, ...moment(),
      ...params,
    };
    for (const [name, value] of Object.entries(all)) {
      if (value !== null && value !== undefined) url.searchParams.set(name, value);
    }
    const answer = await fetch(url, { credentials: "same-origin" });
    if (answer.ok) return answer.json();
    throw new Refusal(answer.status, (await answer.json().catch(() => ({}))).fields ?? {});
  }
  return {
    folder: () => get(""),
    lookup: ({ kind, value, rule }) =>
      get("lookup/", kind === "timestamp" ? { timestamp: value, rule } : { offset: value }),
    batch: ({ segment, position }) => get("batch/", { segment, position }),
    clean: () => get("clean/"),
    file: (name) => get("file/", { name }),
  };
}
