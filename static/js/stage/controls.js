// What a person does, turned into commands: buttons, keys, forms. A refusal is a message at the control; the view
// changes only by frames.

import { page, say } from "../base/chrome.js";
import { beginAnew } from "../base/commands.js";
import { bindKeys } from "../base/keys.js";
import { createNotice } from "../base/notice.js";
import { placePopovers } from "../base/place.js";
import { takeRemark } from "../base/remark.js";
import { createFrame } from "../frame/frame.js";
import { createClients } from "../lane/clients.js";
import { createOrders } from "../lane/orders.js";

const $ = (id) => document.getElementById(id);

// A lab that broke down moves no more; the page knew when it opened, or a frame has said so since.
export const isStopped = (view) => Boolean(page.stopped || view.feed?.failed);

export function createControls({ view, laneOf, redraw, past, link, thingAt }) {
  const notice = createNotice($("notice")), remark = takeRemark(page.lab);
  if (remark) notice(remark, { near: $("share"), kind: "done" });
  if (page.refused) {
    notice(say("notice.no_copy", { reason: page.refused }), {
      label: say("notice.make_copy"), onAction: () => copyTo({}, null),
    });
  }

  const orders = createOrders({ isStopped: () => isStopped(view()), notice, past });
  const { command, copyTo, moveTo } = orders;
  const writeClients = createClients($, {
    orders, notice, current: () => ({ view: view(), lane: view().lane_order[0] }),      // a lab for them has no other
  });

  const add = (count, near) => command(near, { kind: "join", args: { count } });
  const frame = createFrame({ send: command, current: view, redraw, notice, past, link, thingAt });

  $("add").addEventListener("click", (event) => add(1, event.currentTarget));
  $("add-ten").addEventListener("click", (event) =>
    add(Number(event.currentTarget.dataset.count), event.currentTarget),
  );
  $("stopped-copy").addEventListener("click", (event) => moveTo(beginAnew(page), event.currentTarget));

  // Where nothing hovers, a tap on a row shows its verbs.
  document.addEventListener("click", ({ target }) => {
    const row = target.closest(".row");
    for (const open of document.querySelectorAll(".row[data-open]")) {
      if (open !== row) open.removeAttribute("data-open");
    }
    row?.setAttribute("data-open", "");
    for (const rest of document.querySelectorAll("[data-rest][open]")) if (!rest.contains(target)) rest.open = false;
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { verb, algorithm, key } = button.dataset, lane = button.closest("[data-lane]")?.dataset.lane;
    if (verb) {
      command(button, { kind: verb, lane: laneOf(lane), consumer: button.closest("[data-consumer]").dataset.consumer });
    } else if (button.dataset.add) command(button, { kind: "join", lane: button.dataset.add, args: { count: 1 } });
    else if (algorithm) changeRule(button, algorithm);
    else if (key) copyTo({ workload: { key } }, button);
  });

  placePopovers();

  function changeRule(button, algorithm) {
    const lane = button.closest("[data-lane]"), id = lane.dataset.lane;
    lane.querySelector("[popover]")?.hidePopover();
    if (view().lanes[id].algorithm !== algorithm) {
      command(lane.querySelector(".seg"), { kind: "set_algorithm", lane: id, args: { algorithm } });
    }
  }

  bindKeys([
    ...($("add").hidden ? [] : [{ keys: ["a"], says: "add", act: () => add(1, $("add")) }]),
    { keys: ["s"], says: "keys.step", act: frame.step },
    { keys: ["escape"], act: closeRests },
  ]);

  function closeRests() {
    const open = [...document.querySelectorAll("[data-rest][open]")];
    for (const rest of open) rest.open = false;
    return open.length > 0;
  }

  return { notice, frame, writeClients };
}
