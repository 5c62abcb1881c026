// The editor of sticky ranges: who, which ranges, what the server says of them while one types, and the order to take them.

import { speak } from "../chrome.js";
import { createVerbs } from "../cluster/verbs.js";
import { draw } from "../draw.js";
import { findings, layout, written } from "./editor.js";
import { createAsker } from "./what_if.js";

const KIND = "pulsar_ranges";

export function createEditor($, { url, lane, kinds, order, say, colorOf, fillSelect, fillList }) {
  const who = $("editor-who"), text = $("editor-ranges");
  let now = null, answer = null, askedFor = "", shownFor = null;
  const asker = createAsker({ url, inputs: [text], params: () => ({ rig: lane, consumer: who.value, ranges: text.value }), show });
  const verbs = createVerbs($("editor-verbs"), (verb, near) => answer && order(near, verb.order));
  who.addEventListener("change", () => {
    shownFor = null;
    write(now);
  });
  $("editor").addEventListener("submit", (event) => {
    event.preventDefault();
    asker.ask();
  });

  function show(found, problem) {
    answer = found;
    fillList($("findings"), found ? findings(found, say) : problem ? [[problem, true]] : []);
    drawBar();
  }

  function drawBar() {
    if (!answer || $("editor-panel").hidden) return;
    const width = Math.floor($("editor-bar").parentElement.clientWidth);
    $("editor-bar").style.setProperty("width", `${width}px`);
    $("editor-bar").setAttribute("aria-label", say("subscription.editor"));
    draw($("editor-bar"), layout(answer, now.pulsar.consumers, { who: who.value, width, colorOf: (name) => colorOf(name) ?? 8 }));
    verbs.write(orderOf());
  }

  // It subscribes again with these; where the registry has no such order, there is no button.
  function orderOf() {
    if (!answer || !(KIND in kinds) || !(who.value in now.consumers)) return [];
    return [{ id: KIND, text: say("subscription.take_ranges"), about: "", key: "", order: { kind: KIND, consumer: who.value, args: { ranges: answer.ranges } } }];
  }

  function write(rig) {
    now = rig;
    const isSticky = rig.algorithm.startsWith("sticky");
    $("editor-panel").hidden = !isSticky || !rig.order.length;
    if ($("editor-panel").hidden) return;
    const about = rig.algorithm === "sticky_document" ? "subscription.editor_half_open" : "subscription.editor_about";
    if ($("editor-about").dataset.say !== about) speak($("editor-about"), about);
    fillSelect(who, rig.order.map((name) => [name, name]), rig.order.includes(who.value) ? who.value : rig.order[0]);
    // What it asks for now, unless somebody has typed something else.
    const own = written(rig.pulsar.consumers[who.value]?.ranges ?? []);
    if (shownFor !== `${who.value} ${own}`) {
      const isTyped = shownFor?.startsWith(`${who.value} `) && text.value !== shownFor.slice(who.value.length + 1);
      shownFor = `${who.value} ${own}`;
      if (!isTyped) text.value = own;
      askedFor = "";
    }
    const key = JSON.stringify(rig.pulsar.selector) + who.value;
    if (key !== askedFor) {
      askedFor = key;
      asker.soon();
    }
    drawBar();
  }

  return { write };
}
