// All groups that read the topic, the lab's own first: each gets every record, and in each one member gets a record.

import { NONE, number } from "../base/say.js";
import { readBy } from "./lanes.js";
import { runs } from "./tables.js";

const INSIDE = "\u2003";
const known = (value) => (value === null || value === undefined ? NONE : number(value));
const sum = (consumers) => consumers.reduce((total, { finished }) => total + (finished ?? 0), 0);

// A row for the group, then one for each of its consumers: [{name, partitions, finished}].
function rowsOf(name, state, lag, consumers, say) {
  return [
    [name, state ?? NONE, number(sum(consumers)), known(lag)],
    ...consumers.map((consumer) => [
      INSIDE + consumer.name, runs(consumer.partitions, say), known(consumer.finished), "",
    ]),
  ];
}

// {head, terms, rows, offsets} as writeTable takes them.
export function othersTable(group, lag, say) {
  const own = Object.entries(group.members).map(([key, { consumer, finished }]) => ({
    name: consumer, partitions: readBy(key, group, group.topic), finished,
  }));
  const rows = rowsOf(group.group_id, group.state, lag, own, say);
  for (const [name, other] of Object.entries(group.groups)) {
    rows.push(
      ...rowsOf(
        name,
        other.state,
        other.lag,
        Object.entries(other.consumers).map(([consumer, one]) => ({ name: consumer, ...one })),
        say,
      ),
    );
  }
  return {
    head: ["group", "owned", "handled", "lag"].map((code) => say(`groups.column.${code}`)),
    terms: [null, null, null, "group_lag"], rows, offsets: rows.map(() => null),
  };
}
