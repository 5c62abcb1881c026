// What can be done to whom is chosen. Which verbs there are says the server; here is how each is written, keyed and sent.

import { verbsOf as clusterVerbs } from "../cluster/verbs.js";
import { COORDINATOR } from "./members.js";

// The key of a verb; one key may stand for two that are never there together.
const KEYS = { leave: "L", crash: "X", rejoin: "B", join: "J" };
const OF_COORDINATOR = ["crash", "pause", "resume", "come_back", "stop"];

// -> [{id, verb, text, about, key, order: {kind, consumer?, args?}}]; what can be done to the group comes last, whoever is chosen.
export function verbsOf(group, cluster, chosen, say) {
  const own = chosen === COORDINATOR ? coordinatorVerbs(group, cluster, say) : (group.members[chosen]?.verbs ?? []).map((verb) => made(verb, { kind: verb, consumer: group.members[chosen].consumer }, say));
  return [...own, ...group.verbs.map((verb) => made(verb, { kind: verb }, say))];
}

const made = (verb, order, say) => ({ id: verb, verb, text: say(`groups.verb.${verb}`), about: say(`groups.verb_about.${verb}`), key: KEYS[verb] ?? "", order });

// Of its broker, as on the cluster page; without one those that are down can come back.
function coordinatorVerbs(group, cluster, say) {
  const brokers = group.coordinator !== null ? [String(group.coordinator)] : Object.keys(cluster.brokers);
  return brokers.flatMap((broker) => clusterVerbs(cluster, `broker-${broker}`, say)
    .filter(({ verb }) => OF_COORDINATOR.includes(verb) && (group.coordinator !== null || verb === "come_back" || verb === "resume"))
    .map((verb) => ({ ...verb, id: `${verb.id}-${broker}`, text: group.coordinator === null ? `${verb.text} (${say("groups.on_broker", { broker: Number(broker) })})` : verb.text })));
}

export function chosenWords(group, chosen, say) {
  if (chosen === null) return say("groups.choose");
  if (chosen === COORDINATOR) return say(group.coordinator === null ? "groups.no_coordinator" : "groups.coordinator_on", { broker: group.coordinator });
  const member = group.members[chosen];
  return member.member_id ?? member.consumer;
}
