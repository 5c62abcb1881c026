// What a person can order of the server: each order's fields, and how what is typed becomes its arguments. Which orders
// there are says the server's registry; what is wrong with one it says at the field.

const NAME = { name: "name", kind: "text" }, FLAG = (name) => ({ name, kind: "flag" });
const TABLE = (hint) => ({ name: "arguments", kind: "table", hint });
const QUEUE = { name: "name", kind: "text", list: "queues" }, EXCHANGE = { ...QUEUE, list: "exchanges" };
const BINDING = [
  { name: "source", kind: "text", list: "exchanges" },
  { name: "destination_type", kind: "choice", choices: "destinations" },
  { name: "destination", kind: "text", list: "all" }, { name: "routing_key", kind: "text" }, TABLE("format=pdf"),
];

// A field's label is its name, unless it has one of its own.
// Verb -> {fields, isMethod: goes out in the chosen virtual host as the chosen user}.
export const FORMS = {
  declare_queue: { isMethod: true, fields: [NAME, FLAG("durable"), FLAG("auto_delete"), TABLE("x-max-length=100")] },
  declare_exchange: {
    isMethod: true,
    fields: [
      NAME, { name: "type", kind: "choice", choices: "types" }, FLAG("durable"), FLAG("auto_delete"), FLAG("internal"),
      TABLE("alternate-exchange=dead"),
    ],
  },
  bind: { isMethod: true, fields: BINDING },
  unbind: { isMethod: true, fields: BINDING },
  get: { isMethod: true, fields: [QUEUE, { name: "then", kind: "choice", choices: "settles" }] },
  purge: { isMethod: true, fields: [QUEUE] },
  delete_queue: { isMethod: true, fields: [QUEUE, FLAG("if_unused"), FLAG("if_empty")] },
  delete_exchange: { isMethod: true, fields: [EXCHANGE, FLAG("if_unused")] },
  permissions: {
    fields: [
      { name: "user", kind: "choice", choices: "users" }, { name: "vhost", kind: "choice", choices: "vhosts" },
      { name: "configure", kind: "text" }, { name: "write", kind: "text" }, { name: "read", kind: "text" },
      FLAG("is_cleared"),
    ],
  },
  topic_permissions: {
    fields: [
      { name: "user", kind: "choice", choices: "users" }, { name: "vhost", kind: "choice", choices: "vhosts" },
      { ...EXCHANGE, name: "exchange" }, { name: "write", kind: "text", label: "write_keys" },
      { name: "read", kind: "text", label: "read_keys" }, { ...FLAG("is_cleared"), label: "is_free" },
    ],
  },
  user: { fields: [NAME, { name: "password", kind: "text" }, { name: "tags", kind: "words" }] },
  vhost: { fields: [NAME] },
  import: { fields: [{ name: "definitions", kind: "json", hint: "{\"queues\": []}" }] },
};

// Orders of the server's own, without a form: id -> [kind, arguments].
export const SERVER = {
  stop: ["stop", {}], crash: ["crash", {}], start: ["start", {}],
  memory_on: ["alarm", { resource: "memory", is_on: true }],
  memory_off: ["alarm", { resource: "memory", is_on: false }],
  disk_on: ["alarm", { resource: "disk", is_on: true }], disk_off: ["alarm", { resource: "disk", is_on: false }],
};

export function serverVerbs({ is_running: isRunning, alarms }) {
  if (!isRunning) return ["start"];
  return ["stop", "crash", ...["memory", "disk"].map((one) => `${one}_${alarms.includes(one) ? "off" : "on"}`)];
}

// values: field -> what stands in it, a flag's true or false. -> arguments. Fails with a FieldError.
export function argsOf(verb, values) {
  return Object.fromEntries(FORMS[verb].fields.map(({ name, kind }) => [name, READ[kind](name, values[name])]));
}

export class FieldError extends Error {
  constructor(field, code) {
    super(code);
    this.field = field;
  }
}

const READ = {
  text: (_, value) => value,
  choice: (_, value) => value,
  flag: (_, value) => value,
  words: (_, value) => value.split(/[\s,]+/).filter(Boolean),
  table: (name, value) => tableOf(name, value),
  json: (name, value) => {
    try {
      return JSON.parse(value);
    } catch {
      throw new FieldError(`args.${name}`, "topology.not_json");
    }
  },
};

// A table as one types it: a name=value a line; a value is JSON where it reads as such, else a text.
export function tableOf(name, typed) {
  const table = {};
  for (const line of typed.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const cut = line.indexOf("=");
    if (cut < 1) throw new FieldError(`args.${name}`, "topology.not_pairs");
    table[line.slice(0, cut).trim()] = valueOf(line.slice(cut + 1).trim());
  }
  return table;
}

// Numbers beyond what a float holds to the unit stay texts, so that none changes on its way.
function valueOf(typed) {
  try {
    const value = JSON.parse(typed);
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? typed : value;
  } catch {
    return typed;
  }
}
