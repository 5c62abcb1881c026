// What can be done to what is chosen: a button each, with its key. Which verbs there are says the server; here is how
// each is written and sent.

import { sentences } from "../base/say.js";
import { KEYS, brokerVerbs, orderOf } from "../lane/broker_verbs.js";
import { clientWords, idOf, linkName, linkWords, nodeWords, stageOf } from "./names.js";

const SILENT = ["down", "paused", "crashed"];             // whom the controller fences for it

// -> [{id, verb, text, about, key, order: {kind, args}, or chooses: a link's key, or opens: the list of links}] for the
// name of a broker or client, a link's key, or null. A client that the lane's workload drives has no verbs here: it is
// pressed to see its links.
// areLinksOpen: whether a node's links are listed, each to be chosen.
export function verbsOf(cluster, chosen, say, areLinksOpen = false) {
  if (chosen === null) return [];
  if (chosen.includes(">")) return linkVerbs(cluster, chosen, say);
  if (chosen === "controller") return linksOf(cluster, chosen, say);
  const links = linksOf(cluster, chosen, say);
  const client = cluster.clients?.[chosen];
  if (client) {
    const args = { writer: Number(idOf(chosen)) };
    return client.verbs.map((verb) => ({
      id: verb, verb, text: say(`cluster.verb.${verb}`), about: say(`cluster.verb_about.${verb}`), key: KEYS[verb],
      order: orderOf(verb, args),
    }));
  }
  const opener = {
    id: "links", verb: "links", text: say("cluster.cut_from"), about: say("cluster.cut_from_about"), key: "",
    isOpen: areLinksOpen, opens: true,
  };
  return [
    ...brokerVerbs(cluster, idOf(chosen), say), ...(links.length ? [opener] : []), ...(areLinksOpen ? links : []),
  ];
}

// A node's links to brokers and the controller: each is chosen to be cut, slowed or healed.
function linksOf(cluster, node, say) {
  return Object.keys(cluster.links)
    .filter((key) => key.split(">").includes(node))
    .map((key) => [key, key.split(">").find((end) => end !== node)])
    .filter(([, end]) => end === "controller" || end.startsWith("broker-"))
    .map(([key, end]) => ({
      id: `link-${key}`, verb: "link", text: say("cluster.link_to", { node: nodeWords(end, say) }),
      about: linkWords(key, cluster, say), key: "", chooses: key,
    }));
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
  if (chosen === "controller") return say("cluster.controller_about");
  const broker = cluster.brokers[idOf(chosen)];
  const stage = stageOf(broker);
  const words = say("list.named", { name: nodeWords(chosen, say), what: say(`cluster.stage.${stage}`) });
  if (stage === "running") return words;
  const noticed = SILENT.includes(stage) ? [say(broker.is_fenced ? "cluster.noticed" : "cluster.unnoticed")] : [];
  return sentences([
    say("cluster.sentence", { text: words }),
    say(`cluster.stage_about.${broker.disk === "lost" ? "disk_lost" : stage}`), ...noticed,
  ]);
}
