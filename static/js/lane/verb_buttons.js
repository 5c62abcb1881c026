// The verbs of what is chosen as buttons; touches the document only where something is another. isOpen: of a verb that
// opens a form.

export function createVerbs(box, onPress) {
  let shown = "", verbs = [];
  box.addEventListener("click", (event) => {
    const button = event.target.closest("[data-order]");
    if (button) onPress(verbs.find(({ id }) => id === button.dataset.order), button);
  });
  return {
    write(next) {
      verbs = next;
      const key = next.map(({ id, text, isOpen }) => `${id}/${text}/${isOpen}`).join();
      if (key === shown) return;
      shown = key;
      const held = box.contains(document.activeElement) ? document.activeElement.dataset.order : null;
      box.replaceChildren(...next.map(({ id, text, about, key: shortcut, isOpen }) => {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", className: "btn", title: about, textContent: text });
        button.dataset.order = id;
        if (isOpen !== undefined) button.setAttribute("aria-expanded", String(isOpen));
        if (shortcut) {
          button.setAttribute("aria-keyshortcuts", shortcut);
          button.append(Object.assign(document.createElement("kbd"), { textContent: shortcut }));
        }
        return button;
      }));
      if (held !== null) (box.querySelector(`[data-order="${held}"]`) ?? box.querySelector("button"))?.focus();
    },
    // What their keys do, as the table of keys has it.
    bindings: () =>
      verbs.filter(({ key }) => key).map((verb) => ({
        keys: [verb.key.toLowerCase()], text: verb.text, act: () => onPress(verb, box),
      })),
  };
}
