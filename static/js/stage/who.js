// "Who has key X, now and after the next change?", in each lane at once: a key typed in one lane is asked about in all.
// The answer is of a copy of the lab (frame/trial.js), which is given the change.

import { onLanguage, say } from "../base/chrome.js";
import { fillSelect, setText } from "../base/dom.js";
import { changeId, changeWords, changesOf, whoWords } from "../frame/asked.js";
import { createTrial, isOvertaken, reasonOf } from "../frame/trial.js";

const WAIT_MS = 300, UNCHANGED = "";

// lanes: [{ id, root }]. current(): the view. follow(key): shows the way of its newest record.
export function createWho(lanes, { current, past, follow }) {
  const trial = createTrial("who", past), forms = lanes.map(({ id, root }) => {
    const form = root.querySelector("[data-who]");
    return { id, form, told: form.querySelector("[data-told]"), more: form.querySelector("[data-follow]") };
  });
  let timer = 0, answer = null, error = "";

  function changed({ currentTarget: { elements } }) {
    const [key, when] = [elements.key.value, elements.when.value];
    for (const { form } of forms) [form.key.value, form.when.value] = [key, when];
    clearTimeout(timer);
    [answer, error] = [null, ""];
    tell();
    if (key) timer = setTimeout(put, WAIT_MS, key, when);
  }

  async function put(key, when) {
    const change = changesOf(current()).find((each) => changeId(each) === when);
    const { kind = null, consumer = null } = change ?? {};
    try {
      answer = await trial({ key, kind, consumer, count: kind === "join" ? 1 : null });
      error = "";
    } catch (failure) {
      if (isOvertaken(failure)) return;
      error = reasonOf(failure) || say("notice.failed", { status: failure.status ?? 0 });
    }
    if (forms[0].form.key.value === key) tell();
  }

  function tell() {
    for (const { id, told, more } of forms) {
      setText(told, answer ? whoWords(answer.lanes[id], say) : error);
      more.hidden = answer === null;
    }
  }

  // What can be chosen: who is there now.
  function write() {
    const options = [
      [UNCHANGED, say("who.unchanged")],
      ...changesOf(current()).map((change) => [changeId(change), changeWords(change, say)]),
    ];
    for (const { form } of forms) {
      if (form.closest("[data-rest]").open) fillSelect(form.when, options, form.when.value);
    }
  }

  for (const { form, more } of forms) {
    form.addEventListener("input", changed);
    more.addEventListener("click", () => follow(form.key.value));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.closest("[data-rest]").addEventListener("toggle", write);
  }
  onLanguage(tell);
  return { write };
}
