// "Why?": the chain of causes of a lane's last change, as the core recorded it: what happened, because of what, by which rule, from what.

import { clock, number, seconds } from "./say.js";

const LONGEST = 400;

// -> [{ clock, what, cause, rule, facts: [[label, value]] }], oldest first: plain texts that Node tests.
export function chain(rig, timeline, { say, words }) {
  const known = new Map(rig.why.map((event) => [event.id, event]));
  return rig.why.map((event) => ({
    clock: clock(event.at_us), what: what(event, say), cause: because(event.cause, known, timeline, say), rule: event.rule ?? "",
    facts: facts(event, rig.model, say, words),
  }));
}

// The words for this kind of event; a kind without words of its own is shown by its name.
function what(event, say) {
  const code = `event.${event.kind}`, text = say(code, { ...event.inputs, ...event.data });
  return text === code ? event.kind : text;
}

function because(cause, known, timeline, say) {
  if (!cause) return "";
  if (cause.event !== undefined && cause.event !== null) {
    const event = known.get(cause.event);
    return event ? say("why.because", { what: what(event, say) }) : say("why.earlier");
  }
  const command = timeline[cause.command];
  if (!command) return say("why.your_earlier", { position: cause.command });
  const { kind, consumer, count } = command, did = say(`tick.${kind}${count > 1 ? "_many" : ""}`, { consumer, count });
  return say(cause.command === 0 ? "why.start" : "why.you", { did });
}

// What went into the decision and came out of it, but for what the event's words have said already and what is not known.
function facts(event, model, say, words) {
  const said = words[`event.${event.kind}`] ?? "", list = [];
  for (const [name, value] of Object.entries({ ...event.inputs, ...event.data })) {
    if (value === null || said.includes(`{${name}}`)) continue;
    const code = `fact.${name}`;
    list.push([words[code] ? say(code) : name, plain(name, value, model, say, words)]);
  }
  return list;
}

function plain(name, value, model, say, words) {
  if (name === "deadline_us") return clock(value);
  if (name.endsWith("_us")) return seconds(value, words);
  if (name === "algorithm") return say(`${model}.${value}`);
  if (typeof value === "number") return number(value);
  const text = spread(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

// Lists and tables in words: names such as 1:flights:3 stay as they are.
function spread(value) {
  if (Array.isArray(value)) return value.length ? value.map((item) => (Array.isArray(item) ? item.join("–") : spread(item))).join(", ") : "–";
  if (value !== null && typeof value === "object") return Object.entries(value).map(([name, item]) => `${name}: ${spread(item)}`).join("; ");
  return String(value);
}

export function showWhy(dialog, rig, timeline, { say, words }) {
  dialog.querySelector("#why-title").textContent = say("why.title", { lane: say(`lane.${rig.model}`) });
  const items = chain(rig, timeline, { say, words }).map((event) => entry(event, say));
  dialog.querySelector("#why-list").replaceChildren(...(items.length ? items : [element("li", "m", say("why.none"))]));
  if (!dialog.open) dialog.showModal();
}

function entry(event, say) {
  const item = element("li", ""), head = element("p", "why-what");
  head.append(element("span", "n m", event.clock), " ", element("b", "", event.what));
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
