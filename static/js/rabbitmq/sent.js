// Orders of the page's forms that are on their way, each known by its place among the lab's commands, until the lab has
// answered or refused it. A frame may be quicker than the answer to the request.

const REFUSED = "lab.command_refused";

// send(command): a promise of {position}. refuse(event): says a refusal that no form has shown.
// -> {send(command, take), hear(event), isWaiting(take)}
export function createSent({ send, refuse }) {
  const open = new Map(), early = new Map();
  let sending = 0;

  // take: {answered(event), refused(event): whether the form has shown it}.
  async function order(command, take) {
    sending += 1;
    try {
      const { position } = await send(command);
      const event = early.get(position);
      early.delete(position);
      if (!event) open.set(position, take);
      else if (!settle(take, event)) refuse(event);
    } finally {
      sending -= 1;
      if (!sending) {
        for (const event of early.values()) if (event.kind === REFUSED) refuse(event);
        early.clear();
      }
    }
  }

  function settle(take, event) {
    if (event.kind === REFUSED) return take.refused(event);
    take.answered(event);
    return true;
  }

  return {
    send: order,
    // Of each event of a frame. -> whether it needs no more words: a refusal that stands at its form.
    hear(event) {
      const position = event.cause?.command, take = open.get(position);
      if (take) {
        open.delete(position);
        return settle(take, event);
      }
      if (!sending || position === undefined || early.has(position)) return false;
      early.set(position, event);
      return event.kind === REFUSED;
    },
    isWaiting: (take) => [...open.values()].includes(take),
  };
}
