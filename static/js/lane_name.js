// What a lane is called: by its model, and of several of one model by its id as well.

export const ownName = (title, id, model) => (id === model ? title : `${title} ${id}`);

export const laneName = (id, model, say) => ownName(say(`rig.${model}`), id, model);

// What stands above a lane's picture: a subscription's type where it is not Key_Shared.
export const laneTitle = (id, { model, picture: { type } }, say) =>
  ownName(say(model === "pulsar" && type && type !== "Key_Shared" ? `lane.pulsar.${type}` : `lane.${model}`), id, model);
