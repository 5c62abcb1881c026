// Where one joins a room, the presenter's remote, and where the next presenter takes over.

import { page, say } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { reasonOf } from "../base/reasons.js";
import { send } from "../base/requests.js";

const $ = (id) => document.getElementById(id);
const api = `/api/rooms/${page.code}/`;
const inRoom = (path) => `${path}${path.includes("?") ? "&" : "?"}room=${page.code}`;
const secret = location.hash.slice(1);                   // of a remote's or a hand-over's link

async function act(ask) {
  $("wrong").hidden = true;
  try {
    return await ask();
  } catch (error) {
    setText($("wrong"), reasonOf(error));
    $("wrong").hidden = false;
    return null;
  }
}

$("join")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const joined = await act(() => send(`${api}seat/`, { name: event.target.elements.name.value }));
  if (joined) location.assign(inRoom(joined.path));
});
$("take")?.addEventListener("click", async () => {
  const taken = await act(() => send(`${api}take/`, {}, secret));
  if (taken) location.replace(inRoom(taken.path));
});
for (const button of document.querySelectorAll("[data-press]")) {
  button.addEventListener("click", async () => {
    const pressed = await act(() => send(`${api}press/`, { press: button.dataset.press }, secret));
    setText($("pressed"), pressed ? say("join.pressed", { button: button.textContent }) : "");
  });
}
