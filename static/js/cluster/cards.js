// A card after each fault: what was, what is now, and what it means. The newest first.

import { cardWords } from "./words.js";

export function createCards(panel, list) {
  let shown = "";
  return {
    write(faults, say) {
      panel.hidden = !faults.length;
      const cards = faults.map((fault) => cardWords(fault, say)), key = JSON.stringify(cards);
      if (key === shown) return;
      shown = key;
      list.replaceChildren(...cards.reverse().map(({ title, when, was, now, means }) => {
        const item = document.createElement("li"), head = document.createElement("p"), time = el("span", when, "n m s");
        const facts = document.createElement("dl");
        head.append(el("b", title), " ", time);
        facts.className = "s";
        for (const [word, text] of [
          [say("cluster.was"), was], [say("cluster.now"), now],
        ]) {
          facts.append(el("dt", word, "m"), el("dd", text));
        }
        const meaning = document.createElement("ul");
        meaning.className = "s";
        meaning.append(...means.map((text) => el("li", text)));
        item.append(head, facts, ...(means.length ? [meaning] : []));
        return item;
      }));
    },
  };
}

const el = (tag, textContent, className = "") => Object.assign(document.createElement(tag), { textContent, className });
