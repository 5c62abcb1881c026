// Where "Why?" stands on the Stage: beside the picture that it is about, which stays visible and goes on. At the right
// of the lane, at the left of the last one, below the picture where there is no room beside it.

const WIDTH_MIN = 240;

// Where a panel has room beside a lane: `lane` is its { left, right }, `width` the window's.
export function sideOf(lane, width) {
  const needed = Math.min(lane.right - lane.left, WIDTH_MIN);
  if (lane.right + needed <= width) return "right";
  return lane.left >= needed ? "left" : "below";
}

// From the picture down: the figures, sentences and "Why?" of the lane that it covers stay in sight.
export function standBeside(panel, lane) {
  const before = lane.querySelector(".twin-box");           // read after the picture
  if (panel.nextElementSibling !== before) before.before(panel);
  const side = sideOf(lane.getBoundingClientRect(), innerWidth);
  panel.dataset.side = side;
  if (side === "below") panel.style.removeProperty("top");
  else panel.style.setProperty("top", `${lane.querySelector(".pic").offsetTop}px`);
}
