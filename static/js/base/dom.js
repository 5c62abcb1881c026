// Writers for an element that touch the document only when something is another.

export function textOnce(element) {
  let old = element.textContent;
  return (text) => {
    if (text === old || text === undefined) return;
    old = text;
    element.textContent = text;
  };
}

// What an element names is a term of the glossary: its definition comes on hover, focus and touch. term: "" or null for
// none. isReached: the Tab key stops there, which it must not where a table is only for screen readers.
export function setTerm(element, term, isReached = true) {
  const wanted = term ?? "";
  if ((element.dataset.term ?? "") !== wanted) {
    element.classList.toggle("term", wanted !== "");
    for (const [name, value] of [["data-term", wanted], ["aria-describedby", `term-${wanted}`]]) {
      if (wanted) element.setAttribute(name, value);
      else element.removeAttribute(name);
    }
  }
  if (!wanted) element.removeAttribute("tabindex");
  else if (element.tabIndex !== (isReached ? 0 : -1) || !element.hasAttribute("tabindex")) {
    element.tabIndex = isReached ? 0 : -1;
  }
}

// The row's cells have these texts. tag: "th" or "td", of those that are new.
export function fillCells(row, texts, tag) {
  while (row.children.length > texts.length) row.lastElementChild.remove();
  texts.forEach((text, index) => {
    let cell = row.children[index];
    if (!cell) {
      cell = row.appendChild(document.createElement(tag));
      if (tag === "th") cell.scope = "col";
    }
    if (cell.textContent !== text) cell.textContent = text;
  });
}
