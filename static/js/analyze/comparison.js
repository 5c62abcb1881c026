// Two results as one: what their requests ask for differently, and the ranking of both with the differences. Node tests
// it.

import { NONE, figure, number, speaker } from "../base/say.js";
import { scored, stoodWords, strategyWords } from "./result.js";

const LABELS_MAX = 14;

// -> rows [part, first, second] of what is not the same.
export function differences(a, b, { say, words }) {
  const parts = [
    ["compare.source", sourceWords], ["compare.records", ({ workload }) => number(workload.records)],
    ["compare.keys", ({ workload }) => number(workload.keys)],
    ["compare.strategies", (result, other) => onlyHere(result, other, words, say)], ["compare.history", historyWords],
    ["compare.service", serviceWords], ["weights.title", weightWords],
  ];
  return parts
    .map(([code, write]) => [say(code), write(a, b, say), write(b, a, say)])
    .filter(([, first, second]) => first !== second);
}

function sourceWords({ request: { source } }, _, say) {
  switch (source.kind) {
    case "flights": return listed([say("data.flights"), say(`key.${source.key}`)], say);
    case "lab": return `${say("data.lab_which")} ${source.lab ?? ""}`;
    case "zipf": case "uniform": {
      const exponent = source.kind === "zipf" ? `${say("data.exponent")} ${source.exponent}` : null;
      return listed(
        [
          say(`data.shape_${source.kind}`), `${say("data.keys")} ${number(source.keys)}`, exponent,
          `${say("data.seed")} ${source.seed}`,
        ],
        say,
      );
    }
    default:
      return listed(
        [
          source.file ?? source.name ?? source.upload, source.key ? `${say("data.key")} ${source.key}` : null,
          source.topic ? `${say("data.topic")} ${source.topic}` : null,
        ],
        say,
      );
  }
}

const listed = (texts, say) => texts.filter(Boolean).join(say("list.comma"));

function onlyHere(result, other, words, say) {
  const others = new Set(other.strategies.map(({ id }) => id));
  return (
    result.strategies
      .filter(({ id }) => !others.has(id))
      .map((strategy) => fullName(strategy, words))
      .join(say("list.semicolon")) || NONE
  );
}

const fullName = (strategy, words) => {
  const { model, name } = strategyWords(strategy, words);
  return `${model} ${name}`;
};

function historyWords({ steps }) {
  const labels = steps.map(({ label }) => label);
  return labels.length > LABELS_MAX
    ? `${labels.slice(0, LABELS_MAX - 1).join(" ")} … ${labels.at(-1)} (${labels.length - 1})`
    : labels.join(" ");
}

function serviceWords({ request: { service } }, _, say) {
  if (!service) return NONE;
  return ["rate", "consumer_rate"]
    .map((name) => say("list.named", { name: say(`service.${name}`), what: service[name] }))
    .join(say("list.semicolon"));
}

function weightWords({ request: { weights } }, _, say) {
  return listed(Object.entries(weights).map(([term, weight]) => `${say(`weight.${term}`)} ${weight}`), say);
}

// The columns of each study, and of their difference: a score compares the strategies of its own study, so scores have
// none.
export const RANKED = ["place", "score", "skew", "churn", "pause", "order"];
export const COMPARED = RANKED.slice(2);

// -> rows { id, name, a: texts by RANKED and `stood`, or null, b: likewise, difference: texts by COMPARED or null }, by
// the first's order, then what only the second has.
export function bothRanked(a, b, words) {
  const [first, second] = [placed(a), placed(b)];
  const ids = [...first.keys(), ...[...second.keys()].filter((id) => !first.has(id))];
  const strategies = new Map([...b.strategies, ...a.strategies].map((strategy) => [strategy.id, strategy]));
  return ids.map((id) => {
    const [left, right] = [first.get(id) ?? null, second.get(id) ?? null];
    const difference =
      left && right && Object.fromEntries(COMPARED.map((part) => [part, DIFFER[part](right[part], left[part], words)]));
    return {
      id, name: fullName(strategies.get(id), words), a: left && written(left, words), b: right && written(right, words),
      difference,
    };
  });
}

const DIFFER = {
  skew: (to, from) => signed(to, from, 2), churn: (to, from) => signed(to, from, 2),
  pause: signedShare, order: signedShare,
};

function placed({ ranking, strategies }) {
  const byId = new Map(strategies.map((strategy) => [strategy.id, strategy.totals]));
  return new Map(ranking.map(({ id, place, score }) => {
    const { skew, churn, waited_share: pause, order_share: order, pause_partition_s: stood } = byId.get(id);
    return [id, { place, score, skew, churn, pause, order, stood }];
  }));
}

function written({ place, score, stood, ...terms }, words) {
  const texts = Object.fromEntries(Object.entries(terms).map(([term, value]) => [term, scored(term, value)]));
  return {
    place: place === null ? NONE : String(place), score: figure(score, 0), ...texts, stood: stoodWords(stood, words),
  };
}

// The second less the first as both are shown, with its sign; nothing where one of them does not apply.
export function signed(to, from, digits) {
  if (to === null || to === undefined || from === null || from === undefined) return NONE;
  const value = Number(figure(to, digits)) - Number(figure(from, digits)), text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return "0";
  return `${value > 0 ? "+" : "−"}${text}`;
}

// The same of two shares: the difference of percentages is in percentage points.
export function signedShare(to, from, words) {
  const text = signed(
    to === null || to === undefined ? null : 100 * to,
    from === null || from === undefined ? null : 100 * from,
    2,
  );
  return text === NONE || text === "0" ? text : speaker(words)("compare.points", { value: text });
}

// What the axes of several charts have to hold together: extents { x: [low, high], y?: [low, high] } -> one of the same
// shape.
export const oneScale = (extents) => Object.fromEntries(Object.keys(extents[0]).map((axis) => [
  axis, [Math.min(...extents.map((extent) => extent[axis][0])), Math.max(...extents.map((extent) => extent[axis][1]))],
]));
