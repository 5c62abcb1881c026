// The 17 calls of a client as a list that stays: each with its last answer; the chosen one has its arguments below.

import { number } from "../base/say.js";
import { shortKey } from "./chips.js";

// In the order in which a program uses them. fields: of the form; a partition is chosen from the lane's.
export const CALLS = {
  start: [["topics", "text"], ["source_count", "number"], ["node_id", "number"]],
  getPartitionMetaInfo: [],
  isPartitionsReady: [["wait_ms", "number"]],
  getCurRegisteredPartSet: [],
  connect2Partition: [["partition", "partition"], ["offset", "number"]],
  disconnectFromPartition: [["partition", "partition"]],
  getMessage: [],
  confirmConsume: [["context", "text"], ["is_consumed", "flag"]],
  getCurPartitionOffsetInfos: [],
  getSourceCount: [],
  getNodeId: [],
  getConsumerId: [],
  getConsumerConfig: [],
  getClientVersion: [],
  isFilterConsume: [["topic", "text"]],
  isShutdown: [],
  shutdown: [],
};
export const DEFAULTS = { offset: "-1", wait_ms: "1000", source_count: "-1", node_id: "0", is_consumed: true };

// The last answer in a few words. -> {code: "200", look, text}
export function answerWords(answer, say) {
  if (answer === null || answer === undefined) return { code: "", look: "m", text: say("balance.call.never") };
  const { code, value, argument } = answer, hasValue = value !== null && value !== undefined;
  const shown = hasValue ? valueText(value, say) : shortText(argument);
  if (code === null || code === undefined) return { code: "", look: "", text: shown };
  return { code: String(code), look: code === 200 ? "ok" : "er", text: shown };
}

export function valueText(value, say) {
  if (typeof value === "boolean") return say(value ? "balance.yes" : "balance.no");
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return value.map(shortText).join(" ") || "∅";
  if (typeof value === "object") {
    return Object.entries(value).map(([name, each]) => `${shortText(name)}=${valueText(each, say)}`).join(" ") || "∅";
  }
  return shortText(value);
}

// Partitions by their short names, wherever one stands in the text.
const shortText = (text) => String(text ?? "").replace(/\d+:[^:,\s]+:\d+/g, shortKey);

// values: field -> what stands in it. -> arguments of the order. Fails with a FieldError.
export function argsOf(call, values) {
  return Object.fromEntries(CALLS[call].map(([name, kind]) => [name, read(name, kind, values[name])]));
}

export class FieldError extends Error {
  constructor(field, code) {
    super(code);
    this.field = field;
  }
}

function read(name, kind, value) {
  if (kind !== "number") return value;
  if (!/^-?\d+$/.test(value.trim())) throw new FieldError(`args.${name}`, "balance.not_number");
  return Number(value);
}

// The lab's order for a call of a client's: a key (topics, partition, context or topic) and two numbers.
export function orderOf(consumer, call, args) {
  const key = args.partition ?? args.context ?? args.topics ?? args.topic ?? "";
  const number = args.offset ?? args.wait_ms ?? args.source_count ?? Number(args.is_consumed ?? 0);
  return { kind: "tubemq_call", consumer, args: { call, key, number, node_id: args.node_id ?? 0 } };
}
