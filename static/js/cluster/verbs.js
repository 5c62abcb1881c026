// What can be done to what is chosen: a button each, with its key. Which verbs there are says the server; here is how
// each is written and sent.

import { sentences } from "../base/say.js";
import { KEYS, brokerVerbs, orderOf } from "../lane/broker_verbs.js";
import { clientWords, linkName, linkWords, nodeWords, stageOf } from "./network.js";

const SILENT = ["down", "paused", "crashed"];             // whom the controller fences for it

// -> [{id, verb, text, about, key, order: {kind, args}}] for the name of a broker or client, a link's key, or null. A
// client that the lane's workload drives has no verbs here: it is pressed to see its links.
export function verbsOf(cluster, chosen, say) {
  if (chosen === null) return [];
  if (chosen.includes(">")) return linkVerbs(cluster, chosen, say);
  const client = cluster.clients?.[chosen];
  if (client) {
    const args = { writer: Number(chosen.slice(chosen.indexOf("-") + 1)) };
    return client.verbs.map((verb) => ({
      id: verb, verb, text: say(`cluster.verb.${verb}`), about: say(`cluster.verb_about.${verb}`), key: KEYS[verb],
      order: orderOf(verb, args),
    }));
  }
  return brokerVerbs(cluster, chosen.slice(chosen.indexOf("-") + 1), say);
}

function linkVerbs(cluster, key, say) {
  const [one, other] = key.split(">"), found = [];
  for (const verb of cluster.links[key]?.verbs ?? []) {
    const make = (id, text, args, shortcut) =>
      found.push({ id, verb, text, about: "", key: shortcut, order: orderOf(verb, args) });
    const isSecond = verb === "cut_link" && cluster.links[key].cut.length > 0;      // one way is cut: the key heals it
    make(verb, say(`cluster.verb.${verb}`), { one, other }, isSecond ? "" : KEYS[verb] ?? "");
    if (verb !== "cut_link" || isSecond) continue;
    for (const [sender, receiver] of [[one, other], [other, one]]) {
      make(
        `${verb}-${sender}`,
        say("cluster.verb.cut_link_from", { sender: nodeWords(sender, say) }),
        { one: sender, other: receiver, one_way: true },
        "",
      );
    }
  }
  return found;
}

// What the verbs are about, as their heading.
export function chosenTitle(chosen, say) {
  if (chosen === null) return say("cluster.verbs");
  return chosen.includes(">")
    ? say("cluster.verbs_link", { link: linkName(chosen.split(">"), say) })
    : nodeWords(chosen, say);
}

export function chosenWords(cluster, chosen, say) {
  if (chosen === null) return say("cluster.choose");
  if (chosen.includes(">")) return linkWords(chosen, cluster, say);
  if (cluster.clients?.[chosen]) {
    return sentences([
      say("cluster.sentence", { text: clientWords(chosen, cluster, say) }), say("cluster.client_links"),
    ]);
  }
  const broker = cluster.brokers[chosen.slice(chosen.indexOf("-") + 1)];
  const stage = stageOf(broker);
  const words = say("list.named", { name: nodeWords(chosen, say), what: say(`cluster.stage.${stage}`) });
  if (stage === "running") return words;
  const noticed = SILENT.includes(stage) ? [say(broker.is_fenced ? "cluster.noticed" : "cluster.unnoticed")] : [];
  return sentences([
    say("cluster.sentence", { text: words }),
    say(`cluster.stage_about.${broker.disk === "lost" ? "disk_lost" : stage}`), ...noticed,
  ]);
}
