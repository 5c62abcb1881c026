// The code pane of a user's own rule: its text, what is wrong with it, before it runs and when it fails, and the way
// back to the lane's.

import { Refusal } from "./commands.js";
import { setText } from "./dom.js";
import { whileBusy } from "./pressed.js";

// The elements: source, run, back, words. example: what an empty pane begins with. deploy(source, near): sends it, null
// for the lane's rule again; fails with a Refusal. state(): {text, isWrong, isOwn} of the rule that holds now.
// offWords(): in place of the text where this server runs no code, null elsewhere.
export function createCodePane({ source, run, back, words }, { example, deploy, onRefused, state, offWords = null }) {
  let refused = "";
  source.value ||= example;
  source.readOnly = run.disabled = offWords !== null;
  run.addEventListener("click", () => send(source.value, run));
  back.addEventListener("click", () => send(null, back));
  source.addEventListener("input", () => refuse(""));

  async function send(text, near) {
    refuse("");
    try {
      await whileBusy(near, () => deploy(text, near));
    } catch (error) {
      const faults = error instanceof Refusal ? error.fields["args.source"] : null;
      if (faults) refuse([faults].flat().join(" "));
      else onRefused(error, near);
    }
  }

  function refuse(text) {
    refused = text;
    source.toggleAttribute("aria-invalid", Boolean(text));
    write();
  }

  function write() {
    const { text, isWrong, isOwn } = state();
    setText(words, refused || (offWords ? offWords() : text));
    words.classList.toggle("bad", Boolean(refused) || isWrong);
    back.hidden = !isOwn;
  }

  return { write };
}
