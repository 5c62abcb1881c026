// The code pane of a user's own assignor: its text, what is wrong with it at its line, and what came of it in the
// group.

import { Refusal } from "../base/commands.js";
import { sentences } from "../base/say.js";
import { faultsOf } from "./words.js";

const EXAMPLE = `COOPERATIVE = False
def assign(members, partitions):
    # members: id -> {"topics", "owned", "generation", "instance_id", "rack"}; partitions: topic -> count
    names = sorted(members)
    given = {name: [] for name in names}
    for topic in partitions:
        for number in range(partitions[topic]):
            given[names[number % len(names)]].append((topic, number))
    return given
`;

// deploy(source, near): sends it, fails with a Refusal. laneNow(): the lane's view. isOff: this server cannot run any.
export function createOwnAssignor({ source, run, back, words }, { deploy, onRefused, say, laneNow, isOff }) {
  let refused = "";
  source.value ||= EXAMPLE;
  source.readOnly = run.disabled = isOff;
  run.addEventListener("click", () => send(source.value, run));
  back.addEventListener("click", () => send(null, back));
  source.addEventListener("input", () => refuse(""));

  async function send(text, near) {
    refuse("");
    near.setAttribute("aria-busy", "true");
    try {
      await deploy(text, near);
    } catch (error) {
      if (error instanceof Refusal && error.fields["args.source"]) refuse(error.fields["args.source"].join(" "));
      else onRefused(error, near);
    } finally {
      near.removeAttribute("aria-busy");
    }
  }

  function refuse(text) {
    refused = text;
    source.toggleAttribute("aria-invalid", Boolean(text));
    draw();
  }

  function draw() {
    const said = refused || (isOff ? say("groups.own.off") : ownWords(laneNow(), say));
    if (words.textContent !== said) words.textContent = said;
    words.classList.toggle("bad", Boolean(refused) || faultsOf(laneNow().group, say).length > 0);
    back.hidden = !laneNow().group.is_own;
  }

  return { draw };
}

export function ownWords({ group }, say) {
  const failed = faultsOf(group, say);
  return failed.length ? sentences(failed) : say(group.is_own ? "groups.own.runs" : "groups.own.none");
}
