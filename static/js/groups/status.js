// What the lag of a partition, and of the group, means: "ok", "warning" or "error", with what decided it and over which
// window. The rules are the view's, from the last commits; a partition that is not read, or whose lag grows, is no "ok"
// whatever they say, nor is a group with more to do than its members handle.

import { isUnread, lagOf } from "./lanes.js";
import { direction, secondsOf } from "./trend.js";

// of the rules that say ok: the one that promises least speaks for all
const WEAKEST_FIRST = ["moving", "young", "caught_up", "no_lag"];
const NOT_READ = "groups.status.not_read", GROWS = "groups.status.grows";

// Of one lane. lags: partition -> its lags of the last seconds. -> {status, code: of its words, seconds: over how long
// it grew}; null: of another topic, or nobody knows the lag.
export function statusOf(lane, group, health, lags) {
  const { status, rule } = lagOf(lane, group, health);
  if (!rule) return null;
  if (status !== "ok") return { status, code: `groups.rule.${rule}` };
  if (isUnread(lane)) return { status: "warning", code: NOT_READ };
  const values = lags[lane.name] ?? [];
  return direction(values) === "up"
    ? { status: "warning", code: GROWS, seconds: secondsOf(values) }
    : { status, code: `groups.rule.${rule}` };
}

export const wordsOf = ({ code, seconds }, { window }, say) => say(code, { window, seconds });

// Of the group. lanes: all of its topics. isOverloaded: more comes in than its members handle.
export function statusWords(group, health, lanes, { lags, isOverloaded }, say) {
  const { status, window, partitions } = health, known = Object.values(partitions);
  const rules = known.filter((part) => part.status === status).map(({ rule }) => rule);
  if (status !== "ok") {
    return inSome(
      say(`groups.rule.${rules[0]}`, { window }),
      rules.filter((rule) => rule === rules[0]).length,
      known.length,
      say,
    );
  }
  const unread = lanes.filter(isUnread).length;
  if (unread) return say("groups.status.unread", { count: unread, partitions: lanes.length });
  if (isOverloaded) return say("groups.status.overload");
  const rising = lanes.map((lane) => statusOf(lane, group, health, lags)).filter((told) => told?.code === GROWS);
  if (rising.length * 2 > known.length) {
    const seconds = Math.max(...rising.map((told) => told.seconds));
    return say("groups.status.rising", { count: rising.length, partitions: known.length, seconds });
  }
  return say(`groups.rule.${WEAKEST_FIRST.find((rule) => rules.includes(rule)) ?? "no_lag"}`, { window });
}

const inSome = (rule, count, partitions, say) =>
  count < partitions ? say("groups.status.in_some", { rule, count, partitions }) : rule;
