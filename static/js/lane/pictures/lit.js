// What a step of "Why?" speaks of, and which shapes of the lane's picture show that. The rest of the picture is dimmed
// meanwhile.

// -> { names: consumers and partitions, ranges: [[from, to]] of the hash space }, or null where the step is about the
// whole lane.
export function spokenOf(event, lane) {
  const told = { ...event.inputs, ...event.data }, partitions = lane.picture.partitions ?? {}, names = new Set();
  const isHere = (name) =>
    typeof name === "string" && (lane.order.includes(name) || name in (lane.picture.in_flight ?? {}));
  const subject = told.consumer ?? told.leader;
  if (told.assignment) {                                   // of an assignment, what changed hands by it
    for (const key in partitions) if (partitions[key].before !== partitions[key].owner) names.add(key);
  } else if (isHere(subject)) {
    names.add(subject);
    const own =
      told.partitions ??
      Object.keys(partitions).filter((key) => (partitions[key].assigned ?? partitions[key].owner) === subject);
    for (const key of own) names.add(String(key));
  }
  for (const entry of [...(told.given ?? []), ...(told.received ?? [])]) {
    if (isHere(entry.consumer)) names.add(entry.consumer);
  }
  const ranges = (told.ranges ?? []).concat((told.largest ?? []).map(({ start, end }) => [start, end]));
  return names.size || ranges.length ? { names, ranges } : null;
}

// The same shapes, those that are spoken of marked. A shape names its subject in `of`, else after the first dash of its
// id: "cell-3", "hand-c1-0".
export function light(root, shapes, lit) {
  root.toggleAttribute("data-lit", Boolean(lit));
  return lit
    ? shapes.map((shape) => (isLit(shape, lit.names) ? { ...shape, class: `${shape.class ?? ""} lit`.trim() } : shape))
    : shapes;
}

export function isLit({ id, of }, names) {
  if (id.startsWith("lit-")) return true;
  if (of !== undefined) return names.has(of);
  const target = id.slice(id.indexOf("-") + 1);
  if (!id.includes("-")) return false;
  for (const name of names) if (target === name || target.startsWith(`${name}-`)) return true;
  return false;
}
