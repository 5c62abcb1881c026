// What of a wide drawing is out of sight at its right: an edge to see, and a line that says what is there.

// Columns of which nothing is seen. xs: where they begin, in px of the drawing.
export const hiddenOf = (xs, { scrollLeft, clientWidth }) => xs.filter((x) => x >= scrollLeft + clientWidth).length;

// box: scrolls sideways. line: below it. words(hidden): the sentence about so many columns. -> write(xs): where its
// columns begin now.
export function createMore(box, line, words) {
  let columns = [];
  function show() {
    const hidden = hiddenOf(columns, box), text = hidden ? words(hidden) : "";
    box.toggleAttribute("data-more", hidden > 0);
    line.hidden = hidden === 0;
    if (line.textContent !== text) line.textContent = text;
  }
  box.addEventListener("scroll", show, { passive: true });
  return function write(xs) {
    columns = xs;
    show();
  };
}
