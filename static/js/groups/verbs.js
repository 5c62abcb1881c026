// What can be done to whom is chosen. Which verbs there are says the server; here is how each is written, keyed and
// sent.

import { sentences } from "../base/say.js";
import { brokerVerbs } from "../lane/broker_verbs.js";
import { COORDINATOR } from "./members.js";

export const BY_PATTERN = "group_subscribe_pattern";
// The key of a verb; one key may stand for two that are never there together.
const KEYS = {
  leave: "L", crash: "X", rejoin: "B", join: "J", group_restart: "R", group_freeze: "G", group_thaw: "G",
  group_stick: "K", group_unstick: "K", group_subscribe: "S", [BY_PATTERN]: "N", cluster_add_partitions: "A",
};
const MORE_PARTITIONS = 4, ABSENT = "nowhere";
const OF_COORDINATOR = ["crash", "pause", "resume", "come_back", "stop"];

// -> [{id, verb, text, about, key, order: {kind, consumer?, args?}}]; of the one that asks for a pattern first no
// order, but isOpen. What can be done to the group comes last, whoever is chosen.
export function verbsOf(group, cluster, chosen, say, isOpen = false) {
  const own =
    chosen === COORDINATOR
      ? coordinatorVerbs(group, cluster, say)
      : memberVerbs(group, group.members[chosen], say, isOpen);
  return [
    ...own,
    ...group.verbs.map((verb) =>
      verb === "cluster_add_partitions" ? morePartitions(group, say) : made(verb, { kind: verb }, say),
    ),
  ];
}

const made = (verb, order, say, params = {}) => ({
  id: verb, verb, text: say(`groups.verb.${verb}`, params), about: say(`groups.verb_about.${verb}`, params),
  key: KEYS[verb] ?? "", order,
});

const memberVerbs = (group, member, say, isOpen) =>
  (member?.verbs ?? []).flatMap((verb) =>
    verb === "group_subscribe"
      ? [...subscriptions(group, member, say), { ...made(BY_PATTERN, null, say), isOpen }]
      : made(verb, { kind: verb, consumer: member.consumer }, say),
  );

// One topic more or less for each that there is; where there is one only, it or a topic that is not there.
function subscriptions(group, member, say) {
  const change = (topic, topics, place) => ({
    ...made("group_subscribe", { kind: "group_subscribe", consumer: member.consumer, args: { topics } }, say),
    id: `group_subscribe-${topic}`, key: place ? "" : KEYS.group_subscribe,
    text: say(topics.includes(topic) ? "groups.subscribe" : "groups.unsubscribe", { topic }),
  });
  return group.topics.map((topic, place) => {
    const rest = member.topics.filter((one) => one !== topic && one !== ABSENT);
    return change(topic, member.topics.includes(topic) ? (rest.length ? rest : [ABSENT]) : [...rest, topic], place);
  });
}

export const patternOrder = (consumer, text) => ({ kind: "group_subscribe", consumer, args: { pattern: text.trim() } });

function morePartitions(group, say) {
  const now = Object.keys(group.partitions).length, count = now + MORE_PARTITIONS;
  return made("cluster_add_partitions", { kind: "cluster_add_partitions", args: { topic: group.topic, count } }, say, {
    more: MORE_PARTITIONS, topic: group.topic, count,
  });
}

// Of its broker, as on the cluster page; without one those that are down can come back.
function coordinatorVerbs(group, cluster, say) {
  const brokers = group.coordinator !== null ? [String(group.coordinator)] : Object.keys(cluster.brokers);
  return brokers.flatMap((broker) =>
    brokerVerbs(cluster, broker, say)
      .filter(
        ({ verb }) =>
          OF_COORDINATOR.includes(verb) && (group.coordinator !== null || verb === "come_back" || verb === "resume"),
      )
      .map((verb) => ({
        ...verb, id: `${verb.id}-${broker}`,
        text:
          group.coordinator === null
            ? `${verb.text} (${say("groups.on_broker", { broker: Number(broker) })})`
            : verb.text,
      })),
  );
}

export function chosenWords(group, chosen, say) {
  if (chosen === null) return say("groups.choose");
  if (chosen === COORDINATOR) {
    return say(group.coordinator === null ? "groups.no_coordinator" : "groups.coordinator_on", {
      broker: group.coordinator,
    });
  }
  const member = group.members[chosen];
  const id = member.member_id ?? member.consumer;
  if (member.pattern === null || member.pattern === undefined) return id;
  return sentences([
    say("groups.sentence", { text: id }),
    say(member.topics.length ? "groups.by_pattern" : "groups.by_pattern_none", {
      pattern: member.pattern, topics: member.topics.join(say("list.comma")),
    }),
  ]);
}
