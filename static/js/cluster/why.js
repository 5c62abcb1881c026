// What "Why?" is asked about on this page: a mark of a log is that copy; a broker, a tile of the map of partitions and
// a consumer are themselves; where nothing is chosen it is the partition that is shown.

const BROKER = /^broker-(.+)$/;

// name: the partition that is shown, null without one. chosen: a part of the canvas, null for none. Of a broker it is
// the copy inside its box, where it has one.
export function chosenThing(lane, { name, chosen }, { cluster, consumers }) {
  const [, broker] = BROKER.exec(chosen ?? "") ?? [], hasCopy = broker in (cluster.partitions[name]?.copies ?? {});
  if (broker) return { lane, thing: hasCopy ? `replica:${name}/${broker}` : `broker:${broker}` };
  if (chosen in consumers) return { lane, thing: `consumer:${chosen}` };
  return { lane, thing: name === null ? `lane:${lane}` : `replicas:${name}` };
}

// Where what was pressed, or has the focus, is a thing of its own. lane: of the canvas that it is in.
export function thingAt(target, lane, name) {
  const broker = target.closest("svg [data-replica]")?.dataset.replica;
  if (broker && name !== null) return { lane, thing: `replica:${name}/${broker}` };
  const { broker: box, partition } = target.closest("[data-broker],[data-partition]")?.dataset ?? {};
  if (partition) return { lane, thing: `replicas:${partition}` };
  return box ? { lane, thing: `broker:${box}` } : null;
}
