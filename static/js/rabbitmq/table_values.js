// A table of AMQP as rows that a person fills: name, type and what is typed, and how each becomes a value of the table.

import { FieldError } from "../base/field_errors.js";

export const TYPES = ["string", "integer", "double", "boolean", "void", "json"];
export const X_MATCH = "x-match", X_MATCHES = ["all", "any", "all-with-x", "any-with-x"];

// What the value's field holds, by type; null: none is asked for.
const READ = {
  string: (typed) => typed,
  integer: (typed) =>
    (/^[+-]?\d+$/.test(typed.trim()) && Number.isSafeInteger(Number(typed)) ? Number(typed) : undefined),
  double: (typed) =>
    (typed.trim() !== "" && Number.isFinite(Number(typed)) ? { $t: "d", v: Number(typed) } : undefined),
  boolean: (typed) => ({ "": true, true: true, false: false })[typed.trim()],
  void: () => null,
  json: (typed) => {
    try {
      return JSON.parse(typed);
    } catch {
      return undefined;
    }
  },
};

// rows: [{name, type, typed}]; match: an x-match, "" for none. -> the table. A row without name and value is nothing.
// Fails with a FieldError at `${field}.${name}` for a value, at `${field}/${place}` for a name.
export function tableOf(field, rows, match = "") {
  const table = match ? { [X_MATCH]: match } : {};
  rows.forEach(({ name, type, typed }, place) => {
    if (!name && !typed) return;
    const isTaken = Object.hasOwn(table, name);
    if (!name || isTaken) throw new FieldError(`${field}/${place}`, `topology.rows.${name ? "twice" : "no_name"}`);
    const value = READ[type](typed);
    if (value === undefined) throw new FieldError(`${field}.${name}`, `topology.rows.not_${type}`);
    Object.defineProperty(table, name, { value, enumerable: true, configurable: true, writable: true });
  });
  return table;
}
