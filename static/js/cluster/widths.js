// How wide the boxes of the pictures are. To ask an element in the middle of a frame makes the browser lay the page out
// at once, again for each picture; so the browser tells it here, once, when a box has become another width.

// onChange(): a box has another width than when it was last looked at.
export function createWidths(onChange) {
  const widths = new Map();
  const watcher = new ResizeObserver((entries) => {
    let isOther = false;
    for (const { target } of entries) isOther = note(target) || isOther;
    if (isOther) onChange();
  });

  // A box that is hidden keeps the width that it had: its picture is unchanged when it is seen again.
  function note(box) {
    const width = box.clientWidth;
    if (!width || width === widths.get(box)) return false;
    widths.set(box, width);
    return true;
  }

  // -> px, whole; 0 while the box was never seen.
  return function widthOf(box) {
    if (!widths.has(box)) {
      note(box);
      watcher.observe(box);
    }
    return widths.get(box) ?? 0;
  };
}
