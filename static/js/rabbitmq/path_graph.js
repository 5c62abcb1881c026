// Messages' ways and the graph: which messages went through a node, and what of the graph a way lights.

// The messages that are followed and went through a node of the graph, all of them without one: [message, its last
// step], the newest first. chosen: {kind, name} or null.
export function through(paths, chosen) {
  const touches = ({ queue, queues, exchange, program }) => ({
    queue: queue === chosen?.name || Boolean(queues?.includes(chosen?.name)), exchange: exchange === chosen?.name,
    consumer: program === chosen?.program, publisher: program === chosen?.program,
  })[chosen?.kind] ?? true;
  return Object.entries(paths.of)
    .filter(([, { is_followed: isFollowed, steps }]) => isFollowed && steps.some(touches))
    .map(([message, { steps }]) => [Number(message), steps.at(-1)])
    .sort(([one, last], [other, before]) => before.at_us - last.at_us || other - one);
}

// What of the graph a way lights: all of its steps, or one. -> {ways: Set, parts: Set}, or null without a way.
export function litOf(steps, vhost, place = null) {
  if (!steps) return null;
  const own = steps.filter((step, at) => step.vhost === vhost && (place === null || at === place));
  return {
    ways: new Set(own.flatMap(({ ways }) => ways)), parts: new Set(own.flatMap(({ parts }) => parts)),
  };
}
