// What comes to the exchanges of a virtual host and what its consumers do with what they get, a second, from the sums
// that the lab keeps at the end of each of the last seconds.

import { rateText } from "../base/say.js";

const EXCHANGE = ["published", "dropped", "returned"], PROGRAM = ["acked", "given_back", "rejected", "auto"];
// A second and more is seen as a rate.
const LEAST = 0.05;

// The seconds at whose ends there are sums, oldest first: those of every rate of the page.
export const secondsOf = (samples) => Object.keys(samples).map(Number).sort((one, other) => one - other);

// samples: {second: ...}; of(sample): {name: [sums]}. -> {name: {field: a second}}, of what has two samples.
function ratesIn(samples, fields, of) {
  const seconds = secondsOf(samples), last = seconds.at(-1), rates = {};
  for (const [name, now] of Object.entries(seconds.length ? of(samples[last]) : {})) {
    // What has come only now came from nothing.
    const before = of(samples[seconds[0]])[name] ?? now.map(() => 0);
    if (seconds[0] === last) continue;
    rates[name] = Object.fromEntries(
      fields.map((field, place) => [field, (now[place] - before[place]) / (last - seconds[0])]),
    );
  }
  return rates;
}

// -> {exchanges: {name: {published, dropped, returned}}, programs: {name: {acked, given_back, rejected, auto}}};
// nothing while the server is down.
export function flowsOf({ is_running: isRunning, flows }, vhost) {
  if (!isRunning) return { exchanges: {}, programs: {} };
  return {
    exchanges: ratesIn(flows.exchanges, EXCHANGE, (sample) => sample[vhost] ?? {}),
    programs: ratesIn(flows.programs, PROGRAM, (sample) => sample[vhost] ?? {}),
  };
}

// Of the programs of all virtual hosts, each of which works in one.
export const programRates = (panel) =>
  Object.assign({}, ...Object.keys(panel.vhosts).map((vhost) => flowsOf(panel, vhost).programs));

const sumOf = (rates, field) => rates.reduce((sum, rate) => sum + rate[field], 0);

// By name of the exchange, those that drop something.
export const droppedTexts = ({ exchanges }, say) =>
  Object.entries(exchanges).filter(([, { dropped }]) => dropped >= LEAST).map(([name, { dropped }]) =>
    say("topology.head.dropped", { exchange: name || say("topology.default"), rate: rateText(dropped) }));

// What a queue refuses -> [code, a second] of each kind: with a nack, and without, as for one without confirms.
export const refusalsOf = ({ refused, nacked } = { refused: 0, nacked: 0 }) =>
  [["refuses", nacked], ["refuses_silently", refused - nacked]].filter(([, rate]) => rate >= LEAST);

// Whether nothing came to any exchange, over the samples that there are.
export const isSilent = ({ flows: { exchanges: samples } }, { exchanges }) =>
  Object.keys(samples).length > 1 && sumOf(Object.values(exchanges), "published") < LEAST;

// What passes a virtual host, each in its own words. rates: of its queues. -> texts, none without samples.
export function flowTexts(flows, rates, say) {
  const exchanges = Object.values(flows.exchanges), queues = Object.values(rates);
  if (!exchanges.length) return [];
  const programs = Object.values(flows.programs);             // also those that have left since
  const [published, dropped, returned] = EXCHANGE.map((field) => sumOf(exchanges, field));
  const refused = refusalsOf({ refused: sumOf(queues, "refused"), nacked: sumOf(queues, "nacked") });
  const taken = sumOf(queues, "in"), refusals = refused.reduce((sum, [, rate]) => sum + rate, 0), texts = [];
  const add = (code, rate, more = {}) => {
    if (rate >= LEAST) texts.push(say(`topology.sub.${code}`, { rate: rateText(rate), ...more }));
  };
  add("published", published);
  if (Math.abs(taken - (published - dropped - returned - refusals)) >= 0.5) add("copies", taken);
  add("dropped", dropped);
  add("returned", returned);
  for (const [code, rate] of refused) add(code, rate);
  add("acked", sumOf(programs, "acked"), { consumers: programs.filter(({ acked }) => acked >= LEAST).length });
  for (const field of ["auto", "given_back", "rejected"]) add(field, sumOf(programs, field));
  return texts;
}

// What a program has acknowledged, and beside it what it did with the others.
export function settledWords(rate, say) {
  if (!rate) return "–";
  const others = ["auto", "given_back", "rejected"].filter((field) => rate[field] >= LEAST);
  const texts = others.map((field) => say(`topology.settled.${field}`, { rate: rateText(rate[field]) }));
  return [rate.acked.toFixed(1), ...texts].join(say("list.comma"));
}
