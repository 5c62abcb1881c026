// A message's way: chosen by a dot, a line of the graph, from a list or by its number; asked of the server, told step
// by step, and lit in the graph, whole or one step of it.

import { ask } from "../base/requests.js";
import { fillSelect, setAttribute, setText } from "../base/dom.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";
import { clockMs } from "../base/say.js";
import { litOf, through } from "./path_graph.js";
import { askedFor, hopWords, messageName, methodWords, stepWords } from "./path_words.js";

const WAITS_MS = 150;
// The server answers from a view that it stores once a second, so a message may be here before it is there.
const AGAIN_MS = 400, TRIES = 4;

// context(): {lane, vhost}. typeOf(exchange). show(): the graph has to be drawn again.
export function createPath($, { url, context, typeOf, show, say }) {
  const form = $("path"), list = $("path-steps");
  let answer = null, place = null, mark = "", isKept = true, waits = 0, number = 0, known = {};
  const nameOf = (message) => messageName(Number(message), known[message]?.by_hand, say);
  clearWhenChanged(form);

  async function find(params, isOrdered = true, tries = TRIES) {
    const own = (number += 1), { lane, vhost } = context();
    clearTimeout(waits);
    try {
      const found = await ask(`${url}?${new URLSearchParams({ lane, vhost, ...params })}`);
      if (own === number) take(found, isOrdered);
    } catch (error) {
      if (own !== number) return;
      if (params.message in known && tries) {
        waits = setTimeout(() => find(params, isOrdered, tries - 1), AGAIN_MS);
        return;
      }
      if (!isOrdered) return;
      const [text] = Object.values(error.fields ?? {}).flat();
      clearErrors(form);
      if (!showErrors(form, { message: [text ?? say("topology.path.no_answer")] }, { isFocused: false }).length) return;
      setText($("path-about"), text ?? say("topology.path.no_answer"));
    }
  }

  function take(found, isOrdered) {
    if (isOrdered || found.message !== answer?.message) place = null;
    [answer, isKept] = [found, true];
    clearErrors(form);
    write();
    show();
  }

  function clear() {
    number += 1;
    [answer, place, mark] = [null, null, ""];
    $("path-number").value = "";
    clearErrors(form);
    write();
    show();
  }

  function write() {
    const steps = answer?.steps ?? [];
    const name = answer && messageName(answer.message, answer.by_hand, say);
    setText($("path-about"), !answer ? say("topology.path.about")
      : say(isKept ? "topology.path.of" : "topology.path.not_kept", { message: name }));
    $("path-clear").hidden = !answer;
    while (list.children.length > steps.length) list.lastElementChild.remove();
    steps.forEach((step, at) => writeStep(list.children[at] ?? made(at), step, at));
  }

  function made(at) {
    const item = list.appendChild(document.createElement("li")), button = document.createElement("button");
    button.type = "button";
    button.className = "step";
    button.append(document.createElement("span"), document.createElement("span"));
    button.children[0].className = "n m";
    button.addEventListener("click", () => {
      place = place === at ? null : at;
      write();
      show();
    });
    const why = document.createElement("ul");
    why.className = "s m";
    item.append(button, why);
    return item;
  }

  function writeStep(item, step, at) {
    const [button, why] = item.children;
    setText(button.children[0], clockMs(step.at_us));
    setText(button.children[1], stepWords(step, say));
    setAttribute(button, "aria-pressed", String(place === at));
    const rows = [...methodWords(step), ...hopWords(step, typeOf, say)];
    while (why.children.length > rows.length) why.lastElementChild.remove();
    rows.forEach((row, each) => setText(why.children[each] ?? why.appendChild(document.createElement("li")), row));
    why.hidden = !rows.length;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    find(askedFor($("path-number").value, say));
  });
  $("path-pick").addEventListener("change", () => {
    if (!$("path-pick").value) return;
    $("path-number").value = nameOf($("path-pick").value);
    find({ message: $("path-pick").value });
  });
  $("path-clear").addEventListener("click", clear);

  return {
    find, clear,
    isOpen: () => answer !== null,
    lit: () => litOf(answer?.steps, context().vhost, place),
    redraw: write,
    // A new frame: what there is to choose, and whether the chosen message went on.
    follow(paths, chosen) {
      known = paths.of;
      const some = through(paths, chosen).map(([message, last]) => [
        String(message), say("topology.path.option", {
          message: nameOf(message), step: stepWords(last, say),
        }),
      ]);
      const current = String(answer?.message ?? "");
      if (document.activeElement !== $("path-pick")) {
        const first = ["", say(some.length ? "topology.path.choose" : "topology.path.none")];
        fillSelect($("path-pick"), [first, ...some], some.some(([each]) => each === current) ? current : "");
      }
      const steps = paths.of[current]?.steps, now = steps ? JSON.stringify([steps.length, steps.at(-1)]) : "";
      if (answer && isKept !== Boolean(steps)) {
        isKept = Boolean(steps);
        write();
      }
      if (now && now !== mark) {
        clearTimeout(waits);
        if (mark) waits = setTimeout(() => find({ message: current }, false), WAITS_MS);
      }
      mark = now;
    },
  };
}
