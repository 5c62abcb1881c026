// What the words at a link say: the request above it and the last answer below, of the partition that is looked at. A
// message that is on its way is in ink; one that has arrived is muted, and told from what the nodes have of it.

import { nodeName } from "./names.js";
import { isAnswer, messageWords } from "./wire.js";

// -> {request, answer: {text, short, isLive} or null, idle: text or null}
export function linkSaid(cluster, name, line, ways, { say, reader = null, place = null }) {
  const partition = cluster.partitions[name], leader = nodeName(partition.leader);
  const live = { request: null, answer: null };
  for (const { key, messages } of ways) {
    if (key !== line.key) continue;
    const [{ message, part }] = messages, words = messageWords(message.kind, part, say);
    const text = messages.length > 1 ? say("cluster.said.more", { text: words, count: messages.length - 1 }) : words;
    live[isAnswer(message.kind) ? "answer" : "request"] ??= { text, short: words, isLive: true };
  }
  if (line.one === "controller" || line.other === "controller") return { ...live, idle: null };
  const known = ![line.one, line.other].includes(leader)
    ? { request: null, answer: null, idle: idleWords(cluster, name, line, say) }
    : line.client === undefined
      ? ofFollower(partition, line.one === leader ? line.other : line.one, say)
      : line.client === reader
        ? ofReader(partition, place, say)
        : ofProducer(cluster, name, line.client, partition, say);
  const told = (text, short) => (text ? { text, short: short ?? text, isLive: false } : null);
  const idle = live.request || live.answer ? null : known.idle ?? null;
  return { request: live.request ?? told(known.request, known.short), answer: live.answer ?? told(known.answer), idle };
}

function idleWords(cluster, name, line, say) {
  const { leader } = cluster.partitions[name];
  const ends = [line.one, line.other].filter((one) => one.startsWith("broker-")).map((one) => one.slice(7));
  const link = ends.length === 2 ? say("cluster.link_name", { one: ends[0], other: ends[1] }) : "";
  if (ends.length !== 2) return null;
  return leader < 0
    ? say("cluster.said.no_leader", { link, partition: name })
    : say("cluster.said.idle", { link, partition: name, leader });
}

// A follower asks for what comes after its end, and its copy is what it has been answered.
function ofFollower(partition, follower, say) {
  const id = follower.slice(7), copy = partition.copies[id],
    known = partition.copies[partition.leader]?.followers?.[id];
  if (!copy || copy.role !== "follows") return { request: say("cluster.said.no_fetch"), answer: null };
  const step = copy.fetch?.step;
  if (step && step !== "fetching") return { request: say(`cluster.fetch.${step}`), answer: lastAnswer(copy, say) };
  const isWaiting = known?.end === copy.end && copy.end === partition.end;
  const code = isWaiting ? "cluster.said.fetch_waits" : "cluster.said.fetch";
  const short = say("cluster.said.fetch", { offset: copy.end });
  return { request: say(code, { offset: copy.end }), short, answer: lastAnswer(copy, say) };
}

const lastAnswer = ({ start, end, high_watermark: hw }, say) =>
  end > start ? say("cluster.said.up_to_hw", { offset: end - 1, hw }) : say("cluster.said.hw", { hw });

// place: of the reader in the partition, {position}.
function ofReader(partition, place, say) {
  if (!place) return { request: null, answer: null };
  const { position } = place, isWaiting = position >= (partition.high_watermark ?? Infinity);
  return {
    request: say(isWaiting ? "cluster.said.fetch_waits" : "cluster.said.fetch", { offset: position }),
    answer: position > 0 ? say("cluster.said.up_to", { offset: position - 1 }) : null,
  };
}

function ofProducer(cluster, name, client, partition, say) {
  const producer = cluster.producers[client];
  if (!producer) return { request: null, answer: null };
  const flights = producer.in_flight[partition.leader] ?? [];
  const count = flights.filter(({ batches }) => batches.some((batch) => batch.partition === name)).length;
  const acked = cluster.acked?.[name];
  return {
    request: count ? say("cluster.said.unanswered", { count }) : say("cluster.said.nothing_sent"),
    answer:
      producer.acks === 0
        ? say("cluster.said.no_answers")
        : acked === undefined ? null : say("cluster.said.acked", { offset: acked - 1 }),
  };
}
