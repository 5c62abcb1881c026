// The producer: for each broker a box for each produce request that has no answer yet, the oldest first, with its batch
// or how many it has; below, the batches that wait to be sent.

import { number, sentences } from "../base/say.js";
import { round } from "../drawing/shapes.js";

const ROW = 30, LEFT = 62, LETTER = 8, GAP = 5, HEIGHT = 22;

const FEW = 4;

// A row for each of a few brokers, so that nothing jumps; of many, room for those that have something to say.
export const height = (producer) => (Math.min(Object.keys(producer.in_flight).length, FEW) + 1) * ROW + 4;

// -> [{id, broker, groups}]: a row for each broker that was asked, its groups the batches of one request each, and one
// for what waits, each batch alone.
function rows(producer) {
  const found = Object.entries(producer.in_flight).map(([broker, flights]) => ({
    id: broker, broker, groups: flights.map(({ batches }) => batches).filter(({ length }) => length),
  }));
  return [
    ...found,
    {
      id: "waiting", broker: null,
      groups: Object.values(producer.waiting)
        .flat()
        .map((batch) => [batch]),
    },
  ];
}

// Of many brokers those with the most requests in flight.
function drawn(producer) {
  const all = rows(producer), brokers = all.slice(0, -1);
  if (brokers.length <= FEW) return all;
  const busy = brokers
    .filter(({ groups }) => groups.length)
    .sort((a, b) => b.groups.length - a.groups.length)
    .slice(0, FEW);
  return [...busy.sort((a, b) => a.id - b.id), all.at(-1)];
}

export function layout(producer, { width, say }) {
  const all = drawn(producer);
  const longest = Math.max(4, ...all.flatMap(({ groups }) => groups.map((group) => boxWords(group, say).length)));
  const shapes = [], box = longest * LETTER + 10, room = Math.max(1, Math.floor((width - LEFT - 34) / (box + GAP)));
  all.forEach(({ id, broker, groups }, line) => {
    const y = line * ROW + 4;
    shapes.push({
      id: `row-${id}`, tag: "text", x: 0, y: y + 16, class: "m",
      text: broker === null ? say("cluster.producer_waiting") : say("cluster.broker", { broker: Number(broker) }),
    });
    groups.slice(0, room).forEach((group, place) => {
      const x = round(LEFT + place * (box + GAP)), [{ number: first }] = group;
      const isRetry = group.some(({ attempts }) => attempts);
      shapes.push({
        id: `batch-${first}`, tag: "rect", x, y, width: box, height: HEIGHT, rx: 3,
        class: `batch${isRetry ? " retry" : ""}`,
      });
      shapes.push({
        id: `batch-words-${first}`, tag: "text", x: x + box / 2, y: y + 16, class: "n mid", text: boxWords(group, say),
        title: sentences(group.map((batch) => batchWords(batch, say))),
      });
    });
    if (groups.length > room) {
      shapes.push({
        id: `more-${id}`, tag: "text", x: round(LEFT + room * (box + GAP)), y: y + 16, class: "n m",
        text: `+${groups.length - room}`,
      });
    }
  });
  return shapes;
}

// Of one batch the partition's number, then the first sequence where there is one, then how many records; of several
// how many they are.
const boxWords = (group, say) =>
  group.length === 1
    ? oneBatch(group[0])
    : say("cluster.request_batches", {
        count: group.length, records: group.reduce((sum, { count }) => sum + count, 0),
      });

const oneBatch = ({ partition, sequence, count }) =>
  `${partition.slice(partition.lastIndexOf("-") + 1)}${sequence < 0 ? "" : ` #${number(sequence)}`} +${count}`;

const batchWords = (batch, say) =>
  say(batch.sequence < 0 ? "cluster.batch" : "cluster.batch_sequence", {
    partition: batch.partition, count: batch.count, sequence: batch.sequence, attempts: batch.attempts,
  });

export function words(producer, say) {
  const acks = say(`cluster.acks.${producer.acks === -1 ? "all" : producer.acks}`);
  const { acked, failed, retries } = producer.counts;
  const about = say(producer.id < 0 ? "cluster.producer_words" : "cluster.producer_words_id", {
    acks, acked, failed, retries, id: producer.id, epoch: producer.epoch, most: producer.max_in_flight,
  });
  if (!producer.transaction) return about;
  const { id, phase, error, committed, aborted } = producer.transaction;
  const transaction = say("cluster.transaction", { id, phase: say(`cluster.phase.${phase}`), committed, aborted });
  return `${about} ${transaction}${error === "NONE" ? "" : ` ${error}`}`;
}

export function table(producer, say) {
  return {
    head: ["to", "partition", "records", "sequence", "attempts"].map((code) => say(`cluster.column.${code}`)),
    terms: [null, null, null, null, null],
    rows: rows(producer).flatMap(({ broker, groups }) =>
      groups
        .flat()
        .map((batch) => [
          broker === null ? say("cluster.producer_waiting") : broker, batch.partition, number(batch.count),
          batch.sequence < 0 ? "–" : number(batch.sequence), number(batch.attempts),
        ]),
    ),
  };
}
