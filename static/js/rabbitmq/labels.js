// The words on lines that may stand elsewhere on their line, so that no words lie on others.

const HEIGHT = 20, STEP = 10, TRIES = 24;

const meet = (one, other) =>
  Math.abs(one.x - other.x) < (one.wide + other.wide) / 2 && Math.abs(one.y - other.y) < HEIGHT;

// ways: of ways.js; wideOf(way): of its words, 0 without. -> the same, those that are free (`isFree`) moved up or down
// as little as it takes; one that finds no room keeps its place.
export function apart(ways, wideOf) {
  const fixed = ways.filter(({ isFree }) => !isFree), taken = [];
  const boxOf = (way, y = way.y) => ({ x: way.x, y, wide: wideOf(way) });
  for (const way of fixed) if (wideOf(way)) taken.push(boxOf(way));
  return ways.map((way) => {
    if (!way.isFree || !wideOf(way)) return way;
    const steps = Array.from({ length: TRIES }, (_, place) => Math.ceil(place / 2) * (place % 2 ? STEP : -STEP));
    const boxes = steps.map((step) => boxOf(way, way.y + step)).filter(({ y }) => y >= HEIGHT);
    const box = boxes.find((each) => !taken.some((other) => meet(each, other))) ?? boxOf(way);
    taken.push(box);
    return { ...way, y: box.y };
  });
}
