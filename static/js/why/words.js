// What an answer of "Why?" says besides its chain: what the thing is, how its numbers are made up, since when.

import { clock, percent } from "../base/say.js";

const FIGURES = {
  moved: "since.moved", paused: "since.paused", redelivered: "figure.redelivered", out_of_order: "tally.out_of_order",
  skew: "figure.skew", waiting: "why.figure.waiting",
};
const TOTALS = { ...FIGURES, paused: "why.total.paused", lost: "why.total.lost" };
// Not made by the last change alone, which is said all the same.
const OF_NOW = ["figure:skew", "figure:waiting"];
const WHO = ["consumer", "from", "to", "was", "assigned"];
const CLOCKS = { from_us: "from", until_us: "until", since_us: "since" };

// A thing's id as it is: "slot:812" -> { kind: "slot", id: "812" }.
export function thingOf(thing) {
  const cut = thing.indexOf(":");
  return { kind: thing.slice(0, cut), id: thing.slice(cut + 1) };
}

export const thingName = (thing, say) => {
  const { kind, id } = thingOf(thing);
  if (kind === "total") return say("why.thing.total", { id: say(TOTALS[id]) });
  return kind === "figure" ? say(FIGURES[id]) : say(`why.thing.${kind}`, { id: id || "“”" });
};

// The numbers of a sentence as a person reads them.
function readable(params, say) {
  const list = (value) => (value.length ? value.join(say("list.comma")) : "–");
  const shown = Object.entries(params).map(([name, value]) => {
    if (name in CLOCKS) return [CLOCKS[name], clock(value)];
    if (name === "share") return [name, percent(value, 1)];
    if (name === "key" && value === null) return [name, say("route.keyless")];
    if (Array.isArray(value)) return [name, list(value)];
    if (value === "") return [name, "“”"];
    if (WHO.includes(name) && value === null) return [name, say("each.nobody")];
    return [name, value];
  });
  return Object.fromEntries(shown);
}

export const saysWords = ({ says: { code, params } }, say) => say(code, readable(params, say));

// -> [{ text, parts: [text], more }]
export function sumWords({ sums }, say) {
  return sums.map(({ code, params, parts }) => ({
    text: say(code, readable(params, say)),
    parts: (parts?.items ?? []).map((item) => say(parts.code, readable(item, say))),
    more: parts?.more ? say("each.more", { count: parts.more }) : "",
  }));
}

export function sinceWords({ since_us: since, chain, thing = "" }, say) {
  if (!chain.length && thing.startsWith("record:")) return "";   // a record's way is no turning point
  if (since === null || !chain.length) return say("why.since_unknown");
  if (thing.startsWith("total:") || OF_NOW.includes(thing)) return say("why.since_last", { clock: clock(since) });
  return say("why.since", { clock: clock(since) });
}
