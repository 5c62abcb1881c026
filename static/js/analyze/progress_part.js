// What the websocket's news make of a study, and which part of it is done, for its bar.

export const STAGES = ["reading", "grouping", "routing", "lab", "writing"];

// Of the whole study, every stage taken as long as any other; null where nobody knows yet.
export function wholePart({ stage, done, total }) {
  const at = STAGES.indexOf(stage);
  return at < 0 ? null : (at + (total > 0 ? Math.min(1, done / total) : 0)) / STAGES.length;
}

// The study after a message. One that began while its page was open had no start and, perhaps, nobody to run it before.
export const heard = (study, { state, started_at, progress }) => ({
  ...study, state, started_at, progress, worker: study.worker || (study.state === "queued" && state === "running"),
});
