// The 17 calls of a client as a list that stays: each with its last answer; the chosen one has its arguments below.

import { FieldError } from "../base/field_errors.js";
import { clock, number } from "../base/say.js";
import { shortKey } from "./chips.js";

// In the order in which a program uses them. fields: of the form.
export const CALLS = {
  start: [["topics", "text"], ["filters", "text"], ["source_count", "number"], ["node_id", "number"]],
  getPartitionMetaInfo: [],
  isPartitionsReady: [["wait_ms", "number"]],
  getCurRegisteredPartSet: [],
  connect2Partition: [["partition", "text"], ["offset", "number"]],
  disconnectFromPartition: [["partition", "text"]],
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
export function answerWords(call, answer, say) {
  if (answer === null || answer === undefined) return { code: "", look: "m", text: say("balance.call.never") };
  const { code, value, argument, exception } = answer, hasValue = value !== null && value !== undefined;
  if (exception) return { code: "", look: "er", text: exception };
  if (call === "shutdown") return { code: "", look: "", text: say("balance.call.void") };
  const shown = hasValue ? (BRIEF[call] ?? valueText)(value, say) : argumentText(call, argument);
  if (code === null || code === undefined) return { code: "", look: "", text: shown };
  const isOk = code === 200;
  return { code: String(code), look: isOk ? "ok" : "er", text: isOk ? shown : shown || say(`balance.code.${code}`) };
}

const BRIEF = {
  getPartitionMetaInfo: (map, say) => say("balance.answer.map", openOf(map)),
  getMessage: ({ partition, count }, say) => say("balance.answer.batch", { key: shortKey(partition), count }),
  confirmConsume: ({ curr_offset: offset }, say) => say("balance.answer.offset", { offset }),
  getCurPartitionOffsetInfos: (infos) =>
    Object.entries(infos).map(([key, [offset, end]]) => `${shortKey(key)}=${offset}/${end}`).join(" ") || "∅",
};

// The program's query has the numbers, a person's the map.
function openOf(map) {
  if (typeof map.partitions === "number") return { count: map.partitions, open: map.subscribable };
  return { count: Object.keys(map).length, open: Object.values(map).filter(Boolean).length };
}

// The answer to a person's own call, whole. -> {code, look, text, more: lines}
export function wholeAnswer(call, answer, say) {
  const words = answerWords(call, answer, say), { code, why, value } = answer ?? {};
  if (!answer) return { ...words, text: say("balance.answer.none"), more: [] };
  if (words.look === "er") {
    const text = words.code === "" ? words.text : say(why ? `balance.check.${why}` : `balance.code.${code}`);
    return { ...words, text, more: [] };
  }
  const hasValue = value !== null && value !== undefined;
  if (WHOLE[call] && hasValue) {
    return { ...words, text: BRIEF[call]?.(value, say) ?? "", more: WHOLE[call](value, say) };
  }
  return { ...words, text: hasValue ? plain(value, say) : words.text, more: [] };
}

const WHOLE = {
  getPartitionMetaInfo: (map, say) => Object.entries(map).map(([key, isOpen]) =>
    say(isOpen ? "balance.answer.open" : "balance.answer.closed", { key })),
  getMessage: ({ context, count, records, curr_offset: offset, max_offset: end }, say) => [
    say("balance.answer.context", { context }), say("balance.answer.offsets", { offset, end }),
    ...records.map(({ key, offset: at }) => `${number(at)} ${key ?? say("balance.answer.no_key")}`),
    ...(count > records.length ? [say("balance.answer.more", { count: count - records.length })] : []),
  ],
  getCurPartitionOffsetInfos: (infos, say) => Object.entries(infos).map(([key, [offset, end, at]]) =>
    say("balance.answer.info", { key, offset, end, at: clock(at) })),
};

// As it stands, so that it can be typed back.
function plain(value, say) {
  if (Array.isArray(value)) return value.join(" ") || "∅";
  if (typeof value === "object") {
    return Object.entries(value).map(([name, each]) => `${name}=${each}`).join(" ") || "∅";
  }
  return typeof value === "string" ? value : valueText(value, say);
}

export function valueText(value, say) {
  if (typeof value === "boolean") return say(value ? "balance.yes" : "balance.no");
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return value.map((each) => shortText(each)).join(" ") || "∅";
  if (typeof value === "object") {
    return Object.entries(value).map(([name, each]) => `${shortText(name)}=${valueText(each, say)}`).join(" ") || "∅";
  }
  return shortText(value);
}

// A confirm context stands whole.
const argumentText = (call, argument) => (call === "confirmConsume" ? String(argument ?? "") : shortText(argument));

// Partitions by their short names, wherever one stands in the text; what only begins like one stays.
const shortText = (text) => String(text ?? "").replace(/(?<![\w:])\d+:[^:,\s]+:\d+(?![\d:])/g, shortKey);

// values: field -> what stands in it. -> arguments of the order. Fails with a FieldError.
export function argsOf(call, values) {
  return Object.fromEntries(CALLS[call].map(([name, kind]) => [name, read(name, kind, values[name])]));
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
  const filters = args.filters ? { filters: args.filters } : {};
  return { kind: "tubemq_call", consumer, args: { call, key, number, node_id: args.node_id ?? 0, ...filters } };
}
