// What "Why?" is asked about on this page: the queue, exchange or consumer that is chosen in the picture, else the
// program that is.

const named = (kind, name, vhost) => `${kind}:${vhost === "/" ? name : `${name}@${vhost}`}`;

// graph: the virtual host's part of the panel.
function nodeThing(kind, name, { vhost, graph }) {
  if (kind === "consumer") return `consumer:${graph.consumers[name]?.name}`;
  return ["queue", "exchange"].includes(kind) ? named(kind, name, vhost) : null;
}

export function chosenThing(lane, { chosen, program, ...at }) {
  const thing = chosen && nodeThing(chosen.kind, chosen.name, at);
  return { lane, thing: thing ?? (program === null ? `lane:${lane}` : `consumer:${program}`) };
}

export function thingAt(target, lane, at) {
  const part = target.closest("[data-part]")?.dataset.part, cut = part?.indexOf(":");
  const thing = part ? nodeThing(part.slice(0, cut), part.slice(cut + 1), at) : null;
  return thing && { lane, thing };
}
