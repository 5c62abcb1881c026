// A list that is cut off by its box says how much of it is below, wherever it is scrolled to.

const HALF = 0.5;

// rows(): the box's rows from the top; write(rows below): says it. Answers the update for when the rows are new.
export function tellBelow(box, rows, write) {
  function update() {
    const foot = box.getBoundingClientRect().bottom, all = rows(), first = all.findIndex((row) => middle(row) > foot);
    write(first < 0 ? [] : all.slice(first));
  }
  box.addEventListener("scroll", update);
  return update;
}

function middle(row) {
  const { top, height } = row.getBoundingClientRect();
  return top + height * HALF;
}
