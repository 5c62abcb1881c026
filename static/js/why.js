// "Why?": the chain of causes of a lane's last change, as the core recorded it: what happened, by which rule, from what.

import { clock } from "./say.js";

export function showWhy(dialog, rig, say) {
  dialog.querySelector("#why-title").textContent = say("why.title", { lane: say(`lane.${rig.model}`) });
  const list = dialog.querySelector("#why-list");
  list.replaceChildren(...(rig.why.length ? rig.why.map((event) => entry(event, say)) : [element("li", "m", say("why.none"))]));
  if (!dialog.open) dialog.showModal();
}

function entry(event, say) {
  const item = element("li", "");
  const head = element("p", "why-what");
  head.append(element("span", "n m", clock(event.at_us)), " ", element("b", "", what(event, say)));
  item.append(head);
  if (event.cause?.command) item.append(element("p", "s m", say("why.you", { position: event.cause.command })));
  if (event.rule) {
    const rule = element("p", "s");
    rule.append(`${say("why.rule")} `, element("code", "", event.rule));
    item.append(rule);
  }
  const facts = [...Object.entries(event.inputs ?? {}), ...Object.entries(event.data ?? {})];
  if (facts.length) {
    const list = element("dl", "facts");
    for (const [name, value] of facts) {
      list.append(element("dt", "n", name), element("dd", "n", plain(value)));
    }
    item.append(list);
  }
  return item;
}

// The words for this kind of event; a kind without words of its own is shown by its name.
function what(event, say) {
  const code = `event.${event.kind}`, words = say(code, { ...event.inputs, ...event.data });
  return words === code ? event.kind : words;
}

function plain(value) {
  if (value !== null && typeof value === "object") {
    const text = JSON.stringify(value).replaceAll('"', "").replaceAll(",", ", ").replaceAll(":", ": ");
    return text.length > 400 ? `${text.slice(0, 400)} …` : text;
  }
  return String(value);
}

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}
