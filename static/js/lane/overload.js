// Whether more records come in than the consumers that are at work can handle, as the view has their capacities.

const WORKING = ["live", "slow"];

// Who handles records now: of consumers with partitions or ranges of their own those that have some; of a queue all.
// One that still waits to be served handles nothing yet.
const isWorking = ({ state, share }, { kind }) => WORKING.includes(state) && (kind === "queue" || share !== 0);

// rate: records that come a second. "" while the load is within what they handle, and where no consumer is at work.
export function overloadWords({ consumers, picture }, rate, say) {
  const working = Object.values(consumers).filter((consumer) => isWorking(consumer, picture));
  const excess = rate - working.reduce((sum, { capacity }) => sum + capacity, 0);
  return working.length && excess > 0 ? say("overload", { count: working.length, excess }) : "";
}
