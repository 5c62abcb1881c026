// A long table shows its first rows, and a button below it says how many there are and shows all: one rule for all.

export const ROWS_MOST = 60;

// -> {shown: the rows, code, count: what a press on the button does; code "" where all of them are always shown}
export function cut(rows, isWhole) {
  if (rows.length <= ROWS_MOST) return { shown: rows, code: "", count: rows.length };
  return isWhole
    ? { shown: rows, code: "twin.few_rows", count: ROWS_MOST }
    : { shown: rows.slice(0, ROWS_MOST), code: "twin.all_rows", count: rows.length };
}

// A table beside its picture is for screen readers until the tables are what is shown; one without a picture is always
// there.
export const isReached = (element) => !element.closest(".twin-box") || document.body.hasAttribute("data-twins");

// button: below the table. Hidden with it, it is no stop of the Tab key.
export function writeMore(button, text) {
  if (button.textContent !== text) button.textContent = text;
  button.hidden = !text;
  button.tabIndex = isReached(button) ? 0 : -1;
}
