// What a study's result says in words and figures: the browser's half of dashboard/studies/presentation.py, line by
// line.

import { NONE, figure, halfUp, percent, seconds, speaker } from "../base/say.js";

export function strategyWords(strategy, words) {
  const say = speaker(words), code = `strategy.${strategy.model}.${strategy.algorithm}`;
  const inWords = (part) => (words[code + part] ? say(code + part, strategy.params) : strategy.algorithm);
  return { model: say(`model.${strategy.model}`), name: inWords(""), short: inWords(".short"), best: inWords(".best") };
}

// id -> short name; where two would read the same, the differing parameters follow.
export function shortNames(strategies, words) {
  const names = new Map(strategies.map((strategy) => [strategy.id, strategyWords(strategy, words).short]));
  const count = new Map();
  for (const name of names.values()) count.set(name, (count.get(name) ?? 0) + 1);
  for (const strategy of strategies) {
    const name = names.get(strategy.id);
    if (count.get(name) > 1) names.set(strategy.id, `${name} ${Object.values(strategy.params).join("/")}`);
  }
  return names;
}

// -> { title, facts }
export function head(result, ranking, words) {
  const say = speaker(words), { workload, steps, strategies, request } = result;
  const { kind, key } = request.source, isFlights = kind === "flights";
  const records = say(
    `study.these.${isFlights ? "flights" : kind === "zipf" || kind === "uniform" ? "keys" : "records"}`,
  );
  const first = strategies.find(({ id }) => id === ranking[0]?.id);
  const equal = ranking.filter(({ is_best: isBest }) => isBest).length - 1;
  const code = ranking[0]?.excluded.length
    ? "study.best_none"
    : strategies.length === 1
      ? "study.one"
      : equal
        ? "study.best_equal"
        : "study.best";
  const counts = steps.map(({ members }) => members.length), low = Math.min(...counts), high = Math.max(...counts);
  const facts = say("study.facts", {
    records: workload.records, keys: workload.keys, strategies: strategies.length, changes: steps.length - 1,
    noun: say(isFlights ? "noun.flights" : "noun.records", { count: workload.records }),
    keys_noun: say(isFlights && words[`noun.${key}`] ? `noun.${key}` : "noun.keys", { count: workload.keys }),
  });
  return {
    title: first
      ? say(code, { strategy: strategyWords(first, words).best, records, count: equal })
      : request.name || result.name,
    facts: facts + say(low === high ? "study.facts_steady" : "study.facts_range", { low, high }),
  };
}

// How sure the ranking is, in one sentence.
export function verdictWords({ strategies }, verdict, words) {
  if (!verdict || (strategies.length === 1 && verdict.code === "only")) return "";
  const say = speaker(words), names = shortNames(strategies, words), params = { ...verdict.params };
  for (const name of ["id", "than"]) if (name in params) params[name] = names.get(params[name]);
  if ("points" in params) params.points = figure(params.points, params.points % 1 ? 1 : 0);
  if ("constraint" in params) params.constraint = say(`constraint.${params.constraint}`);
  return say(`verdict.${verdict.code}`, params);
}

// What has to be said where records have no consumer after a change; nothing where each has one.
export function unowned({ strategies }, words) {
  const left = strategies.filter(({ totals }) => totals.unowned_share);
  if (!left.length) return "";
  const say = speaker(words), names = shortNames(strategies, words);
  const share = Math.max(...left.map(({ totals }) => totals.unowned_share));
  return say("study.unowned", {
    strategies: left.map(({ id }) => names.get(id)).join(say("list.comma")), share: percent(share),
  });
}

// Whether a record's size is known, not its key's alone: a column says it, or the source has the payloads.
export const hasSizes = ({ request: { source } }) =>
  Boolean(source.size || source.payload) ||
  ["lab", "flights", "kafka_log"].includes(source.kind) ||
  (source.kind === "folder" && !source.key);

// The ranking as rows of texts, best first, those that a constraint excludes last; all that are tied with the first are
// best.
export function rankingRows(result, ranking, words) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy]));
  const names = shortNames(result.strategies, words);
  return ranking.map(({ id, place, score, why, excluded, is_best: isBest }) => {
    const strategy = byId.get(id), { totals } = strategy, { model, name } = strategyWords(strategy, words);
    return {
      place: place === null ? NONE : String(place), id, model, name, document: Boolean(strategy.document),
      score: figure(score, 0), is_best: isBest, is_excluded: excluded.length > 0, bar: halfUp(score ?? 0, 1),
      skew: scored("skew", totals.skew), churn: scored("churn", totals.churn),
      ...bandWords(strategy.luck, words), lag: figure(totals.lag_peak, 0), drain: drainWords(totals, words),
      pause: scored("pause", totals.waited_share), stood: stoodWords(totals.pause_partition_s, words),
      order: scored("order", totals.order_share), why: reasonWords(why, names, words),
    };
  });
}

// The total time that partitions were paused; nothing where there are none.
export const stoodWords = (partitionSeconds, words) =>
  partitionSeconds === null || partitionSeconds === undefined ? "" : seconds(Math.floor(partitionSeconds * 1e6), words);

// The spread of a skew over what chance decides, and what that is; nothing where chance decides nothing.
// Rounded outwards: it holds the skew as that is written, with one decimal more.
const tenth = (value, rounded) => rounded(Number((10 * value).toFixed(6))) / 10;

const bandWords = (luck, words) => ({
  band: luck ? `${figure(tenth(luck.low, Math.floor), 1)}–${figure(tenth(luck.high, Math.ceil), 1)}` : "",
  band_title: luck ? speaker(words)(`rank.band.${luck.of}`, { draws: luck.draws }) : "",
});

// The longest time until the backlog of a change was worked off; nothing where it was not measured.
function drainWords({ undrained, drain_s: drained }, words) {
  if (undrained) return words["rank.lag_never"];
  return drained === null || drained === undefined ? "" : seconds(Math.floor(drained * 1e6), words);
}

// The partition counts that suit a group of the most consumers; nothing where there are none to choose.
export function suitsWords({ luck }, steps, words) {
  if (!luck?.suits.length) return "";
  const say = speaker(words);
  return say("use.suits", {
    consumers: Math.max(...steps.map(({ members }) => members.length)), count: luck.suits.length,
    counts: luck.suits.join(say("list.comma")), skew: figure(luck.suits_skew, 2),
  });
}

// A term's figure as it is read: ratios with two digits, shares in percent, none of all a plain 0, a dash where it does
// not apply.
export function scored(term, value) {
  if (term === "skew" || term === "churn") return figure(value, 2);
  return value === 0 ? "0" : percent(value, 2);
}

// Why a strategy has its place: one or two sentences.
function reasonWords(why, names, words) {
  const [first, second] = why.map(({ code, params }) => sentence(code, params, names, words));
  return second ? speaker(words)("why.two", { first, second }) : first;
}

function sentence(code, params, names, words) {
  const say = speaker(words), written = { ...params };
  const told = (term, { value, other }) => ({
    term: say(`weight.${term}`), value: scored(term, value), other: scored(term, other),
  });
  if ("than" in params) written.than = names.get(params.than);
  if ("parts" in params) written.parts = params.parts.map((part) => partWords(part, words)).join(say("list.comma"));
  if ("broken" in params) written.parts = params.broken.map((each) => brokenWords(each, words)).join(say("list.comma"));
  for (const side of ["ahead", "behind"]) {
    if (side in params) written[side] = say("why.pair", told(params[side].term, params[side]));
  }
  if (!("term" in params)) return say(`why.${code}`, written);
  Object.assign(written, told(params.term, params));
  if (code !== "best") return say(`why.${code}`, written);
  // A share of 0 is the ideal, even if others have it, too; a churn that does not apply is that of keys without owners.
  const kind = params.value === null ? "_unowned" : params.value === 0 ? "_zero" : params.is_shared ? "_shared" : "";
  return say(`why.best.${params.term}${kind}`, written);
}

// One term, the points that it cost, its figure, and what more is known of it.
function partWords({ term, points, value, step, step_share: share, is_owned: isOwned }, words) {
  const kind = share ? "_step" : isOwned === false ? "_unowned" : "";
  const more = share ? { step, step_share: percent(share) } : {};
  return speaker(words)(`why.lost.${term}${kind}`, { points: figure(points, 0), value: scored(term, value), ...more });
}

// A constraint that a strategy breaks, with its figure.
function brokenWords({ code, params }, words) {
  const say = speaker(words), { count, value, gets, is_owned: isOwned } = params, name = `why.excluded.${code}`;
  if (code === "keeps_order") {
    return say(`${name}${isOwned ? "" : "_unowned"}`, { count, value: scored("order", value) });
  }
  if (code === "wait_s_max") return say(name, { ...params, value: percent(value, 1) });
  if (code === "keeps_up") {
    const kind = params.consumer === null ? "_together" : count > 1 ? "_many" : "";
    return say(`${name}${kind}`, { ...params, gets: figure(gets, 1) });
  }
  if (value === undefined) return say(name, params);
  return say(`${name}${value === null ? "_never" : ""}`, {
    ...params, value: figure(value, code === "skew_max" ? 2 : 1),
  });
}
