// A task of the room, on all pages: what a copy of one's own is to come to, whether it has, and for the presenter
// how many have done it.
//
//   Set a task ─► the form ─► the room's state ─► a copy of one's own ─► its driver looks ─► done

import { createAct } from "../base/act.js";
import { onLanguage, page, say, speak } from "../base/chrome.js";
import { fillSelect, setText } from "../base/dom.js";
import { clearErrors, clearWhenChanged, showErrors } from "../base/field_errors.js";
import { refusalOf } from "../base/reasons.js";
import { laneName } from "../lane/name.js";
import { askedWords } from "../lesson/words.js";
import { createFold, standBeside } from "./card.js";
import { doneWords, taskWords } from "./task_words.js";

const $ = (id) => document.getElementById(id);
const COMPARISONS = ["is", "is_not", "at_least", "at_most", "more_than", "less_than", "same"], OWN = "own";

// room: as createRoom gives it. current(): the view. notice: as createTransport has it.
export function createRoomTask({ room, current, notice }) {
  const card = $("room-task"), dialog = $("task-dialog"), form = $("task-form");
  const fold = createFold($("task-fold"), $("task-body"), ["task.fold", "task.unfold"]);
  const act = createAct(notice);
  let offers = null, drawn = "", number = 0;

  // -- the card -------------------------------------------------------------------------------------------------------

  function draw() {
    const task = room.task();
    card.hidden = task === null;
    if (task === null) {
      drawn = "";
      return;
    }
    const told = { task, own: room.ownTask(), progress: room.progress(), lead: room.isPresenter() };
    const key = `${JSON.stringify(told)} ${page.language} ${page.lab}`;
    if (key === drawn) return;
    drawn = key;
    if (task.number !== number) {
      fold(false);
      standBeside(card, task.goal.lane);
    }
    ({ number } = task);
    setText($("task-said"), taskWords(task, current(), say));
    setText($("task-note"), task.note);
    $("task-note").hidden = task.note === "";
    if (told.lead) drawLead(told.progress);
    else drawOwn(told.own);
    $("task-lead").hidden = !told.lead;
  }

  function drawLead(progress) {
    card.toggleAttribute("data-done", false);
    setText($("task-state"), progress ? say("task.progress", progress) : "");
    const names = progress ? doneWords(progress, say) : "";
    setText($("task-names"), names && say("task.done_by", { names }));
    $("task-names").hidden = names === "";
    $("task-do").hidden = true;
  }

  function drawOwn({ labs, is_done: isDone }) {
    const isHere = labs.includes(page.lab), isBegun = labs.length > 0;
    card.toggleAttribute("data-done", isDone);
    setText($("task-state"), say(isDone ? "task.done" : isHere ? "task.at_it" : isBegun ? "task.begun" : "task.todo"));
    $("task-names").hidden = true;
    $("task-do").hidden = isHere;
    speak($("task-do"), isBegun ? "task.go_on" : "task.do");
  }

  $("task-do").addEventListener("click", ({ target }) => act(target, room.doTask));
  $("task-recall").addEventListener("click", ({ target }) => act(target, () => room.endTask({ recall: true })));
  $("task-end").addEventListener("click", ({ target }) => act(target, () => room.endTask({ recall: false })));

  // -- the form -------------------------------------------------------------------------------------------------------

  async function open() {
    clearErrors(form);
    $("task-error").hidden = true;
    offers = await room.offers();
    form.check.value = "";
    form.note.value = "";
    write();
    dialog.showModal();
  }

  const chosen = (select, names) => (names.includes(select.value) ? select.value : names[0]);

  function write() {
    const { checks, lanes } = offers, view = current();
    const own = checks.map((check, place) => [String(place), askedWords(check, say)]);
    fillSelect(form.check, [...own, [OWN, say("task.own")]], form.check.value || own[0]?.[0] || OWN);
    $("task-checks").hidden = own.length === 0;
    $("task-own").hidden = form.check.value !== OWN;
    const ids = view.lane_order.filter((id) => id in lanes), lane = chosen(form.lane, ids);
    fillSelect(form.lane, ids.map((id) => [id, laneName(id, view, say)]), lane);
    const names = Object.keys(lanes[lane]).filter((name) => lanes[lane][name].length);
    const consumer = chosen(form.consumer, names);
    fillSelect(form.consumer, names.map((name) => [name, name || say("task.whole_lane")]), consumer);
    const figures = lanes[lane][consumer], figure = chosen(form.figure, figures);
    fillSelect(form.figure, figures.map((name) => [name, say(`task.figure.${name}`)]), figure);
    const comparison = chosen(form.comparison, COMPARISONS);
    fillSelect(form.comparison, COMPARISONS.map((name) => [name, say(`task.compare.${name}`)]), comparison);
    $("task-value").hidden = comparison === "same";
  }

  // What is no number goes as it was typed: the server says what is wrong with it.
  const typed = (text) => {
    const value = Number(text.trim().replace(",", "."));
    return text.trim() === "" ? null : Number.isNaN(value) ? text.trim() : value;
  };

  function asked() {
    const note = form.note.value.trim();
    if (form.check.value !== OWN) return { check: Number(form.check.value), note };
    const isSame = form.comparison.value === "same";
    return {
      lane: form.lane.value, consumer: form.consumer.value, figure: form.figure.value, note,
      comparison: form.comparison.value, value: isSame ? null : typed(form.value.value), for_s: typed(form.for_s.value),
    };
  }

  form.addEventListener("change", write);
  clearWhenChanged(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form);
    $("task-error").hidden = true;
    try {
      await room.setTask(asked());
      dialog.close();
    } catch (error) {
      const homeless = error.fields ? showErrors(form, error.fields) : [refusalOf(error)];
      setText($("task-error"), homeless.join(" "));
      $("task-error").hidden = homeless.length === 0;
    }
  });
  $("room-task-open").addEventListener("click", async () => {
    try {
      await open();
      $("room-dialog").close();
    } catch (error) {
      setText($("room-error"), refusalOf(error));
      $("room-error").hidden = false;
    }
  });
  onLanguage(() => {
    draw();
    if (dialog.open) write();
  });
  return { draw };
}
