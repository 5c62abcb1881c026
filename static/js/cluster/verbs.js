// What can be done to what is chosen: a button each, with its key. Which verbs there are says the server; here is how each is written and sent.

import { sentences } from "../base/say.js";
import { clientWords, linkName, linkWords, nodeWords, stageOf } from "./network.js";

// The key of a verb; one key may stand for two that are never there together.
const KEYS = { stop: "S", crash: "X", pause: "P", resume: "P", come_back: "B", cut_link: "C", heal_link: "C", pause_writer: "P", resume_writer: "P" };
const SILENT = ["down", "paused", "crashed"];             // whom the controller fences for it
const SLOW_WRITE_US = 200_000, SLOW_LINK_US = 300_000, SKEW_MS = 60_000;
// A verb that takes another one back is that other one, with the value from before.
const BACK = { quick_disk: ["slow_disk", { write_us: 0 }], set_clock: ["skew_clock", { skew_ms: 0 }], quick_link: ["slow_link", { delay_us: null }] };
const VALUES = { slow_disk: { write_us: SLOW_WRITE_US }, slow_link: { delay_us: SLOW_LINK_US }, skew_clock: { skew_ms: SKEW_MS } };

// -> [{id, verb, text, about, key, order: {kind, args}}] for the name of a broker or client, a link's key, or null. A client that the lane's
// workload drives has no verbs here: it is pressed to see its links.
export function verbsOf(cluster, chosen, say) {
  if (chosen === null) return [];
  if (chosen.includes(">")) return linkVerbs(cluster, chosen, say);
  const client = cluster.clients?.[chosen];
  if (client) {
    const args = { writer: Number(chosen.slice(chosen.indexOf("-") + 1)) };
    return client.verbs.map((verb) => ({ id: verb, verb, text: say(`cluster.verb.${verb}`), about: say(`cluster.verb_about.${verb}`), key: KEYS[verb], order: orderOf(verb, args) }));
  }
  const id = chosen.slice(chosen.indexOf("-") + 1), broker = cluster.brokers[id];
  return (broker?.verbs ?? []).map((verb) => ({
    id: verb, verb, text: say(`cluster.verb.${verb}`), about: say(`cluster.verb_about.${verb}`), key: KEYS[verb] ?? "", order: orderOf(verb, { broker: Number(id) }),
  }));
}

function linkVerbs(cluster, key, say) {
  const [one, other] = key.split(">"), found = [];
  for (const verb of cluster.links[key]?.verbs ?? []) {
    const make = (id, text, args, shortcut) => found.push({ id, verb, text, about: "", key: shortcut, order: orderOf(verb, args) });
    const isSecond = verb === "cut_link" && cluster.links[key].cut.length > 0;      // one way is cut: the key heals it
    make(verb, say(`cluster.verb.${verb}`), { one, other }, isSecond ? "" : KEYS[verb] ?? "");
    if (verb !== "cut_link" || isSecond) continue;
    for (const [sender, receiver] of [[one, other], [other, one]]) {
      make(`${verb}-${sender}`, say("cluster.verb.cut_link_from", { sender: nodeWords(sender, say) }), { one: sender, other: receiver, one_way: true }, "");
    }
  }
  return found;
}

function orderOf(verb, args) {
  const [kind, values] = BACK[verb] ?? [verb, VALUES[verb]];
  return { kind: `cluster_${kind}`, args: { ...args, ...values } };
}

// What the verbs are about, as their heading.
export function chosenTitle(chosen, say) {
  if (chosen === null) return say("cluster.verbs");
  return chosen.includes(">") ? say("cluster.verbs_link", { link: linkName(chosen.split(">"), say) }) : nodeWords(chosen, say);
}

export function chosenWords(cluster, chosen, say) {
  if (chosen === null) return say("cluster.choose");
  if (chosen.includes(">")) return linkWords(chosen, cluster, say);
  if (cluster.clients?.[chosen]) return sentences([say("cluster.sentence", { text: clientWords(chosen, cluster, say) }), say("cluster.client_links")]);
  const broker = cluster.brokers[chosen.slice(chosen.indexOf("-") + 1)];
  const stage = stageOf(broker), words = say("list.named", { name: nodeWords(chosen, say), what: say(`cluster.stage.${stage}`) });
  if (stage === "running") return words;
  const noticed = SILENT.includes(stage) ? [say(broker.is_fenced ? "cluster.noticed" : "cluster.unnoticed")] : [];
  return sentences([say("cluster.sentence", { text: words }), say(`cluster.stage_about.${broker.disk === "lost" ? "disk_lost" : stage}`), ...noticed]);
}

// Writes the buttons; touches the document only where something is another. isOpen: of a verb that opens a form.
export function createVerbs(box, onPress) {
  let shown = "", verbs = [];
  box.addEventListener("click", (event) => {
    const button = event.target.closest("[data-order]");
    if (button) onPress(verbs.find(({ id }) => id === button.dataset.order), button);
  });
  return {
    write(next) {
      verbs = next;
      const key = next.map(({ id, text, isOpen }) => `${id}/${text}/${isOpen}`).join();
      if (key === shown) return;
      shown = key;
      const held = box.contains(document.activeElement) ? document.activeElement.dataset.order : null;
      box.replaceChildren(...next.map(({ id, text, about, key: shortcut, isOpen }) => {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", className: "btn", title: about, textContent: text });
        button.dataset.order = id;
        if (isOpen !== undefined) button.setAttribute("aria-expanded", String(isOpen));
        if (shortcut) {
          button.setAttribute("aria-keyshortcuts", shortcut);
          button.append(Object.assign(document.createElement("kbd"), { textContent: shortcut }));
        }
        return button;
      }));
      if (held !== null) (box.querySelector(`[data-order="${held}"]`) ?? box.querySelector("button"))?.focus();
    },
    byKey: (key) => verbs.find(({ key: shortcut }) => shortcut === key.toUpperCase()) ?? null,
  };
}

