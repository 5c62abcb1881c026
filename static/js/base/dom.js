// Writers for an element that touch the document only when something is another.

export function textOnce(element) {
  let old = element.textContent;
  return (text) => {
    if (text === old || text === undefined) return;
    old = text;
    element.textContent = text;
  };
}

// Returns the text.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return text;
}

export function setAttribute(element, attribute, value) {
  if (element.getAttribute(attribute) !== String(value)) element.setAttribute(attribute, value);
}

// texts: [text, whether it is bad] of each item.
export function fillList(list, texts) {
  const key = JSON.stringify(texts);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...texts.map(([textContent, isBad]) =>
      Object.assign(document.createElement("li"), { textContent, className: isBad ? "bad" : "" }),
    ),
  );
}

// options: [value, text] of each; value: which is chosen, unless a person is choosing.
export function fillSelect(select, options, value) {
  const key = JSON.stringify(options);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...options.map(([id, text]) => new Option(text, id)));
    // also while it has the focus: new options forget which one was chosen
    select.value = value;
  }
  if (select.value !== value && document.activeElement !== select) select.value = value;
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
