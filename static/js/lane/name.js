// What a lane is called: by its model; of several of one model by what a lesson calls it, else by its id as well.

const lessons = (id, { lesson }, say) => lesson?.lanes?.[id]?.[say("lesson.language")] ?? null;

function named(title, id, view, say) {
  const own = lessons(id, view, say);
  if (own !== null) return say("list.named", { name: title, what: own });
  return id === modelOf(id, view) ? title : `${title} ${id}`;
}

const modelOf = (id, view) => view.lanes?.[id]?.model ?? id;

export const laneName = (id, view, say) => named(say(`model.${modelOf(id, view)}`), id, view, say);

// On a page of one lane the tabs beside it need no model: all have the same.
export const tabName = (id, view, say) => lessons(id, view, say) ?? id;

// What stands above a lane's picture: a subscription's type where it is not Key_Shared, and no lesson names the lane.
export function laneTitle(id, view, say) {
  const { model, picture: { type } } = view.lanes[id];
  if (lessons(id, view, say) !== null) return laneName(id, view, say);
  return named(
    say(model === "pulsar" && type && type !== "Key_Shared" ? `lane.pulsar.${type}` : `lane.${model}`),
    id,
    view,
    say,
  );
}
