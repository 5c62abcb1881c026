// What a lane's bill and large figure cover, in words.

import { clock } from "../base/say.js";

const NAMED_MAX = 3, BEGIN_NO_REBALANCE = ["start", "crash"];

// What the figures of the lane cover: the bill, or all that left something without service; empty before the first
// change.
export const heroCovers = (lane, say) =>
  (lane.hero?.changes?.length ? covers(lane.hero.changes, lane.hero.since_us, say) : ofBill(lane, say));

// What "before" in pictures and tables and the chain of causes cover: the bill; empty before the first change.
export function billCovers(lane, say) {
  const text = ofBill(lane, say);
  return text ? say("covers.bill", { covers: text }) : "";
}

// Whom a rebalance that is under way is for: all that fell together. Empty where the view does not know.
export function rebalanceFor({ bill }, say) {
  const changes = (bill?.changes ?? []).filter(({ kind }) => !BEGIN_NO_REBALANCE.includes(kind));
  const count = changes.reduce((sum, change) => sum + change.count, 0);
  if (changes.length === 1 && changes[0].kind === "join" && count > 1) return say("newcomers", { count });
  if (count > NAMED_MAX) return say("covers.changes", { count });
  return listed([...new Set(changes.flatMap(({ names }) => names))], say);
}

// The names as a list in words: "Kafka, TubeMQ and RabbitMQ".
export function listed(names, say) {
  const first = names.slice(0, -1), last = names[names.length - 1] ?? "";
  return first.length ? say("list.and", { first: first.join(say("list.comma")), last }) : last;
}

const ofBill = ({ bill }, say) => (bill?.changes?.length ? covers(bill.changes, bill.at_us, say) : "");

function covers(changes, since, say) {
  const said = changes.map(({ kind, names, count }) => (count > NAMED_MAX && kind !== "start"
    ? say(`covers.${kind}_many`, { count }) : say(`covers.${kind}`, { who: listed(names, say) })));
  return say("covers", { changes: said.join(say("covers.comma")), clock: clock(since) });
}
