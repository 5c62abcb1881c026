// The table of consumers: two lines each, its name and state with figures and, where it has nothing to do, why. Rows
// are kept from frame to frame, so that what has the focus keeps it; a row's name is the button that chooses it.

import { setTerm } from "../base/dom.js";
import { NONE, number, percent, sentences } from "../base/say.js";
import { chip } from "../drawing/chip.js";
import { paint } from "../drawing/paint.js";
import { idleWords, isWorth } from "./words.js";

const COLUMNS = ["consumer", "share", "permits", "unacked", "queue", "redelivered", "rate"];
const TERMS = [null, "share", "permits", "in_flight", "receiver_queue", "redelivered", "rate"];

// -> [{name, color, state, cells: [text], idle, isChosen}] of these consumers, all in the lane's order without them.
export function rows(lane, chosen, say, names = lane.order) {
  const hasOwners = "space" in lane.picture || lane.picture.kind === "grid";
  return names.map((name) => {
    const consumer = lane.consumers[name], known = lane.pulsar.consumers[name];
    // One that is caught up says so in its state: a line that comes and goes with every message would move the page.
    const isDone = known.idle?.code === "nothing_to_read" && consumer.state !== "slow";
    const state = stateOf(consumer, known, isDone, say);
    return {
      name, color: consumer.color,
      state: known.priority ? say("subscription.with_level", { state, priority: known.priority }) : state,
      idle: whyOf(known, isDone, name, say), isBad: isWorth(known.idle) || known.former > 0, isChosen: name === chosen,
      cells: [
        name, hasOwners ? percent(consumer.share, 1) : NONE, number(known.permits), number(known.unacked),
        number(known.queue), number(known.redelivered), consumer.rate.toFixed(1),
      ],
    };
  });
}

// A silent process first: what its client last said of itself is no news of it.
function stateOf({ state }, known, isDone, say) {
  if (state === "crashed") return say("state.crashed");
  if (known.refused_acks) return say("subscription.state.acks_refused");
  if (known.holds_acks && state !== "paused") return say("subscription.state.holding");
  if (isDone) return say("subscription.state.caught_up");
  if (known.refused) return say("subscription.state.refused");
  if (state !== "live" && state !== "waiting") return say(`state.${state}`);
  if (known.connected) return say("subscription.state.connected");
  return say(`subscription.state.${known.idle?.code === "unsubscribed" ? "unsubscribed" : "connecting"}`);
}

// Why it is idle; and what is still at its former connection.
function whyOf({ idle, former }, isDone, name, say) {
  const words = [
    isDone ? null : idleWords(idle, say, name), former ? say("subscription.former", { count: former }) : null,
  ].filter((text) => text !== null);
  return words.length ? sentences(words) : null;
}

export function createConsumers(table, onChoose) {
  const [head, body] = [table.tHead.insertRow(), table.tBodies[0]], kept = new Map();
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) onChoose(row.dataset.name);
  });
  return function write(list, say) {
    COLUMNS.forEach((code, place) => {
      const cell = head.cells[place] ?? head.appendChild(Object.assign(document.createElement("th"), { scope: "col" }));
      set(cell, say(`subscription.column.${code}`));
      setTerm(cell, TERMS[place]);
    });
    for (const [name, rowsOf] of kept) if (!list.some((row) => row.name === name)) {
      for (const row of rowsOf) row.remove();
      kept.delete(name);
    }
    let after = null;
    for (const row of list) {
      const [figures, why] = kept.get(row.name) ?? make(row.name);
      for (const line of [figures, why]) {
        const place = after ? after.nextSibling : body.firstChild;
        if (line !== place) body.insertBefore(line, place);
        after = line;
      }
      figures.toggleAttribute("data-chosen", row.isChosen);
      why.toggleAttribute("data-chosen", row.isChosen);
      const [button, chip] = [figures.querySelector("button"), figures.querySelector("rect")];
      button.setAttribute("aria-pressed", String(row.isChosen));
      if (chip.getAttribute("fill") !== paint(row.color)) chip.setAttribute("fill", paint(row.color));
      set(figures.cells[0].lastChild, row.state);
      row.cells.forEach((text, place) => set(place ? figures.cells[place] : button.lastChild, text));
      why.hidden = row.idle === null;
      why.classList.toggle("bad", row.isBad);
      set(why.cells[0].lastChild, row.idle ?? "");
    }
  };

  function make(name) {
    const [figures, why] = [document.createElement("tr"), document.createElement("tr")];
    const first = figures.insertCell(), button = first.appendChild(document.createElement("button"));
    Object.assign(button, { type: "button", className: "who n" });
    button.append(chip(), document.createElement("span"));
    first.append(Object.assign(document.createElement("span"), { className: "state s m" }));
    for (let place = 1; place < COLUMNS.length; place += 1) figures.insertCell().className = "n r";
    const cell = why.insertCell();
    cell.colSpan = COLUMNS.length;
    cell.append(document.createElement("span"));
    why.className = "why";
    for (const row of [figures, why]) row.dataset.name = name;
    kept.set(name, [figures, why]);
    return [figures, why];
  }
}

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
