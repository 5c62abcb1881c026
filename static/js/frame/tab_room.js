// A window on a row that is wider: what of the row it shows.

export const FADE = 24;                                 // what frame.css fades at the end of a row that goes on

// Which of the parts, {start, end}, a window from 0 to width does not show whole. scrolled: how far it is moved.
export const outside = (parts, scrolled, width) =>
  parts.filter(({ start, end }) => Math.round(start - scrolled) < 0 || Math.floor(end - scrolled) > width);

// How far to move a window of that width so that it shows the part before the fade, and no further.
export const scrollTo = ({ end }, width) => Math.max(0, Math.ceil(end + FADE - width));
