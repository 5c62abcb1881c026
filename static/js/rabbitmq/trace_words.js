// What is said of a traced connection, and a method's fields as one reads them.

import { shown } from "./tried.js";

// A field a pair; one within another goes by a name of both: properties.headers.format.
export function fieldsWords(fields, within = "") {
  return Object.entries(fields).map(([name, value]) => {
    const isTable = value !== null && typeof value === "object" && !Array.isArray(value) && !("$t" in value);
    if (isTable && Object.keys(value).length) return fieldsWords(value, `${within}${name}.`);
    return `${within}${name}=${isTable ? "{}" : value === "" ? "“”" : shown(value)}`;
  }).join("  ");
}

export function traceWords({ connection, channel, until_us: untilUs, heard }, connections, nowUs, say) {
  if (!connection) return say(heard ? "topology.trace.ended" : "topology.trace.about", { heard });
  const params = { name: connections[connection]?.name ?? connection, channel, heard, left_us: untilUs - nowUs };
  if (!(connection in connections)) return say("topology.trace.gone", params);
  return say(channel ? "topology.trace.of_channel" : "topology.trace.of", params);
}
