// The sheet of keys: what each key of this page does, from the table that the keys act by.

import { GROUPS, bindings, bindKeys, capOf, wordsOf } from "./keys.js";

// opener: the button in the top bar.
export function createSheet(opener, say) {
  const dialog = document.createElement("dialog"), title = document.createElement("h2");
  const close = document.createElement("button"), body = document.createElement("div");
  const note = document.createElement("p");
  dialog.className = "sheet";
  dialog.id = "keys-sheet";
  title.id = "keys-title";
  dialog.setAttribute("aria-labelledby", title.id);
  Object.assign(close, { type: "button", className: "tool", textContent: "×" });
  Object.assign(note, { className: "s m" });
  const head = document.createElement("div");
  head.className = "sheet-head";
  head.append(title, close);
  body.className = "sheet-body";
  dialog.append(head, body, note);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("keydown", (event) => event.key === "?" && dialog.close());

  function group(name, list) {
    const root = document.createElement("section"), heading = document.createElement("h3");
    const words = document.createElement("dl");
    heading.textContent = say(`keys.of.${name}`);
    for (const binding of list) {
      const row = document.createElement("div"), caps = document.createElement("dt");
      for (const key of binding.keys) {
        caps.append(Object.assign(document.createElement("kbd"), { textContent: capOf(key, say) }));
      }
      row.append(caps, Object.assign(document.createElement("dd"), { textContent: wordsOf(binding, say) }));
      words.append(row);
    }
    root.append(heading, words);
    return root;
  }

  function open() {
    document.body.append(dialog);
    title.textContent = say("keys.of_page");
    note.textContent = say("keys.written");
    close.setAttribute("aria-label", say("close"));
    const told = bindings().filter((binding) => wordsOf(binding, say));
    const groups = GROUPS.map((name) => [name, told.filter((one) => one.group === name)]);
    body.replaceChildren(...groups.filter(([, list]) => list.length).map(([name, list]) => group(name, list)));
    dialog.showModal();
  }

  opener.addEventListener("click", open);
  bindKeys([{ keys: ["?"], says: "keys.sheet", act: open }], "site");
}
