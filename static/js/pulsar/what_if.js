// "What if": the server says where a typed key goes, now and after the next join or a leave. Asked when somebody types,
// and again when the consumers are others; an answer that was overtaken is dropped.

import { Refusal } from "../base/commands.js";
import { number } from "../base/say.js";

const PAUSE_MS = 250;

async function get(url, params) {
  const address = new URL(url, location.href);
  for (const [name, value] of Object.entries(params)) if (value !== "") address.searchParams.set(name, value);
  const answer = await fetch(address, { credentials: "same-origin" });
  if (answer.ok) return answer.json();
  throw new Refusal(answer.status, (await answer.json().catch(() => ({}))).fields ?? {});
}

// inputs whose change asks; params() -> what is asked; show(answer or null, error text).
export function createAsker({ url, inputs, params, show }) {
  let timer = null, asked = 0;
  async function ask() {
    const mine = (asked += 1);
    try {
      const answer = await get(url, params());
      if (mine === asked) show(answer, "");
    } catch (error) {
      if (mine === asked) show(null, error instanceof Refusal ? error.message : "");
    }
  }
  const soon = () => {
    asked += 1;                                         // what is under way answers what is asked no more
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  };
  for (const input of inputs) input.addEventListener("input", soon);
  return { ask, soon };
}

// -> [[word, text, name of whom it is about or null, term or null]]: the answer, line by line; the hash where it
// decides anything.
export function lines(answer, lane, say) {
  const { type } = lane.pulsar, whose = (name) => name ?? say("subscription.answer.nobody");
  if (answer.hash === null) {
    return [
      [say("subscription.answer.hash"), say("subscription.answer.spread_hash"), null, "key_hash"],
      [say("subscription.answer.now"), say("subscription.answer.spread"), null, null],
    ];
  }
  const rows = [];
  const decides =
    type === "Key_Shared" || answer.partition !== null || (lane.pulsar.topics > 0 && Boolean(answer.topic));
  if (decides) {
    rows.push([
      say("subscription.answer.hash"),
      answer.key === "" ? say("subscription.answer.keyless", { hash: answer.hash }) : number(answer.hash), null,
      "key_hash",
    ]);
  }
  if (answer.slot !== null) {
    rows.push([say("subscription.answer.slot"), number(answer.slot), null, "slot"]);
    if (answer.range) {
      rows.push([
        say("subscription.answer.range"), `${number(answer.range[0])}..${number(answer.range[1])}`, null, null,
      ]);
    }
  }
  if (answer.partition !== null) {
    rows.push([say("subscription.answer.partition"), number(answer.partition), null, null]);
  }
  if (lane.pulsar.topics && answer.topic) {
    rows.push([say("subscription.topic"), answer.topic.split("/").at(-1), null, null]);
  }
  if (
    type === "Shared" ||
    (lane.pulsar.partitions > 0 && answer.partition === null) ||
    (lane.pulsar.topics > 0 && !answer.topic)
  ) {
    rows.push([
      say("subscription.answer.now"),
      say(type === "Shared" ? "subscription.answer.any" : "subscription.answer.in_turn"), null, null,
    ]);
    return rows;
  }
  rows.push([say("subscription.answer.now"), whose(answer.consumer), answer.consumer, null]);
  const goes = (name) =>
    name === null ? say("subscription.answer.moves_nowhere") : say("subscription.answer.moves", { consumer: name });
  const stays = (name) =>
    name === null ? say("subscription.answer.stays_nowhere") : say("subscription.answer.stays", { consumer: name });
  const { joins, leaves } = answer, moves = joins.consumer !== answer.consumer;
  rows.push([
    say("subscription.answer.join", { consumer: joins.name }),
    joins.refused
      ? say("subscription.answer.refused", { reason: joins.refused })
      : moves
        ? goes(joins.consumer)
        : stays(answer.consumer),
    joins.consumer, null,
  ]);
  for (const [leaver, taker] of Object.entries(leaves)) {
    rows.push([say("subscription.answer.leave", { consumer: leaver }), goes(taker), taker, null]);
  }
  const others = lane.order.filter((name) => lane.pulsar.consumers[name].connected && !(name in leaves));
  if (others.length) rows.push([say("subscription.answer.others"), stays(answer.consumer), null, null]);
  return rows;
}
