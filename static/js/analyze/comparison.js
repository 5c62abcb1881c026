// Two results as one: what their requests ask for differently, and the ranking of both with the differences. Node tests it.

import { NONE, figure, number } from "../say.js";
import { strategyWords } from "./result.js";

const LABELS_MAX = 14;

// -> rows [part, first, second] of what is not the same.
export function differences(a, b, { say, words }) {
  const parts = [
    ["compare.source", sourceWords], ["compare.records", ({ workload }) => number(workload.records)],
    ["compare.keys", ({ workload }) => number(workload.keys)],
    ["compare.strategies", (result, other) => onlyHere(result, other, words)], ["compare.history", historyWords], ["compare.service", serviceWords],
  ];
  return parts.map(([code, write]) => [say(code), write(a, b, say), write(b, a, say)]).filter(([, first, second]) => first !== second);
}

function sourceWords({ request: { source } }, _, say) {
  switch (source.kind) {
    case "flights": return `${say("data.flights")}, ${say(`key.${source.key}`)}`;
    case "lab": return `${say("data.lab_which")} ${source.lab ?? ""}`;
    case "zipf": case "uniform": {
      const exponent = source.kind === "zipf" ? `${say("data.exponent")} ${source.exponent}` : null;
      return listed([say(`data.shape_${source.kind}`), `${say("data.keys")} ${number(source.keys)}`, exponent, `${say("data.seed")} ${source.seed}`]);
    }
    default:
      return listed([source.file ?? source.name ?? source.upload, source.key ? `${say("data.key")} ${source.key}` : null, source.topic ? `${say("data.topic")} ${source.topic}` : null]);
  }
}

const listed = (texts) => texts.filter(Boolean).join(", ");

function onlyHere(result, other, words) {
  const others = new Set(other.strategies.map(({ id }) => id));
  return result.strategies.filter(({ id }) => !others.has(id)).map((strategy) => fullName(strategy, words)).join("; ") || NONE;
}

const fullName = (strategy, words) => {
  const { model, name } = strategyWords(strategy, words);
  return `${model} ${name}`;
};

function historyWords({ steps }) {
  const labels = steps.map(({ label }) => label);
  return labels.length > LABELS_MAX ? `${labels.slice(0, LABELS_MAX - 1).join(" ")} … ${labels.at(-1)} (${labels.length - 1})` : labels.join(" ");
}

function serviceWords({ request: { service } }, _, say) {
  return service ? `${say("service.rate")}: ${number(service.rate)}; ${say("service.consumer_rate")}: ${number(service.consumer_rate)}` : NONE;
}

// -> rows { id, name, a: {place, score, skew, churn} or null, b: likewise, difference: {score, skew, churn} or null }, by the first's order, then
// what only the second has.
export function bothRanked(a, b, words) {
  const [first, second] = [placed(a), placed(b)], ids = [...first.keys(), ...[...second.keys()].filter((id) => !first.has(id))];
  const strategies = new Map([...b.strategies, ...a.strategies].map((strategy) => [strategy.id, strategy]));
  return ids.map((id) => {
    const [left, right] = [first.get(id) ?? null, second.get(id) ?? null];
    const by = (part, digits) => signed(right[part], left[part], digits);
    const difference = left && right ? { score: by("score", 0), skew: by("skew", 2), churn: by("churn", 2) } : null;
    return { id, name: fullName(strategies.get(id), words), a: left && written(left), b: right && written(right), difference };
  });
}

function placed({ ranking, strategies }) {
  const totals = new Map(strategies.map((strategy) => [strategy.id, strategy.totals]));
  return new Map(ranking.map(({ id, score }, index) => [id, { place: index + 1, score, skew: totals.get(id).skew, churn: totals.get(id).churn }]));
}

const written = ({ place, score, skew, churn }) => ({ place: String(place), score: figure(score, 0), skew: figure(skew, 2), churn: figure(churn, 2) });

// The second less the first, with its sign; nothing where one of them does not apply.
export function signed(to, from, digits) {
  if (to === null || to === undefined || from === null || from === undefined) return NONE;
  const value = Number(figure(Math.abs(to - from), digits));
  if (value === 0) return "0";
  return `${to > from ? "+" : "−"}${value.toFixed(digits)}`;
}

