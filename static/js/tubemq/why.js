// What "Why?" is asked about on this page: the partition that is chosen, else the client.

export function chosenThing(lane, { partition, client }) {
  const thing = partition !== null ? `partition:${partition}` : client !== null ? `consumer:${client}` : `lane:${lane}`;
  return { lane, thing };
}

// A chip is "broker/<partition>", "takes/<client>/<partition>" or the like.
export function thingAt(target, lane, { partitions }) {
  const key = target.closest("[data-part]")?.dataset.part?.split("/").at(-1);
  return key in partitions ? { lane, thing: `partition:${key}` } : null;
}
