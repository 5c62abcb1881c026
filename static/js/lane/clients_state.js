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

// As a program is given it. host: "" for where the page is.
export const addressOf = (clients, port, hostname) =>
  clients.address.replace(/@.*/u, `@${clients.host || hostname}:${port}/`);
