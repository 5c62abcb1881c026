// What the group's lag means, in words: "ok", "warning" or "error", with what decided it and over which window. The rules of a partition are the
// view's; a partition that is not read, or lags that grow in most of them, are no "ok" whatever the last commits were.

import { LOOKS_BACK, direction } from "./trend.js";

const WEAKEST_FIRST = ["moving", "young", "caught_up", "no_lag"];       // of the rules that say ok: the one that promises least speaks for all

// unread: how many of the `lanes` nobody reads. lags: partition -> its lags of the last seconds.
export function statusWords({ status, window, partitions }, { unread, lanes, lags }, say) {
  const known = Object.values(partitions), rules = known.filter((part) => part.status === status).map(({ rule }) => rule);
  if (status !== "ok") return inSome(say(`groups.rule.${rules[0]}`, { window }), rules.filter((rule) => rule === rules[0]).length, known.length, say);
  if (unread) return say("groups.status.unread", { count: unread, partitions: lanes });
  const rising = Object.keys(partitions).filter((name) => direction(lags[name] ?? []) === "up").length;
  if (rising * 2 > known.length) return say("groups.status.rising", { count: rising, partitions: known.length, seconds: LOOKS_BACK });
  return say(`groups.rule.${WEAKEST_FIRST.find((rule) => rules.includes(rule)) ?? "no_lag"}`, { window });
}

const inSome = (rule, count, partitions, say) => (count < partitions ? say("groups.status.in_some", { rule, count, partitions }) : rule);
