// What a study's result says in words and figures: the browser's half of dashboard/study_presentation.py, line by line.

import { NONE, figure, halfUp, percent, seconds, speaker } from "../say.js";

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
  const equal = ranking.filter(({ score }) => score === ranking[0].score).length - 1;
  const code = strategies.length === 1 ? "study.one" : equal ? "study.best_equal" : "study.best";
  const counts = steps.map(({ members }) => members.length), low = Math.min(...counts), high = Math.max(...counts);
  const facts = say("study.facts", {
    records: workload.records, noun: say(isFlights ? "noun.flights" : "noun.records"),
    keys: workload.keys, keys_noun: say(isFlights && words[`noun.${key}`] ? `noun.${key}` : "noun.keys"), strategies: strategies.length, changes: steps.length - 1,
  });
  return {
    title: first && workload.records ? say(code, { strategy: strategyWords(first, words).best, records, count: equal }) : request.name || result.name,
    facts: facts + say(low === high ? "study.facts_steady" : "study.facts_range", { low, high }),
  };
}

// The ranking as rows of texts, best first.
export function rankingRows(result, ranking, words) {
  const byId = new Map(result.strategies.map((strategy) => [strategy.id, strategy])), names = shortNames(result.strategies, words);
  return ranking.map(({ id, score, why }, index) => {
    const strategy = byId.get(id), { totals } = strategy, { model, name } = strategyWords(strategy, words);
    return {
      place: String(index + 1), id, model, name, document: Boolean(strategy.document),
      score: figure(score, 0), bar: halfUp(score ?? 0, 1),
      skew: figure(totals.skew, 2), churn: figure(totals.churn, 2), pause: pauseWords(totals.pause_partition_s, words), order: orderWords(totals),
      why: reasonWords(why, names, words),
    };
  });
}

export const pauseWords = (partitionSeconds, words) =>
  (partitionSeconds === null || partitionSeconds === undefined ? NONE : seconds(Math.floor(partitionSeconds * 1e6), words));

export function orderWords({ order_at_risk: count, order_share: share }) {
  if (count === null || count === undefined) return NONE;
  return count === 0 ? "0" : percent(share, 2);
}

// Why a strategy stands where it stands; its figures as they are read: ratios with two digits, shares in percent, times with their unit.
export function reasonWords({ code, params }, names, words) {
  const isShare = code.endsWith(".pause") || code.endsWith(".order"), written = { ...params };
  for (const name of ["value", "other"]) if (name in params) written[name] = isShare ? percent(params[name], 2) : figure(params[name], 2);
  if ("step_share" in params) written.step_share = percent(params.step_share);
  if ("than" in params) written.than = names.get(params.than);
  if ("partition_s" in params) written.stood = pauseWords(params.partition_s, words);
  const kind = code.startsWith("best.") && params.value === 0 ? "_zero" : params.is_owned === false ? "_unowned" : params.partition_s ? "_stand" : "";
  return speaker(words)(words[`why.${code}${kind}`] ? `why.${code}${kind}` : `why.${code}`, written);
}
