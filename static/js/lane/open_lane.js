// A phone has one lane of the Stage at a time: opens this one. lane: null where none is meant.

export function openLane(lane) {
  if (lane) document.querySelector(`[data-tab="${CSS.escape(lane)}"]:not([aria-current])`)?.click();
}
