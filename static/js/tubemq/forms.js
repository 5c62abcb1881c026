// What a person can order of a client, of the brokers and of the masters, beside the lab's own verbs: each order's
// fields, and how what is typed becomes its arguments. What is wrong with one the server says at its field.

import { FieldError } from "../base/field_errors.js";

const BROKER = { name: "broker", kind: "broker" }, MASTER = { name: "master", kind: "master" };

// Verb -> {kind: of the order, isOfClient: it needs the chosen client, fields}.
export const FORMS = {
  restart: {
    kind: "tubemq_restart", isOfClient: true,
    fields: [{ name: "source_count", kind: "optional" }, { name: "node_id", kind: "optional" }],
  },
  assign: {
    kind: "tubemq_assign", isOfClient: true,
    fields: [{ name: "partitions", kind: "keys" }, { name: "bootstrap", kind: "offsets" }],
  },
  by_rule: { kind: "tubemq_assign", isOfClient: true, fields: [] },
  hold: { kind: "tubemq_hold", isOfClient: true, fields: [{ name: "partition", kind: "partition" }] },
  confirm: { kind: "tubemq_confirm", isOfClient: true, fields: [{ name: "consumed", kind: "flag", isOn: true }] },
  offline: { kind: "tubemq_offline", fields: [BROKER] },
  online: { kind: "tubemq_online", fields: [BROKER] },
  accept: { kind: "tubemq_accept", fields: [BROKER, { name: "accepts", kind: "flag", isOn: false }] },
  black_list: { kind: "tubemq_black_list", fields: [{ name: "listed", kind: "flag", isOn: true }] },
  expand: { kind: "tubemq_expand", fields: [BROKER, { name: "count", kind: "number" }] },
  failover: { kind: "tubemq_failover", fields: [] },
  master_offline: { kind: "tubemq_master_offline", fields: [MASTER] },
  master_online: { kind: "tubemq_master_online", fields: [MASTER] },
  from_max: { kind: "tubemq_consume_from_max", fields: [] },
};

// values: field -> what stands in it, a flag's true or false. -> arguments. Fails with a FieldError.
export function argsOf(verb, values) {
  const args = FORMS[verb].fields.map(({ name, kind }) => [name, READ[kind](name, values[name])]);
  return Object.fromEntries(args.filter(([, value]) => value !== undefined));
}

const READ = {
  flag: (_, value) => value,
  broker: (_, value) => Number(value),
  master: (_, value) => Number(value),
  partition: (_, value) => value,
  number: (name, value) => whole(name, value),
  optional: (name, value) => (value.trim() === "" ? undefined : whole(name, value)),
  keys: (_, value) => value.split(/[\s,]+/).filter(Boolean),
  // key=offset a line
  offsets: (name, value) => Object.fromEntries(
    value.split(/[\s,]+/).filter(Boolean).map((pair) => {
      const cut = pair.lastIndexOf("=");
      if (cut < 1) throw new FieldError(`args.${name}`, "balance.not_offsets");
      return [pair.slice(0, cut), whole(name, pair.slice(cut + 1))];
    }),
  ),
};

function whole(name, value) {
  if (!/^-?\d+$/.test(value.trim())) throw new FieldError(`args.${name}`, "balance.not_number");
  return Number(value);
}
