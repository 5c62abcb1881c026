// What a person does, turned into commands: buttons, keys, forms. A refusal is a message at the control; the view
// changes only by frames.

import { page, say } from "../base/chrome.js";
import { beginAnew } from "../base/commands.js";
import { createNotice } from "../base/notice.js";
import { placePopovers } from "../base/place.js";
import { takeRemark } from "../base/remark.js";
import { createOrders } from "../lane/orders.js";
import { listenToKeys } from "./keys.js";
import { momentLink } from "./share.js";

const $ = (id) => document.getElementById(id);

// A lab that broke down moves no more; the page knew when it opened, or a frame has said so since.
export const isStopped = (view) => Boolean(page.stopped || view.feed?.failed);

export function createControls({ view, laneOf }) {
  const notice = createNotice($("notice")), remark = takeRemark(page.lab);
  if (remark) notice(remark, { near: $("share"), kind: "done" });
  if (page.refused) {
    notice(say("notice.no_copy", { reason: page.refused }), {
      label: say("notice.make_copy"), onAction: () => copyTo({}, null),
    });
  }

  const { command, copyTo, moveTo } = createOrders({ isStopped: () => isStopped(view()), notice });

  const add = (count, near) => command(near, { kind: "join", args: { count } });
  const play = (near) => command(near, { kind: view().playing ? "pause_lab" : "play" });
  const step = (near) => (view().playing ? undefined : command(near, { kind: "step" }));

  function toggleTables() {
    const isOn = document.body.toggleAttribute("data-twins");
    $("twins").setAttribute("aria-pressed", String(isOn));
    // what scrolls is reached by the keyboard
    for (const box of document.querySelectorAll(".twin-box")) box.tabIndex = isOn ? 0 : -1;
  }

  // On a phone, one button holds the rare controls.
  function toggleTools() {
    const isOpen = $("tools").closest("footer").toggleAttribute("data-open");
    $("tools").setAttribute("aria-expanded", String(isOpen));
  }

  async function share(near) {
    const link = momentLink(view(), new URL(page.urls.lab.replace("{id}", page.lab), location.href).href);
    try {
      await navigator.clipboard.writeText(link);
      notice(say("moment.copied"), { near, kind: "done" });
    } catch {
      // no clipboard without https, or not allowed
      notice(say("notice.copy_by_hand", { link }), { near, kind: "done" });
    }
  }

  $("add").addEventListener("click", (event) => add(1, event.currentTarget));
  $("add-ten").addEventListener("click", (event) =>
    add(Number(event.currentTarget.dataset.count), event.currentTarget),
  );
  $("play").addEventListener("click", (event) => play(event.currentTarget));
  $("step").addEventListener("click", (event) => step(event.currentTarget));
  $("twins").addEventListener("click", toggleTables);
  $("tools").addEventListener("click", toggleTools);
  $("stopped-copy").addEventListener("click", (event) => moveTo(beginAnew(page), event.currentTarget));
  $("share").addEventListener("click", (event) => share(event.currentTarget));

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { verb, algorithm, speed, key } = button.dataset, lane = button.closest("[data-lane]")?.dataset.lane;
    if (verb) {
      command(button, { kind: verb, lane: laneOf(lane), consumer: button.closest("[data-consumer]").dataset.consumer });
    } else if (button.dataset.add) command(button, { kind: "join", lane: button.dataset.add, args: { count: 1 } });
    else if (algorithm) changeRule(button, algorithm);
    else if (speed) command(button, { kind: "speed", args: { speed: Number(speed) } });
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

  listenToKeys(document, {
    play: () => play($("play")), add: () => add(1, $("add")), step: () => step($("step")), tables: toggleTables,
  });

  return { notice };
}
