// Which part of a study is done, for its bar.

export const STAGES = ["reading", "grouping", "routing", "lab", "writing"];

// Of the whole study, every stage taken as long as any other; null where nobody knows yet.
export function wholePart({ stage, done, total }) {
  const at = STAGES.indexOf(stage);
  return at < 0 ? null : (at + (total > 0 ? Math.min(1, done / total) : 0)) / STAGES.length;
}
