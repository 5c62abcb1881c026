// The chain of causes in an answer of "Why?", as the core recorded it: what happened, because of what, by which rule,
// from what.

import { codeOf, what } from "../base/events.js";
import { clock, number, seconds, tickCode } from "../base/say.js";

const LONGEST = 400, CLOCK_TIMES = ["deadline_us", "paused_from_us"];

// answer: { chain, orders, model }. -> [{ clock, what, cause, rule, facts: [[label, value]], left }], oldest first:
// plain texts that Node tests. left: of a change, how many turning points before this one a long chain has left out, in
// words.
export function chain({ chain: events, orders, model, thing = "" }, { say, words }) {
  const known = new Map(events.map((event) => [event.id, event])), isWhole = !/^(lane|figure|total):/.test(thing);
  return events.map((event, index) => ({
    clock: clock(event.at_us), what: what(event, say), cause: because(event.cause, known, orders, say),
    rule: event.rule ?? "", facts: facts(event, model, say, words),
    left: isWhole || !index ? "" : leftOut(event.seq - events[index - 1].seq - 1, say),
  }));
}

const leftOut = (count, say) => (count > 0 ? say("why.left_out", { count }) : "");

function because(cause, known, orders, say) {
  if (!cause) return "";
  if (cause.event !== undefined && cause.event !== null) {
    const event = known.get(cause.event);
    return event ? say("why.because", { what: what(event, say) }) : say("why.earlier");
  }
  const command = orders[cause.command];
  if (!command) return say("why.your_earlier", { position: cause.command });
  const did = say(tickCode(command), command);
  if (command.kind === "rabbitmq_socket") return say("why.client", { did });
  return say(cause.command === 0 ? "why.start" : command.by === "demo" ? "why.demo" : "why.you", { did });
}

// What went into the decision and came out of it, but for what the event's words have said already and what is not
// known.
function facts(event, model, say, words) {
  const said = words[codeOf(event)] ?? "", list = [];
  for (const [name, value] of Object.entries({ ...event.inputs, ...event.data })) {
    if (value === null || said.includes(`{${name}}`) || name.endsWith("_more") || isEmpty(value)) continue;
    const code = `fact.${name}`, more = event.data?.[`${name}_more`], text = plain(name, value, model, say, words);
    list.push([words[code] ? say(code) : name, more ? `${text}\n${say("each.more", { count: more })}` : text]);
  }
  return list;
}

const isEmpty = (value) => typeof value === "object" && !Object.keys(value).length;

function plain(name, value, model, say, words) {
  if (CLOCK_TIMES.includes(name)) return clock(value);
  if (name.endsWith("_us")) return seconds(value, words);
  if (name === "algorithm") return say(`${model}.${value}`);
  if (typeof value === "number") return number(value);
  if (Array.isArray(value) && words[`each.${name}`]) {
    return value
      .map((item) =>
        say(`each.${name}${item.dead ? "_dead" : ""}`, { ...item, consumer: item.consumer ?? say("each.nobody") }),
      )
      .join("\n");
  }
  const text = spread(value, say);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

// Lists and tables in words: names such as 1:flights:3 stay as they are.
function spread(value, say) {
  if (Array.isArray(value)) {
    return value.length
      ? value.map((item) => (Array.isArray(item) ? item.join("–") : spread(item, say))).join(say("list.comma"))
      : "–";
  }
  if (value !== null && typeof value === "object") {
    return Object.entries(value)
      .map(([name, item]) => say("list.named", { name, what: spread(item, say) }))
      .join(say("list.semicolon"));
  }
  return String(value);
}

// The steps as list items, each of which can have the focus.
export const entries = (steps, say) => steps.map((event) => entry(event, say));

function entry(event, say) {
  const item = element("li", ""), head = element("p", "why-what");
  head.append(element("span", "n m", event.clock), " ", element("b", "", event.what));
  item.tabIndex = 0;
  if (event.left) item.append(element("p", "s m", `… ${event.left} …`));
  item.append(head);
  if (event.cause) item.append(element("p", "s m", event.cause));
  if (event.rule) {
    const rule = element("p", "s");
    rule.append(`${say("why.rule")} `, element("code", "", event.rule));
    item.append(rule);
  }
  if (event.facts.length) {
    const list = element("dl", "facts");
    for (const [label, value] of event.facts) list.append(element("dt", "", label), element("dd", "n", value));
    item.append(list);
  }
  return item;
}

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}
