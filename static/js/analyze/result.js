// What a study's result says in words and figures: the browser's half of dashboard/study_presentation.py, line by line.

import { figure, halfUp, percent, seconds, speaker } from "../say.js";

export function strategyWords(strategy, words) {
  const say = speaker(words), code = `strategy.${strategy.model}.${strategy.algorithm}`;
  const inWords = (part) => (words[code + part] ? say(code + part, strategy.params) : strategy.algorithm);
  return { model: say(`rig.${strategy.model}`), name: inWords(""), short: inWords(".short"), best: inWords(".best") };
}

// id -> short name; where two would read the same, what differs in their parameters stands behind.
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
  const records = say(`study.these.${isFlights ? "flights" : kind === "zipf" || kind === "uniform" ? "keys" : "records"}`);
  const first = strategies.find(({ id }) => id === ranking[0]?.id);
  const equal = ranking.filter(({ score }) => figure(score, 0) === figure(ranking[0].score, 0)).length - 1;
  const code = strategies.length === 1 ? "study.one" : equal ? "study.best_equal" : "study.best";
  const counts = steps.map(({ members }) => members.length), low = Math.min(...counts), high = Math.max(...counts);
  const facts = say("study.facts", {
    records: workload.records, noun: say(isFlights ? "noun.flights" : "noun.records"),
    keys: workload.keys, keys_noun: say(isFlights && words[`noun.${key}`] ? `noun.${key}` : "noun.keys"), strategies: strategies.length, changes: steps.length - 1,
  });
  return {
    title: first ? say(code, { strategy: strategyWords(first, words).best, records, count: equal }) : request.name || result.name,
    facts: facts + say(low === high ? "study.facts_steady" : "study.facts_range", { low, high }),
  };
}

// What has to be said where records have no consumer after a change; nothing where each has one.
export function unowned({ strategies }, words) {
  const left = strategies.filter(({ totals }) => totals.unowned_share);
  if (!left.length) return "";
  const say = speaker(words), names = shortNames(strategies, words), share = Math.max(...left.map(({ totals }) => totals.unowned_share));
  return say("study.unowned", { strategies: left.map(({ id }) => names.get(id)).join(say("list.comma")), share: percent(share) });
}

// Whether a record's size is known, not its key's alone: a column says it, or the source has the payloads.
export const hasSizes = ({ request: { source } }) =>
  Boolean(source.size || source.payload) || ["lab", "flights", "kafka_log"].includes(source.kind) || (source.kind === "folder" && !source.key);

// The ranking as rows of texts, best first; all whose score reads as the first one's are best.
export function rankingRows(result, ranking, words) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy])), names = shortNames(result.strategies, words);
  return ranking.map(({ id, score, why }, index) => {
    const strategy = byId.get(id), { totals } = strategy, { model, name } = strategyWords(strategy, words);
    return {
      place: String(index + 1), id, model, name, document: Boolean(strategy.document),
      score: figure(score, 0), is_best: figure(score, 0) === figure(ranking[0].score, 0), bar: halfUp(score ?? 0, 1),
      skew: scored("skew", totals.skew), churn: scored("churn", totals.churn),
      pause: scored("pause", totals.waited_share), stood: stoodWords(totals.pause_partition_s, words), order: scored("order", totals.order_share),
      why: reasonWords(why, names, words),
    };
  });
}

// How long partitions stood still, added up; nothing where there are none.
export const stoodWords = (partitionSeconds, words) =>
  (partitionSeconds === null || partitionSeconds === undefined ? "" : seconds(Math.floor(partitionSeconds * 1e6), words));

// A term's figure as it is read: ratios with two digits, shares in percent, none of all a plain 0, a dash where it does not apply.
export function scored(term, value) {
  if (term === "skew" || term === "churn") return figure(value, 2);
  return value === 0 ? "0" : percent(value, 2);
}

// Why a strategy stands where it stands: one or two sentences.
export function reasonWords(why, names, words) {
  const [first, second] = why.map(({ code, params }) => sentence(code, params, names, words));
  return second ? speaker(words)("why.two", { first, second }) : first;
}

function sentence(code, params, names, words) {
  const say = speaker(words), written = { ...params };
  const told = (term, { value, other }) => ({ term: say(`weight.${term}`), value: scored(term, value), other: scored(term, other) });
  if ("than" in params) written.than = names.get(params.than);
  if ("parts" in params) written.parts = params.parts.map((part) => partWords(part, words)).join(say("list.comma"));
  for (const side of ["ahead", "behind"]) if (side in params) written[side] = say("why.pair", told(params[side].term, params[side]));
  if (!("term" in params)) return say(`why.${code}`, written);
  Object.assign(written, told(params.term, params));
  if (code !== "best") return say(`why.${code}`, written);
  // A share of 0 is the ideal, whoever else has it; a churn that does not apply is that of keys without owners.
  const kind = params.value === null ? "_unowned" : params.value === 0 ? "_zero" : params.is_shared ? "_shared" : "";
  return say(`why.best.${params.term}${kind}`, written);
}

// One term, the points that it cost, its figure, and what more is known of it.
function partWords({ term, points, value, step, step_share: share, is_owned: isOwned }, words) {
  const kind = share ? "_step" : isOwned === false ? "_unowned" : "", more = share ? { step, step_share: percent(share) } : {};
  return speaker(words)(`why.lost.${term}${kind}`, { points: figure(points, 0), value: scored(term, value), ...more });
}
