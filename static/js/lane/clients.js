// Real clients of a RabbitMQ lab: whether it is open to them, at which address, and a program to begin with. What a lab
// says of itself is in its view (`feed.clients`); the programs are those of docs/clients/, which the server has read.

import { page, say } from "../base/chrome.js";
import { submit } from "../base/commands.js";
import { copyLink } from "../base/copy_link.js";
import { setText } from "../base/dom.js";
import { send as post } from "../base/requests.js";
import { CLOSE, OPEN, addressOf, clientsState } from "./clients_state.js";

const SWITCH = { new: "clients.new", [OPEN]: "clients.open", [CLOSE]: "clients.close" };

// orders: of the page (createOrders). current: -> {view, lane}.
export function createClients($, { orders, notice, current }) {
  const root = $("clients"), { clients } = page;
  if (!root || !clients || page.player) return () => {};
  let shown = {}, library = clients.programs[0];

  const address = () => addressOf(clients, shown.port, location.hostname);
  const copy = (text, near) => copyLink(text, { near, notice, say, done: "clients.copied" });

  function write() {
    const { view, lane } = current();
    shown = clientsState(view, lane, clients);
    setText($("clients-state"), say(shown.code, shown.params));
    const button = $("clients-switch");
    button.hidden = shown.act === null;
    button.dataset.act = shown.act ?? "";
    if (shown.act) setText(button, say(SWITCH[shown.act]));
    button.classList.toggle("strong", shown.act === OPEN || shown.act === "new");
    $("clients-open").hidden = !shown.port;
    if (!shown.port) return;
    setText($("clients-address"), address());
    $("clients-bounds").hidden = !shown.bounds.length;
    setText($("clients-bounds"), shown.bounds.map(([code, params]) => say(code, params)).join(" "));
    writeProgram();
  }

  function writeProgram() {
    for (const each of root.querySelectorAll("[data-library]")) {
      each.setAttribute("aria-pressed", String(each.dataset.library === library.name));
    }
    setText($("clients-text"), library.text);
    setText($("clients-save"), say("clients.save", { file: library.file }));
    setText($("clients-run"), library.run.replace(clients.address, address()));
  }

  // A lab of its own, open from its beginning: whoever comes to its page finds the address there.
  async function begin(near) {
    near.setAttribute("aria-busy", "true");
    try {
      const { id } = await post(clients.labs, clients.request);
      const urls = { commands: page.urls.commands.replace(page.lab, id) };
      await submit({ ...page, urls }, { kind: OPEN, lane: "all" });
      location.assign(clients.page.replace("LAB", id));
    } catch (error) {
      orders.fail(error, near);
    } finally {
      near.removeAttribute("aria-busy");
    }
  }

  $("clients-switch").addEventListener("click", ({ currentTarget: near }) => {
    if (shown.act === "new") begin(near);
    else orders.command(near, { kind: shown.act, lane: current().lane });
  });
  $("clients-copy").addEventListener("click", ({ currentTarget: near }) => copy(address(), near));
  $("clients-copy-program").addEventListener("click", ({ currentTarget: near }) => copy(library.text, near));
  root.addEventListener("click", ({ target }) => {
    const name = target.closest("[data-library]")?.dataset.library;
    if (name === undefined) return;
    library = clients.programs.find((each) => each.name === name);
    writeProgram();
  });
  return write;
}
