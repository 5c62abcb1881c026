// Whether a lab is open to real clients, and what there is to do about it.
import assert from "node:assert/strict";
import test from "node:test";

import { addressOf, clientRows, clientsState } from "../../../static/js/lane/clients_state.js";

const CLIENTS = {
  is_on: true, host: "127.0.0.1", address: "amqp://guest:guest@127.0.0.1:5672/", connections_max: 32,
  bytes_max: 4 << 20,
};
const view = (clients, { isOpen = true, playing = true } = {}) => ({
  playing, feed: clients ? { clients } : {}, lanes: { r: isOpen ? { is_open: true } : {} },
});
const listening = { port: 5000, count: 2, refused: 0, cut: 0, why_not: "" };

test("a lab with programs of its own offers one for real clients, where the site takes any", () => {
  assert.deepEqual(clientsState(view(null, { isOpen: false }), "r", CLIENTS), { code: "clients.own", act: "new" });
  const off = clientsState(view(null, { isOpen: false }), "r", { ...CLIENTS, is_on: false });
  assert.deepEqual(off, { code: "clients.off", act: null });
});

test("a closed lab can be opened, an open one says where and how many are there", () => {
  assert.deepEqual(clientsState(view(null), "r", CLIENTS), { code: "clients.closed", act: "rabbitmq_open" });
  const { code, act, port, params } = clientsState(view(listening), "r", CLIENTS);
  assert.deepEqual([code, act, port, params.count], ["clients.listening", "rabbitmq_close", 5000, 2]);
  assert.equal(clientsState(view(listening, { playing: false }), "r", CLIENTS).code, "clients.paused");
});

test("why it does not listen, and who was turned away, is said", () => {
  const codeOf = (why) => clientsState(view({ ...listening, port: 0, why_not: why }), "r", CLIENTS).code;
  assert.deepEqual(["", "full", "no_port", "long"].map(codeOf), [
    "clients.opening", "clients.full", "clients.no_port", "clients.long",
  ]);
  const { bounds } = clientsState(view({ ...listening, refused: 3, cut: 1 }), "r", CLIENTS);
  assert.deepEqual(bounds, [["clients.refused", { count: 3, most: 32 }], ["clients.cut", { count: 1, most: 4 }]]);
});

test("the address has the lab's port, and the page's own host where the site listens everywhere", () => {
  assert.equal(addressOf(CLIENTS, 5000, "site"), "amqp://guest:guest@127.0.0.1:5000/");
  assert.equal(addressOf({ ...CLIENTS, host: "" }, 5000, "site"), "amqp://guest:guest@site:5000/");
});

test("of two connections with one name only the one is held whose button was pressed", () => {
  const each = { name: "worker", channels: 1, unacked: 0 };
  const connections = { 4: { ...each, socket: 1 }, 6: { ...each, socket: 2 } };
  const faults = [{ id: 7, do: "hold", by: "server", connection_number: 6, held: 2 }];
  const rows = clientRows({ connections, faults });
  assert.deepEqual(rows.map(({ held, verbs: [first] }) => [held, first.id]), [[0, "hold"], [2, "let_go"]]);
});

test("what can be done to a client is an order, and a fault that it has can be ended", () => {
  const connections = {
    1: { name: "billing", channels: 1, unacked: 0, socket: 4 }, 2: { name: "own", channels: 1, unacked: 0 },
  };
  const [row, ...others] = clientRows({ connections, faults: [] });
  assert.equal(others.length, 0);
  assert.deepEqual(row.verbs.map(({ id }) => id), ["hold", "slow", "drop"]);
  assert.deepEqual(row.verbs[0].order.args, { do: "hold", by: "server", must_hit: false, connection_number: 1 });
  assert.deepEqual(row.verbs[2].order.args, { acts: [{ do: "close", socket: 4 }] });
  const faults = [
    { id: 7, do: "hold", by: "server", connection_number: 1, held: 2 }, { id: 8, do: "delay", connection_number: 3 },
    { id: 9, do: "delay", connection_number: 1, method: "basic.publish" },
  ];
  const [held] = clientRows({ connections, faults });
  assert.deepEqual([held.held, held.verbs.map(({ id }) => id)], [2, ["let_go", "slow", "drop"]]);
  assert.deepEqual(held.verbs[0].order, { kind: "rabbitmq_fault_end", args: { fault: 7, is_gone: true } });
});
