// "Try a routing key" as a table: the key's words are the columns, every binding is a row under them. `*` and `#`
// say what they stand for, `#` is as wide as the words it takes; the first word that fails says what it failed on.
// Headers have a row of their x-match and pairs instead. The server has decided all of it (views/tried_message.py).

import { sentences } from "../base/say.js";

const DEFAULT_COLUMNS = 3;

// tried: the server's answer. -> {columns: the key's words, width: number of columns, rows: [{id, cells: [{span,
// word, stands, look}], state, destination, kind}], copies}. look: match | miss | none (a `#` that took no word) |
// left (words that a pattern leaves over) | missing (the message has no such header) | idle (an argument that does not
// count, a binding without buckets) | rule (the x-match: whether every pair has to match, or one). state: gets |
// again | not. hashed: of a consistent-hash exchange, what decides there.
// stands: what a wildcard stood for, what a word failed on, the header's value; null: there was nothing.
export function triedTable(tried) {
  const hasWords = tried.type === "topic";
  const columns = hasWords ? tried.words : [];
  const rows = tried.rows.map((row) => ({
    id: row.binding, cells: cellsOf(row, tried), state: stateOf(row), destination: row.destination, kind: row.kind,
  }));
  const width = Math.max(hasWords ? DEFAULT_COLUMNS : 1, columns.length, ...rows.map(({ cells }) => spanOf(cells)));
  return { columns, width, rows, copies: tried.queues.length };
}

const spanOf = (cells) => cells.reduce((sum, { span }) => sum + span, 0);
const stateOf = ({ is_match: isMatch, is_again: isAgain }) => (!isMatch ? "not" : isAgain ? "again" : "gets");

function cellsOf(row, tried) {
  if (tried.type === "topic") {
    return [...row.words.map((word) => wordCell(word, tried.words)), ...leftOver(row, tried.words)];
  }
  if (tried.type === "headers") return [ruleCell(row), ...row.pairs.map(pairCell)];
  if (row.hashed) return [bucketCell(row)];
  // Direct compares the whole key, fanout nothing.
  const isKey = tried.type === "direct", look = row.is_match ? "match" : "miss";
  return [{ span: 1, word: row.routing_key, stands: isKey && !row.is_match ? tried.routing_key : "", look }];
}

// A weight, and which buckets it gave.
function bucketCell({ routing_key: weight, hashed, is_match: isMatch }) {
  const look = isMatch ? "match" : hashed.own ? "miss" : "idle";
  return { span: 1, word: weight, stands: "", look, hashed };
}

function wordCell({ pattern, at, width, is_match: isMatch }, words) {
  const taken = words.slice(at, at + width).join(".");
  if (!isMatch) return { span: 1, word: pattern, stands: width ? taken : null, look: "miss" };
  const isWild = pattern === "*" || pattern === "#";
  if (!width) return { span: 1, word: pattern, stands: "", look: "none" };
  return { span: width, word: pattern, stands: isWild ? taken : "", look: "match" };
}

function leftOver({ left_over: count }, words) {
  return count ? [{ span: count, word: words.slice(words.length - count).join("."), stands: "", look: "left" }] : [];
}

const ruleCell = ({ x_match: match }) =>
  ({ span: 1, word: `x-match=${match}`, stands: match.startsWith("any") ? "one" : "each", look: "rule" });

function pairCell({ name, wanted, received, is_present: isPresent, is_counted: isCounted, is_match: isMatch }) {
  const look = !isCounted ? "idle" : isMatch ? "match" : isPresent ? "miss" : "missing";
  const word = wanted === null ? name : `${name}=${shown(wanted)}`;
  const stands = !isPresent ? null : wanted === null || !isMatch ? shown(received) : "";
  return { span: 1, word, stands, look };
}

const INTEGERS = "bBsuIil";

// A value of a table as one reads it; one that names its type keeps the letter, unless it is a width of whole numbers.
export function shown(value) {
  const hasType = value !== null && typeof value === "object" && "$t" in value && "v" in value;
  if (hasType) return INTEGERS.includes(value.$t) ? shown(value.v) : `${shown(value.v)} (${value.$t})`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

// Who gets a copy. alternate: the exchange that takes what matches nothing, "" for none.
export function sumWords(answer, rows, alternate, say) {
  const again = rows.filter(({ state }) => state === "again").length, words = [];
  if (answer.queues.length) words.push(say("topology.try.copies", { count: answer.queues.length }));
  if (answer.exchanges.length) {
    words.push(say("topology.try.to_exchanges", { names: answer.exchanges.join(say("list.comma")) }));
  }
  if (again) words.push(say("topology.try.agains", { count: again }));
  if (!answer.queues.length && !answer.exchanges.length) {
    words.push(alternate ? say("topology.try.alternate", { exchange: alternate }) : say("topology.try.nowhere"));
  }
  return sentences(words);
}
