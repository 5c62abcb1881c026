// The topology of the mock, as the server would send it, and what its pages are tried with.

const queue = (name, more = {}) => ({
  name, durable: true, exclusive: false, auto_delete: false, arguments: {}, ready: 0, unacked: 0, published: 0,
  delivered: 0, acked: 0, dead_letters_to: null, growing: "", growing_by: [], ...more,
});
const exchange = (name, type, more = {}) => ({
  name, type, durable: true, auto_delete: false, internal: false, alternate: "", published: 0, unroutable: 0, ...more,
});
const binding = (source, destination, routingKey, more = {}) => ({
  source, kind: "queue", destination, routing_key: routingKey, arguments: {}, routed: 0, ...more,
});
const consumer = (name, of, unacked, prefetch, more = {}) => ({
  name, tag: name, queue: of, prefetch_count: prefetch, unacked, no_ack: false, priority: 0, is_active: true,
  is_gone: false, ...more,
});
const named = (all) => Object.fromEntries(all.map((each) => [each.name, each]));

export const ORDERS = {
  vhost: "flights", vhosts: ["flights"],
  publishers: {
    1: { name: "shop", user: "shop", published: 7, is_blocked: false },
    2: { name: "feed", user: "feed", published: 10, is_blocked: false },
    3: { name: "ops", user: "ops", published: 1, is_blocked: true },
  },
  exchanges: named([
    exchange("tasks", "direct"), exchange("orders", "topic", { alternate: "dead" }), exchange("audit", "fanout"),
    exchange("docs", "headers"), exchange("dead", "direct"),
  ]),
  queues: named([
    queue("invoices"), queue("eu_orders", { dead_letters_to: "dead" }),
    queue("created", { ready: 342, growing: "prefetch_full", growing_by: ["3"] }), queue("all_orders", { ready: 2 }),
    queue("audit_log"), queue("pdf", { ready: 151, growing: "no_consumer" }), queue("parked", { durable: false }),
  ]),
  consumers: {
    1: consumer("c1", "invoices", 3, 5), 2: consumer("c2", "eu_orders", 2, 5), 3: consumer("c3", "created", 10, 10),
    4: consumer("c4", "all_orders", 5, 5), 5: consumer("c5", "audit_log", 1, 0),
    6: consumer("c6", "all_orders", 40, 250, { is_active: false }),
  },
  publishes: {
    a: { publisher: "1", exchange: "tasks", published: 3 }, b: { publisher: "1", exchange: "audit", published: 4 },
    c: { publisher: "2", exchange: "orders", published: 10 }, d: { publisher: "3", exchange: "docs", published: 1 },
  },
  bindings: {
    k1: binding("tasks", "invoices", "invoice"), k2: binding("orders", "invoices", "*.*.paid"),
    k3: binding("orders", "eu_orders", "orders.eu.*"), k4: binding("orders", "eu_orders", "*.eu.#"),
    k5: binding("orders", "created", "orders.*.created"), k6: binding("orders", "all_orders", "orders.#"),
    k7: binding("audit", "audit_log", "all"), k8: binding("docs", "pdf", "", { arguments: { format: "pdf" } }),
    k9: binding("dead", "parked", "eu"), k10: binding("orders", "audit", "a.key.that.is.much.longer.than.its.line.is", {
      kind: "exchange",
    }),
  },
  dead_letters: { x: { queue: "eu_orders", exchange: "dead", routing_key: "", reasons: { rejected: 12 } } },
  returns: { r: { exchange: "tasks", publisher: "1", routing_key: "refund", returned: 4 } },
};

export const EMPTY = {
  vhost: "/", vhosts: ["/"], publishers: {}, exchanges: {}, queues: {}, consumers: {}, publishes: {}, bindings: {},
  dead_letters: {}, returns: {},
};

export const WORDS = {
  heads: { publisher: "Publishers", exchange: "Exchanges", queue: "Queues", consumer: "Consumers" },
  key: ({ routing_key: key, arguments: wants }) =>
    Object.entries(wants).map(([name, value]) => `${name}=${value}`).join(" ") || key,
  deadLetter: ({ reasons }) => Object.entries(reasons).map(([reason, count]) => `${reason}: ${count}`).join(", "),
  returned: ({ routing_key: key, returned }) => `no route for ${key}: ${returned} returned`,
  nobody: () => "no consumer",
  type: ({ type }) => type,
  auto: () => "auto-ack",
  dropped: ({ dropped }) => `${dropped} dropped`,
};

const word = (pattern, at, width, isMatch) => ({ pattern, at, width, is_match: isMatch });
const row = (id, destination, words, more = {}) => ({
  binding: id, kind: "queue", destination, routing_key: "", is_match: true, is_again: false, words, left_over: 0,
  x_match: "", pairs: [], ...more,
});

export const TRIED = {
  exchange: "orders", type: "topic", routing_key: "orders.eu.created", words: ["orders", "eu", "created"],
  rows: [
    row("k3", "eu_orders", [word("orders", 0, 1, true), word("eu", 1, 1, true), word("*", 2, 1, true)]),
    row("k4", "eu_orders", [word("*", 0, 1, true), word("eu", 1, 1, true), word("#", 2, 1, true)], { is_again: true }),
    row("k6", "all_orders", [word("orders", 0, 1, true), word("#", 1, 2, true)]),
    row("k2", "invoices", [word("*", 0, 1, true), word("*", 1, 1, true), word("paid", 2, 1, false)], {
      is_match: false,
    }),
    row("k11", "left", [word("orders", 0, 1, true)], { is_match: false, left_over: 2 }),
    row("k12", "short", [
      word("#", 0, 3, true), word("#", 3, 0, true), word("x", 3, 0, false),
    ], { is_match: false }),
  ],
  queues: ["all_orders", "eu_orders"], exchanges: [], user: "", refused: "",
};
