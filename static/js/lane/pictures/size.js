// The pictures' own measure: as wide as the narrowest lane, where a unit is a pixel. A wider lane draws them larger and
// never smaller, so that text of 13 units is never under 13 pixels. A low window (a projector) has the short ones.

export const WIDTH = 280, TALL = 208, SHORT = 176, LETTERS = 13;

// Where rows are lower than a letter, every nth has its name.
export const nameEvery = (rowHeight) => Math.max(1, Math.ceil(LETTERS / rowHeight));
