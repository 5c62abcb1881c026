// How large the boxes of the pictures are. To ask an element in the middle of a frame makes the browser lay the page
// out
// at once, again for each picture; so the browser tells it here, once, when a box has become another size.

// onChange(): a box has another size than when it was last looked at.
export function createSizes(onChange) {
  const sizes = new Map();
  const watcher = new ResizeObserver((entries) => {
    let isOther = false;
    for (const { target } of entries) isOther = note(target) || isOther;
    if (isOther) onChange();
  });

  // A box that is hidden keeps the size that it had: its picture is unchanged when it is seen again.
  function note(box) {
    const { clientWidth: width, clientHeight: height } = box, known = sizes.get(box);
    if (!width || (known?.width === width && known.height === height)) return false;
    sizes.set(box, { width, height });
    return true;
  }

  // -> {width, height}: px, whole; 0 while the box was never seen.
  return function sizeOf(box) {
    if (!sizes.has(box)) {
      note(box);
      watcher.observe(box);
    }
    return sizes.get(box) ?? { width: 0, height: 0 };
  };
}
