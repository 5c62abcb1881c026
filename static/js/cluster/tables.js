// The pictures as tables: what a screen reader reads, and what key T shows in their place.

import { NONE, number } from "../base/say.js";
import { linkWords, stageOf } from "./names.js";
import { doing, roleWords } from "./partition.js";

const figure = (value) => (value === null || value === undefined ? NONE : number(value));

export function copiesTable(partition, brokers, say) {
  return {
    head: ["broker", "role", "isr", "start", "hw", "leo", "lag", "epochs", "now"].map((code) =>
      say(`cluster.column.${code}`),
    ),
    terms: [null, null, null, null, "high_watermark", null, null, null, null],
    rows: Object.entries(partition.copies).map(([broker, copy]) => [
      broker, roleWords(copy, brokers[broker], say), say(copy.is_in_isr ? "cluster.yes" : "cluster.no"),
      figure(copy.start), figure(copy.high_watermark), figure(copy.end), figure(copy.lag),
      copy.epochs.map(([epoch, start]) => say("cluster.epoch_from", { epoch, start })).join(say("list.comma")) || NONE,
      doing(copy, say) || NONE,
    ]),
  };
}

export function partitionsTable(cluster, say) {
  return {
    head: ["partition", "state", "leader", "isr", "hw", "leo"].map((code) => say(`cluster.column.${code}`)),
    terms: [null, null, null, null, "high_watermark", null],
    rows: Object.entries(cluster.partitions).map(([name, partition]) => [
      name, say(`cluster.state.${partition.state}`), partition.leader < 0 ? NONE : String(partition.leader),
      partition.isr.join(" "), figure(partition.high_watermark), figure(partition.end),
    ]),
    keys: Object.keys(cluster.partitions),
  };
}

export function nodesTable(cluster, say) {
  return {
    head: ["broker", "state", "rack", "leads"].map((code) => say(`cluster.column.${code}`)),
    terms: [null, null, null, null],
    rows: Object.entries(cluster.brokers).map(([id, broker]) => [
      id, say(`cluster.stage.${stageOf(broker)}`), broker.rack ?? NONE, figure(broker.leads),
    ]),
  };
}

export const linksList = (cluster, say) => Object.keys(cluster.links).map((key) => linkWords(key, cluster, say));

