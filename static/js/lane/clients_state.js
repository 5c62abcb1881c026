// Whether a lab is open to real clients, as its view says it.

export const OPEN = "rabbitmq_open", CLOSE = "rabbitmq_close";
const MIB = 1 << 20;

// What there is to say. lane: of the view, the RabbitMQ lane that is shown. clients: of the page.
export function clientsState(view, lane, clients) {
  const open = view.feed?.clients, { connections_max: most, bytes_max: bytes, is_on: isOn } = clients;
  if (!view.lanes[lane].is_open) return { code: isOn ? "clients.own" : "clients.off", act: isOn ? "new" : null };
  if (!open) return { code: isOn ? "clients.closed" : "clients.off", act: isOn ? OPEN : null };
  const bounds = [];
  if (open.refused) bounds.push(["clients.refused", { count: open.refused, most }]);
  if (open.cut) bounds.push(["clients.cut", { count: open.cut, most: bytes / MIB }]);
  const why = open.port ? null : `clients.${open.why_not || "opening"}`;
  const code = why ?? (view.playing ? "clients.listening" : "clients.paused");
  return { code, params: { count: open.count }, act: CLOSE, port: open.port, bounds };
}

const SLOW_MS = 1_000;
// What can be done to a connection: its orders. The faults of the core (broker_core/wire/faults/) do it.
const FAULTS = {
  hold: { do: "hold", by: "server", must_hit: false },
  slow: { do: "delay", by: "server", ms: SLOW_MS, must_hit: false },
};
const ENDS = { hold: "let_go", slow: "full_speed" };

// Who is connected from outside, and what can be done to it. panel: `rabbitmq` of the lane's view.
// -> [{key, name, channels, unacked, held, verbs: [{id, order}]}]
export function clientRows({ connections, faults }) {
  return Object.entries(connections).filter(([, { socket }]) => socket !== undefined).map(([key, each]) => {
    const number = Number(key);   // several may have one name
    const own = faults.filter((fault) => fault.connection_number === number && !fault.method);
    const verbs = Object.entries(FAULTS).map(([id, args]) => {
      const known = own.find((fault) => fault.do === args.do);
      return known
        ? { id: ENDS[id], order: { kind: "rabbitmq_fault_end", args: { fault: known.id, is_gone: true } } }
        : { id, order: { kind: "rabbitmq_fault", args: { ...args, connection_number: number } } };
    });
    const acts = [{ do: "close", socket: each.socket }];
    verbs.push({ id: "drop", order: { kind: "rabbitmq_socket", args: { acts } } });
    const held = own.filter((fault) => fault.do === "hold").reduce((sum, fault) => sum + fault.held, 0);
    return { key, name: each.name, channels: each.channels, unacked: each.unacked, held, verbs };
  });
}

// As a program is given it. host: "" for where the page is.
export const addressOf = (clients, port, hostname) =>
  clients.address.replace(/@.*/u, `@${clients.host || hostname}:${port}/`);
