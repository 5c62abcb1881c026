// The editor of sticky ranges: who, one of the consumers or a newcomer, which ranges, what the server says of them
// while one types, and the order to take them or to join with them.

import { speak } from "../base/chrome.js";
import { fillList, fillSelect } from "../base/dom.js";
import { draw } from "../drawing/shapes.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { findings, layout, written } from "./editor.js";
import { isSticky, joinOf } from "./newcomer.js";
import { createAsker } from "./what_if.js";

const KIND = "pulsar_ranges", NEWCOMER = "";

// newcomer: its form, which says what it asks for beside its ranges.
export function createEditor($, { url, lane, kinds, order, say, colorOf, newcomer }) {
  const who = $("editor-who"), text = $("editor-ranges");
  let now = null, answer = null, askedFor = "", shownFor = null, picked = null, joinsBeside = null;
  const asker = createAsker({
    url, inputs: [text], params: () => ({ lane, consumer: who.value, ranges: text.value }), show,
  });
  const verbs = createVerbs($("editor-verbs"), async (verb, near) => {
    const beside = picked === NEWCOMER ? now.order : null;
    if (!answer || !(await order(near, verb.order)) || !beside) return;
    joinsBeside = beside;
    newcomer.forget();
  });
  function pick(name) {
    picked = name;
    shownFor = answer = null;
    write(now);
  }
  // until the server has judged what is typed now there is nothing to order
  text.addEventListener("input", () => {
    answer = null;
    verbs.write([]);
  });
  who.addEventListener("change", () => pick(who.value));
  $("editor").addEventListener("submit", (event) => {
    event.preventDefault();
    asker.ask();
  });

  // A newcomer whose ranges nobody has typed yet is not judged.
  function show(found, problem) {
    answer = found;
    const said = found ? findings(found, say) : problem ? [[problem, true]] : [];
    fillList($("findings"), isBlank() ? said.slice(0, 1) : said);
    drawBar();
  }

  const isBlank = () => who.value === NEWCOMER && text.value.trim() === "";

  function drawBar() {
    verbs.write(orderOf());                             // what cannot be read can be ordered by nobody
    if (!answer || $("editor-panel").hidden) return;
    const width = Math.floor($("editor-bar").parentElement.clientWidth);
    $("editor-bar").style.setProperty("width", `${width}px`);
    $("editor-bar").setAttribute("aria-label", say("subscription.editor"));
    draw(
      $("editor-bar"),
      layout(answer, now.pulsar.consumers, { who: who.value, width, colorOf: (name) => colorOf(name) ?? 8 }),
    );
  }

  // It subscribes again with these; where the registry has no such order, there is no button.
  function orderOf() {
    if (!answer || isBlank()) return [];
    if (who.value === NEWCOMER) {
      return [
        {
          id: "join-with", text: say("subscription.join_with_ranges"), about: "", key: "",
          order: joinOf({ ...newcomer.given(), ranges: answer.ranges }),
        },
      ];
    }
    if (!(KIND in kinds) || !(who.value in now.consumers)) return [];
    return [
      {
        id: KIND, text: say("subscription.take_ranges"), about: "", key: "",
        order: { kind: KIND, consumer: who.value, args: { ranges: answer.ranges } },
      },
    ];
  }

  function write(lane) {
    now = lane;
    $("editor-panel").hidden = !isSticky(lane);
    if ($("editor-panel").hidden) return;
    const about = lane.algorithm === "sticky_document" ? "subscription.editor_half_open" : "subscription.editor_about";
    if ($("editor-about").dataset.say !== about) speak($("editor-about"), about);
    // The consumer that has joined with its ranges owns them now.
    const joined = joinsBeside && lane.order.find((name) => !joinsBeside.includes(name));
    if (joined) [picked, joinsBeside] = [joined, null];
    const mine = picked === NEWCOMER || lane.order.includes(picked) ? picked : lane.order[0] ?? NEWCOMER;
    fillSelect(who, [...lane.order.map((name) => [name, name]), [NEWCOMER, say("subscription.a_newcomer")]], mine);
    if (joined) who.value = joined;
    // What it asks for now, unless somebody has typed something else.
    const own = written(lane.pulsar.consumers[who.value]?.ranges ?? []);
    if (shownFor !== `${who.value} ${own}`) {
      const isTyped = shownFor?.startsWith(`${who.value} `) && text.value !== shownFor.slice(who.value.length + 1);
      shownFor = `${who.value} ${own}`;
      if (!isTyped) text.value = own;
      askedFor = "";
    }
    const key = JSON.stringify(lane.pulsar.selector) + who.value;
    if (key !== askedFor) {
      askedFor = key;
      asker.soon();
    }
    drawBar();
  }

  // For the form of a newcomer: its ranges are typed here.
  function openFor(name) {
    // what has the focus is another control: the list of names follows
    pick(name);
    text.focus();
    text.scrollIntoView({ block: "center" });
  }

  return { openFor, write };
}
