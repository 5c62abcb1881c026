// A message's way in words: a sentence for each step, and under it the bindings that took it on, each with its reason.

import { number } from "../base/say.js";
import { hashWords } from "./hashed.js";
import { fieldsWords } from "./trace_words.js";
import { shown } from "./tried.js";

// Messages of the workload have their number, those that people published a series of their own, from 1.
export function messageName(message, byHand, say) {
  return byHand
    ? say("topology.path.sent", { message: number(byHand) })
    : say("topology.path.record", { message: number(message) });
}

// What is asked of the server for a name or number that a person typed, as messageName writes them.
export function askedFor(typed, say) {
  const text = typed.trim(), digits = text.replace(/\D/g, "");
  if (text === "") return {};
  const isNamed = (byHand) =>
    messageName(Number(digits), byHand, say).replace(/,/g, "").toLowerCase() === text.replace(/,/g, "").toLowerCase();
  if (digits && isNamed(Number(digits))) return { by_hand: digits };
  return { message: digits && isNamed(0) ? digits : text.replace(/,/g, "") };
}

// step: of the panel or of the server's answer.
export function stepWords(step, say) {
  const { kind, program, queue, queues, exchange, routing_keys: keys } = step;
  const names = (queues ?? []).join(say("list.comma"));
  const one = { program, queue, exchange: exchange || say("topology.default"), names };
  if (kind === "published") return publishedWords(step, { ...one, key: keys.join(say("list.comma")) || "“”" }, say);
  if (kind === "delivered") {
    const again = step.redelivered ? "_again" : "";
    return say(`topology.path.${step.needs_ack ? "delivered" : "delivered_auto"}${again}`, one);
  }
  if (kind === "given_back") return say("topology.path.given_back", { ...one, reason: ruleWords(step.rule, say) });
  if (kind === "died") {
    const reason = say(`topology.path.reason.${step.reason}`);
    if (exchange === null) return say("topology.path.died", { ...one, reason });
    return say(queues.length ? "topology.path.died_to" : "topology.path.died_nowhere", { ...one, reason });
  }
  if (kind === "dropped") {
    return say("topology.path.dropped", { ...one, reason: say(`topology.path.reason.${step.reason}`) });
  }
  return say(`topology.path.${kind}`, { ...one, count: step.count });
}

const publishedWords = ({ queues }, params, say) =>
  say(queues.length ? "topology.path.published" : "topology.path.published_nowhere", params);

const RULES = ["missed_heartbeats", "closed_by_peer", "closed_by_operator", "consumer_timeout", "exception", "fault"];
function ruleWords(rule, say) {
  const known = RULES.find((each) => rule.endsWith(`.${each}`)) ?? "closed_by_client";
  return say(`topology.path.rule.${known}`);
}

// The method of a real client, or to one, behind a step: field by field, as a trace has it.
export const methodWords = ({ method }) => (method ? [`${method.name}  ${fieldsWords(method.fields)}`] : []);

// Of a step that came to an exchange: a line a binding. typeOf(exchange): its type, null where it is gone.
export function hopWords(step, typeOf, say) {
  if (step.is_changed) return [say("topology.path.changed")];
  return (step.hops ?? []).map((hop) => {
    const { source, name, row, is_taken: isTaken } = hop;
    if (row === null) return say("topology.path.by_alternate", { exchange: source, name });
    const to = hop.kind === "exchange" ? say("topology.try.exchange", { name }) : name;
    if (source === "") return say("topology.path.by_name", { name });
    const why = say("topology.path.by", { exchange: source, name: to, why: whyWords(row, typeOf(source), say) });
    return isTaken ? why : `${why} ${say("topology.path.circle", { name })}`;
  });
}

function whyWords(row, type, say) {
  if (type === "topic") return wordsOf(row, say);
  if (type === "headers") return pairsOf(row, say);
  if (row.hashed) return hashWords("path.why", row.hashed, say);
  if (type === "fanout") return say("topology.path.why.fanout");
  return say("topology.path.why.direct", { key: row.routing_key || "“”" });
}

// "orders.*.#", with what each wildcard stood for.
function wordsOf({ routing_key: key, words }, say) {
  const wild = words.filter(({ pattern }) => pattern === "*" || pattern === "#");
  if (!wild.length) return say("topology.path.why.topic_plain", { key: key || "“”" });
  const stood = wild.map(({ pattern, stood_for: taken }) =>
    say(taken ? "topology.path.why.stands" : "topology.path.why.stands_none", { pattern, taken }));
  return say("topology.path.why.topic", { key, stands: stood.join(say("list.comma")) });
}

function pairsOf({ x_match: match, pairs }, say) {
  const counted = pairs.filter(({ is_counted: isCounted, is_match: isMatch }) => isCounted && isMatch)
    .map(({ name, wanted }) => (wanted === null ? name : `${name}=${shown(wanted)}`));
  if (!counted.length) return say("topology.path.why.headers_none", { match });
  return say("topology.path.why.headers", { match, pairs: counted.join(say("list.comma")) });
}
