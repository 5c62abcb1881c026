// What the worker has refused, in the reader's language: an order that the web accepted, as only the lab itself could
// know.

// -> the reason, null where none of a frame's events is a refusal.
export const refusalIn = (events, language) =>
  events.find(({ kind }) => kind === "lab.command_refused")?.data.words[language] ?? null;
