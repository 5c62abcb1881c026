// What a lane is called: by its model, and of several of one model by its id as well.

export const ownName = (title, id, model) => (id === model ? title : `${title} ${id}`);

export const laneName = (id, model, say) => ownName(say(`rig.${model}`), id, model);
