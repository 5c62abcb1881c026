// All events of the lab, searched by the server; a press on one shows its moment.

import { onLanguage, page, say } from "../base/chrome.js";
import { what } from "../base/events.js";
import { fillSelect, setText } from "../base/dom.js";
import { refusalOf } from "../base/reasons.js";
import { ask } from "../base/requests.js";
import { clock } from "../base/say.js";
import { laneName } from "../lane/name.js";

const TYPED_MS = 250;
const $ = (id) => document.getElementById(id);

// What is known of an event's moment: one before the clock began is shown at the beginning.
export const momentOf = ({ at_us: atUs }) => ({ at_us: Math.max(0, atUs) });

// counts: name -> how many. -> the options of a select, "all" before them; what is chosen stays, also with none.
export function optionsOf(counts, chosen, say) {
  const names = Object.keys({ ...counts, ...(chosen && { [chosen]: 0 }) }).sort();
  return [["", say("events.any")], ...names.map((name) => [
    name, say("events.counted", { name, count: counts[name] ?? 0 }),
  ])];
}

// current(): the view that the page shows. past: as of createPast.
export function createEventList({ current, past }) {
  const root = $("events"), form = $("events-form"), list = $("events-list");
  let found = [], next = null, counts = { kinds: {}, consumers: {} }, run = 0, timer = 0, newer = 0, pressed = null;
  let isDone = false;

  const given = () => Object.entries(Object.fromEntries(new FormData(form))).filter(([, value]) => value.trim());

  async function search(isMore = false) {
    clearTimeout(timer);
    run += 1;
    const mine = run;
    if (!isMore) {
      [next, newer, isDone] = [null, 0, false];
      setText($("events-told"), say("events.working"));
    }
    $("events-error").hidden = true;
    try {
      let part = isMore ? [] : null;
      do {
        const query = [...given(), ...(next === null ? [] : [["after", next]])];
        const answer = await ask(`${page.urls.event_search}?${new URLSearchParams(query)}`);
        if (mine !== run) return;
        if (part === null) [counts, found, part] = [{ kinds: {}, consumers: {} }, [], []];
        if (!isMore) add(answer);
        part.push(...answer.events);
        next = answer.next;
      } while (!part.length && next !== null);           // a long lab is looked through in several answers
      found.push(...part);
      isDone = true;
      write();
    } catch (error) {
      if (mine !== run) return;
      setText($("events-told"), "");
      setText($("events-error"), refusalOf(error));
      $("events-error").hidden = false;
    }
  }

  function add(answer) {
    for (const name of ["kinds", "consumers"]) {
      for (const [each, count] of Object.entries(answer[name])) {
        counts[name][each] = (counts[name][each] ?? 0) + count;
      }
    }
  }

  function writeForm() {
    const lanes = current().lane_order.map((id) => [id, laneName(id, current(), say)]);
    fillSelect(form.lane, [["", say("events.any")], ...lanes], form.lane.value);
    fillSelect(form.kind, optionsOf(counts.kinds, form.kind.value, say), form.kind.value);
    fillSelect(form.consumer, optionsOf(counts.consumers, form.consumer.value, say), form.consumer.value);
  }

  function write() {
    writeForm();
    list.replaceChildren(...found.map(row));
    $("events-more").hidden = next === null;
    if (isDone) setText($("events-told"), told());
    writeNewer();
    draw();
  }

  function told() {
    if (found.length) return say(next === null ? "events.found" : "events.found_more", { count: found.length });
    return say(Object.keys(counts.kinds).length ? "events.none" : "events.empty");
  }

  function row(event) {
    const item = document.createElement("li"), button = document.createElement("button");
    const part = (className, textContent) => Object.assign(document.createElement("span"), { className, textContent });
    button.type = "button";
    button.dataset.event = event.seq;
    button.append(
      part("n m", clock(event.at_us)), part("", what(event, say)),
      part("s m where", say("list.named", { name: laneName(event.lane, current(), say), what: event.kind })),
    );
    item.append(button);
    return item;
  }

  function writeNewer() {
    $("events-newer").hidden = newer === 0;
    setText($("events-newer"), newer ? say("events.newer", { count: newer }) : "");
  }

  // The one that was pressed is marked while its moment is shown.
  function draw() {
    if (root.hidden) return;
    const isThere = pressed !== null && past.isShown() && current().at_us === momentOf(pressed).at_us;
    for (const button of list.querySelectorAll("button")) {
      if (isThere && Number(button.dataset.event) === pressed.seq) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  function show(isOpen) {
    root.hidden = !isOpen;
    $("events-open").setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return $("events-open").focus();
    writeForm();
    form.text.focus();
    search();
  }

  list.addEventListener("click", ({ target }) => {
    const seq = target.closest("button")?.dataset.event;
    pressed = found.find((event) => String(event.seq) === seq) ?? pressed;
    if (seq) past.seek(momentOf(pressed));
  });
  form.addEventListener("input", ({ target }) => {
    clearTimeout(timer);
    timer = setTimeout(search, target === form.text ? TYPED_MS : 0);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await search();
    list.querySelector("button")?.click();
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(false);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
  });

  function move(event) {
    if (event.target.closest("select")) return;
    const buttons = [...list.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
    const to = at + (event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    (to < 0 ? form.text : buttons[Math.min(to, buttons.length - 1)])?.focus();
  }

  root.querySelector("[data-close]").addEventListener("click", () => show(false));
  $("events-open").addEventListener("click", () => show(root.hidden));
  $("events-more").addEventListener("click", () => search(true));
  $("events-newer").addEventListener("click", () => search());
  onLanguage(() => !root.hidden && (form.text.value ? search() : write()));

  return {
    draw,
    toggle: () => show(root.hidden),
    // Of the feed: what has come since the search.
    hear(events) {
      if (root.hidden || !events.length) return;
      newer += events.length;
      writeNewer();
    },
  };
}
