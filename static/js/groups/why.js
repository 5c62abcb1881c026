// What "Why?" is asked about on this page.

import { shapeOf } from "../drawing/shapes.js";
import { COORDINATOR } from "./members.js";

const PREFIX = /^[a-z]+-/;

// A row of the picture of partitions, or a figure in it, is that partition; what the coordinator does is the group.
export function thingAt(target, lane, group) {
  const partition = target.closest("#grid") ? partitionOf(shapeOf(target)?.id ?? "", group) : null;
  if (partition !== null) return { lane, thing: `partition:${partition}` };
  if (target.closest("#machine")) return { lane, thing: `group:${group.group_id}` };
  const member = target.closest("[data-member]")?.dataset.member;
  return member ? chosenThing(lane, group, member) : null;
}

// Of the lane's own topic: "part-flights-3", or "cell-flights-3-<member>".
function partitionOf(id, { topic, partitions }) {
  const rest = id.replace(PREFIX, "");
  const names = (number) => [number, `${topic}-${number}`];
  const isIn = (name) => rest === name || rest.startsWith(`${name}-`);
  return Object.keys(partitions).find((number) => names(number).some(isIn)) ?? null;
}

export function chosenThing(lane, group, chosen) {
  const member = chosen === COORDINATOR ? null : group.members[chosen];
  return { lane, thing: member ? `consumer:${member.consumer}` : `group:${group.group_id}` };
}
