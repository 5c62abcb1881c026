// Real clients of a RabbitMQ lab: whether it is open to them, at which address, and a program to begin with. What a lab
// says of itself is in its view (`feed.clients`); the programs are those of docs/clients/, which the server has read.

import { page, say } from "../base/chrome.js";
import { copyLink } from "../base/copy_link.js";
import { setText } from "../base/dom.js";
import { labForClients } from "./clients_lab.js";
import { CLOSE, OPEN, addressOf, clientRows, clientsState } from "./clients_state.js";

const SWITCH = { new: "clients.new", [OPEN]: "clients.open", [CLOSE]: "clients.close" };

// orders: of the page (createOrders). current: -> {view, lane, panel: `rabbitmq` of the lane, where a page has verbs}.
export function createClients($, { orders, notice, current }) {
  const root = $("clients"), { clients } = page;
  if (!root || !clients || page.player) return () => {};
  let shown = {}, library = clients.programs[0], listed = "";

  const address = () => addressOf(clients, shown.port, location.hostname);
  const copy = (text, near) => copyLink(text, { near, notice, say, done: "clients.copied" });

  function write() {
    const { view, lane, panel } = current();
    shown = clientsState(view, lane, clients);
    writeList(panel);
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

  // Each connection with what can be done to it; a button keeps the focus where it stays.
  function writeList(panel) {
    const rows = panel ? clientRows(panel) : [], list = $("clients-list"), language = page.language;
    list.hidden = !rows.length;
    if (JSON.stringify([rows, language]) === listed) return;
    listed = JSON.stringify([rows, language]);
    const held = list.contains(document.activeElement) ? document.activeElement.dataset : null;
    list.replaceChildren(...rows.map(({ key, name, channels, unacked, held: waiting, verbs }) => {
      const [item, title, told] = ["li", "b", "span"].map((tag) => document.createElement(tag));
      Object.assign(title, { className: "n", textContent: name });
      const words = [say("clients.channels", { count: channels }), say("clients.unacked", { count: unacked })];
      if (waiting) words.push(say("clients.held", { count: waiting }));
      Object.assign(told, { className: "s m", textContent: words.join(say("list.comma")) });
      item.append(title, told, ...verbs.map(({ id, order }) => {
        const button = document.createElement("button"), about = say(`clients.verb_about.${id}`, { name });
        Object.assign(button, { type: "button", className: "btn", title: about });
        button.textContent = say(`clients.verb.${id}`);
        Object.assign(button.dataset, { client: key, does: id, order: JSON.stringify(order) });
        button.setAttribute("aria-label", [button.textContent, name].join(say("list.comma")));
        return button;
      }));
      return item;
    }));
    if (held) list.querySelector(`[data-client="${held.client}"][data-does="${held.does}"]`)?.focus();
  }

  function writeProgram() {
    for (const each of root.querySelectorAll("[data-library]")) {
      each.setAttribute("aria-pressed", String(each.dataset.library === library.name));
    }
    setText($("clients-text"), library.text);
    setText($("clients-save"), say("clients.save", { file: library.file }));
    setText($("clients-run"), library.run.replace(clients.address, address()));
  }

  async function begin(near) {
    near.setAttribute("aria-busy", "true");
    try {
      await labForClients(clients);
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
  $("clients-list").addEventListener("click", ({ target }) => {
    const near = target.closest("[data-order]");
    if (near) orders.command(near, { lane: current().lane, ...JSON.parse(near.dataset.order) });
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
