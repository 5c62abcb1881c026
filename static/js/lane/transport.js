// What the pages of one lane share of their lower bar and their keys: run and pause, one step, speed, tables in place
// of pictures.

import { speak } from "../base/chrome.js";
import { setAttribute, setText } from "../base/dom.js";
import { clock } from "../base/say.js";

const $ = (id) => document.getElementById(id);

// send(near, order): gives the worker an order. current(): the view. redraw(): tables have come, or gone.
// Returns what the keys do here; a page adds its own.
export function createTransport({ send, current, redraw }) {
  const play = () => send($("play"), { kind: current().playing ? "pause_lab" : "play", lane: "all" });
  const step = () => current().playing || send($("step"), { kind: "step", lane: "all" });
  function toggleTables() {
    const isOn = document.body.toggleAttribute("data-twins");
    $("twins").setAttribute("aria-pressed", String(isOn));
    for (const box of document.querySelectorAll(".twin-box")) box.tabIndex = isOn ? 0 : -1;
    redraw();
  }
  $("play").addEventListener("click", play);
  $("step").addEventListener("click", step);
  $("twins").addEventListener("click", toggleTables);
  document.querySelector(".sp").addEventListener("click", (event) => {
    const { speed } = event.target.closest("button")?.dataset ?? {};
    if (speed) send(event.target, { kind: "speed", lane: "all", args: { speed: Number(speed) } });
  });
  return { " ": play, ".": step, t: toggleTables };
}

// What the bar shows of the view.
export function drawTransport(view) {
  speak($("play"), view.playing ? "pause" : "play", "sayLabel");
  setAttribute($("play-icon"), "href", view.playing ? "#v-pause" : "#v-play");
  $("step").disabled = view.playing;
  for (const button of document.querySelectorAll("[data-speed]")) {
    setAttribute(button, "aria-pressed", String(Number(button.dataset.speed) === view.speed));
  }
  setText($("clock"), clock(view.at_us));
}

const isTyping = (event) => event.target.closest("input, textarea, select") !== null;

// act(event): whether the page has done something for this key. Space never presses the button that happens to have the
// focus.
export function onKeys(act) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event)) return;
    if (act(event)) event.preventDefault();
  });
  document.addEventListener("keyup", (event) => event.key === " " && !isTyping(event) && event.preventDefault());
}
