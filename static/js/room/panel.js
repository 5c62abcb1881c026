// The presenter's panel: the code and the address, as a QR too; who follows; calling back, locking, pointing; the links
// for a remote and for the next presenter; the end.

import { page, say, speak } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { refusalOf } from "../base/reasons.js";
import { change, remove, send } from "../base/requests.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

export function drawQr(svg, { url, qr: { size, path } }) {
  const squares = document.createElementNS(SVG, "path");
  squares.setAttribute("d", path);
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("aria-label", say("room.qr", { url: url.split("#")[0] }));
  svg.replaceChildren(squares);
}

// room(): {code, locked, ...} of the open room, null without one. opened(answer), ended(), point(): what the page does.
export function createPanel({ room, opened, ended, point, shown }) {
  const dialog = $("room-dialog"), api = () => `/api/rooms/${room().code}/`;

  async function act(ask) {
    $("room-error").hidden = true;
    try {
      return await ask();
    } catch (error) {
      setText($("room-error"), refusalOf(error));
      $("room-error").hidden = false;
      return null;
    }
  }

  async function open() {
    dialog.showModal();
    $("room-link").hidden = true;
    const answer = await act(() => send("/api/rooms/", { lab: page.lab, shown: shown() }));
    if (!answer) return;
    opened(answer);
    setText($("room-code"), answer.code);
    setText($("room-url"), answer.url);
    drawQr($("room-qr"), answer);
    $("room-open").hidden = false;
    draw();
  }

  function draw() {
    if (room()) speak($("room-lock"), room().locked ? "room.unlock" : "room.lock");
  }

  async function link(kind) {
    const answer = await act(() => send(`${api()}links/`, { for: kind }));
    if (!answer) return;
    speak($("room-link-about"), `room.${kind}_about`);
    setText($("room-link-url"), answer.url);
    drawQr($("room-link-qr"), answer);
    $("room-link").hidden = false;
    $("room-link").scrollIntoView({ block: "nearest" });
  }

  $("room-recall").addEventListener("click", async () => {
    if (await act(() => change(api(), { recall: true }))) speak($("room-done"), "room.recalled");
  });
  $("room-lock").addEventListener("click", () => act(() => change(api(), { locked: !room().locked })));
  $("room-remote").addEventListener("click", () => link("remote"));
  $("room-hand-over").addEventListener("click", () => link("hand_over"));
  $("room-point").addEventListener("click", () => {
    dialog.close();
    point();
  });
  $("room-end").addEventListener("click", async () => {
    if (!await act(() => remove(api()))) return;
    dialog.close();
    ended();
  });
  dialog.addEventListener("close", () => setText($("room-done"), ""));
  return { open, draw };
}
