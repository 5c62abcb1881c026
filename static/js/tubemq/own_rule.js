// The code pane of a user's own rule: its text, and what is wrong with it, before it runs and when it fails.

import { Refusal } from "../base/commands.js";
import { setText } from "../base/dom.js";
import { ownWords } from "./words.js";

const EXAMPLE = `def assign(members, partitions):
    # members: client -> {"topics", "owned", ...}. partitions: topic -> count. Each broker's part of the topic is
    # a topic here, "1:orders". Neither lag nor subscribable state is passed. Returns client -> [(topic, number)].
    names = sorted(members)
    given = {name: [] for name in names}
    for topic in partitions:
        for number in range(partitions[topic]):
            given[names[number % len(names)]].append((topic, number))
    return given
`;

// deploy(source, near): sends it, null for the lane's rule again; fails with a Refusal.
export function createOwnRule({ source, run, back, words }, { deploy, onRefused, say, ruleNow }) {
  let refused = "";
  source.value ||= EXAMPLE;
  run.addEventListener("click", () => send(source.value, run));
  back.addEventListener("click", () => send(null, back));
  source.addEventListener("input", () => refuse(""));

  async function send(text, near) {
    refuse("");
    near.setAttribute("aria-busy", "true");
    try {
      await deploy(text, near);
    } catch (error) {
      const faults = error instanceof Refusal ? error.fields["args.source"] : null;
      if (faults) refuse([faults].flat().join(" "));
      else onRefused(error, near);
    } finally {
      near.removeAttribute("aria-busy");
    }
  }

  function refuse(text) {
    refused = text;
    source.toggleAttribute("aria-invalid", Boolean(text));
    write();
  }

  function write() {
    const rule = ruleNow(), { own, failed } = rule;
    setText(words, refused || ownWords(rule, say));
    words.classList.toggle("bad", Boolean(refused || failed));
    back.hidden = own === null;
  }

  return { write };
}
