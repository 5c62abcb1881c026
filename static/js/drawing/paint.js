// The fill of a consumer's colour: seven hues, then the same with a diagonal, then with dots; it wraps after 21.

const HUES = 7, PAINTS = 21;

export function paint(color) {
  if (!color) return "none";
  const place = ((color - 1) % PAINTS) + 1;
  return place <= HUES ? `var(--id-${place})` : `url(#id-${place})`;
}

// Which of the seven it is, whatever its texture.
export const hue = (color) => ((color - 1) % HUES) + 1;

export const waitingPaint = (color) => `url(#wait-${hue(color)})`;

// Text on a texture needs its own plate or halo.
export const isTextured = (color) => (color - 1) % PAINTS >= HUES;

export const textOn = (color) => (((color - 1) % PAINTS) + 1 === 1 ? "var(--on-id-1)" : "var(--on-id)");

// The patterns behind the fills above, for the page's <defs>: colours 8 to 14 have a diagonal, 15 to 21 dots; every hue
// has one for what waits to be handed over.
export function textures() {
  const hues = Array.from({ length: HUES }, (_, place) => place + 1);
  return {
    diagonal: hues.map((hue) => ({ id: HUES + hue, hue })),
    dots: hues.map((hue) => ({ id: 2 * HUES + hue, hue })),
    draining: hues.map((hue) => ({ id: hue, hue })),
  };
}
