// What a lane is called: by its model; of several of one model by what a lesson calls it, else by its way (Range,
// Shared) where it is a comparison's, or by its id as well.

import { speaker } from "../base/say.js";

const lessons = (id, { lesson }, say) => lesson?.lanes?.[id]?.[say("lesson.language")] ?? null;

function named(title, id, view, say) {
  const own = lessons(id, view, say);
  if (own !== null) return say("list.named", { name: title, what: own });
  return id === modelOf(id, view) ? title : `${title} ${wayName(id, view, say) ?? id}`;
}

// What a lane of a comparison shows: "kafka-range" is "Range", as long as it has that rule.
function wayName(id, { lanes }, say) {
  const { model, algorithm } = lanes?.[id] ?? {}, way = id.replace("-", ".");
  if (!model || !id.startsWith(`${model}-`)) return null;
  const codes = [`way.${way}`, ...(way === `${model}.${algorithm}` ? [way] : [])];
  return codes.map((code) => [code, say(code)]).find(([code, words]) => words !== code)?.[1] ?? null;
}

const modelOf = (id, view) => view.lanes?.[id]?.model ?? id;

export const laneName = (id, view, say) => named(say(`model.${modelOf(id, view)}`), id, view, say);

// On a page of one lane the tabs beside it need no model: all have the same.
const tabName = (id, view, say) => lessons(id, view, say) ?? wayName(id, view, say) ?? id;

// -> the same of all lanes, by id.
export function tabNames(view, words) {
  const say = speaker(words);
  return Object.fromEntries(view.lane_order.map((id) => [id, tabName(id, view, say)]));
}

// What stands above a lane's picture: a subscription's type where it is not Key_Shared, and neither a lesson nor its
// way names the lane.
export function laneTitle(id, view, say) {
  const { model, picture: { type } } = view.lanes[id];
  if (lessons(id, view, say) !== null || wayName(id, view, say) !== null) return laneName(id, view, say);
  return named(
    say(model === "pulsar" && type && type !== "Key_Shared" ? `lane.pulsar.${type}` : `lane.${model}`),
    id,
    view,
    say,
  );
}
