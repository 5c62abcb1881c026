// The answers of a question to the room, as buttons: each as wide as how many gave it, once the presenter shows that.

import { say } from "../base/chrome.js";

// texts: of the answers. counts: null while they are hidden. chosen: one's own, truth: the true one, places or null.
// isFree: one may answer. -> [button]
export function answerBars({ texts, counts, chosen, truth, isFree }) {
  const most = Math.max(1, ...(counts ?? []));
  return texts.map((text, at) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "btn answer", disabled: !isFree });
    button.dataset.answer = at;
    button.setAttribute("aria-pressed", String(chosen === at));
    if (truth === at) button.dataset.true = "";
    if (!counts) {
      button.textContent = text;
      return button;
    }
    const [bar, word, count, spoken] = ["i", "span", "b", "span"].map((tag) => document.createElement(tag));
    bar.style.inlineSize = `${(100 * counts[at]) / most}%`;
    word.textContent = text;
    count.textContent = counts[at];
    for (const shown of [word, count]) shown.setAttribute("aria-hidden", "true");
    spoken.className = "unseen";
    spoken.textContent = say("room.answer", { answer: text, count: counts[at] });
    button.append(bar, word, count, spoken);
    return button;
  });
}
