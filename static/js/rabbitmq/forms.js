// What a person can order of the server: each order's fields, and how what is typed becomes its arguments. Which orders
// there are says the server's registry; what is wrong with one it says at the field.

import { FieldError } from "../base/field_errors.js";

const NAME = { name: "name", kind: "text" }, FLAG = (name) => ({ name, kind: "flag" });
// The arguments that the server knows, with the type that it wants.
export const KNOWN = {
  queue: {
    "x-max-length": "integer", "x-max-length-bytes": "integer", "x-overflow": "string", "x-message-ttl": "integer",
    "x-expires": "integer", "x-dead-letter-exchange": "string", "x-dead-letter-routing-key": "string",
    "x-max-priority": "integer", "x-single-active-consumer": "boolean", "x-queue-mode": "string",
    "x-queue-type": "string", "x-queue-version": "integer",
  },
  exchange: { "alternate-exchange": "string", "hash-header": "string", "hash-property": "string" },
};
const TABLE = { name: "arguments", kind: "table" };
const USER = { name: "user", kind: "choice", choices: "users" };
const VHOST = { name: "vhost", kind: "choice", choices: "vhosts" };
const PASSWORD = { name: "password", kind: "text" }, TAGS = { name: "tags", kind: "words" };
const QUEUE = { name: "name", kind: "text", list: "queues" }, EXCHANGE = { ...QUEUE, list: "exchanges" };
const BINDING = [
  { name: "source", kind: "text", list: "exchanges" },
  { name: "destination_type", kind: "choice", choices: "destinations" },
  { name: "destination", kind: "text", list: "all" }, { name: "routing_key", kind: "text" },
  { ...TABLE, hasMatch: true },
];

// A field's label is its name, unless it has one of its own. isKey: it says what the others are known of.
// Verb -> {fields, isMethod: goes out in the chosen virtual host as the chosen user, isOnce: the form closes when it is
// done}.
export const FORMS = {
  declare_queue: {
    isMethod: true, fields: [
      { ...NAME, label: "name_or_none" }, FLAG("durable"), FLAG("exclusive"), FLAG("auto_delete"),
      { ...TABLE, known: KNOWN.queue },
    ],
  },
  declare_exchange: {
    isMethod: true,
    fields: [
      NAME, { name: "type", kind: "choice", choices: "types" }, FLAG("durable"), FLAG("auto_delete"), FLAG("internal"),
      { ...TABLE, known: KNOWN.exchange },
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
      { ...USER, isKey: true }, { ...VHOST, isKey: true }, { name: "configure", kind: "text" },
      { name: "write", kind: "text" }, { name: "read", kind: "text" },
      FLAG("is_cleared"),
    ],
  },
  topic_permissions: {
    fields: [
      { ...USER, isKey: true }, { ...VHOST, isKey: true }, { ...EXCHANGE, name: "exchange", isKey: true },
      { name: "write", kind: "text", label: "write_keys" },
      { name: "read", kind: "text", label: "read_keys" }, { ...FLAG("is_cleared"), label: "is_free" },
    ],
  },
  user: { isOnce: true, fields: [NAME, PASSWORD, TAGS] },
  change_user: { isOnce: true, fields: [{ ...USER, isKey: true }, { ...PASSWORD, label: "new_password" }, TAGS] },
  delete_user: { isOnce: true, fields: [USER] },
  vhost: { isOnce: true, fields: [NAME] },
  delete_vhost: { isOnce: true, fields: [VHOST] },
  import: { isOnce: true, fields: [{ name: "definitions", kind: "json", hint: "{\"queues\": []}" }] },
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

// values: field -> what stands in it, a flag's true or false, a table's table. -> arguments. Fails with a FieldError.
export function argsOf(verb, values) {
  return Object.fromEntries(FORMS[verb].fields.map(({ name, kind }) => [name, READ[kind](name, values[name])]));
}

// What is wrong deep in a file is said at the file, with its place: "exchanges[3].type".
export function atFile(verb, fields, say) {
  const files = FORMS[verb].fields.filter(({ kind }) => kind === "json").map(({ name }) => `args.${name}`);
  const found = {};
  for (const [field, texts] of Object.entries(fields)) {
    const file = files.find((one) => field.startsWith(`${one}.`));
    if (file === undefined) found[field] = texts;
    else {
      const place = field.slice(file.length + 1).replace(/\.(\d+)(?=\.|$)/g, "[$1]");
      const placed = [texts].flat().map((what) => say("list.named", { name: place, what }));
      found[file] = [...(found[file] ?? []), ...placed];
    }
  }
  return found;
}

const READ = {
  text: (_, value) => value,
  choice: (_, value) => value,
  flag: (_, value) => value,
  words: (_, value) => value.split(/[\s,]+/).filter(Boolean),
  table: (_, value) => value,
  json: (name, value) => {
    try {
      return JSON.parse(value);
    } catch {
      throw new FieldError(`args.${name}`, "topology.not_json");
    }
  },
};
