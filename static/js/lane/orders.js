// Sends a person's orders: a refusal is a message at the control, somebody else's lab offers a copy of one's own, and
// in the past an order starts a branch: a copy of the lab from that moment on.

import { page, say } from "../base/chrome.js";
import { Refusal, fork, submit } from "../base/commands.js";
import { createCurl } from "../base/curl.js";
import { tellGone } from "../feed/gone.js";

// The visitor's own lab is shown at "/"; from the first order on the page is at the lab's own address.
function takeAddress() {
  if (location.pathname === "/") history.replaceState(null, "", page.urls.lab.replace("{id}", page.lab));
}

// isStopped(): the lab broke down and moves no more.
// past: what is looked at.
export function createOrders({ isStopped, notice, past }) {
  const ordered = createCurl(document.getElementById("as-curl"), notice);

  // -> true once it is stored.
  async function command(near, order) {
    near?.setAttribute("aria-busy", "true");
    try {
      refuseInPlayer();
      if (past.isShown()) return await branch(order);
      if (isStopped()) return document.getElementById("stopped-copy")?.focus();
      if (!page.owner) return offerCopy(near);
      await send(order, near);
      return true;
    } catch (error) {
      fail(error, near);
    } finally {
      near?.removeAttribute("aria-busy");
    }
  }

  // A player shows a run, and takes no orders.
  function refuseInPlayer() {
    if (page.player) throw new Refusal(409, { lab: [say("player.no_orders")] });
  }

  // For a form, which shows a refusal itself: fails with it. Somebody else's lab refuses with 403.
  async function send(order, near) {
    refuseInPlayer();
    if (past.isShown()) return branch(order);
    let isTold = false;
    notice.clearError();
    const told = (code, kind) => {
      isTold = true;
      notice(say(code), { near, kind });
    };
    const answer = await submit(page, order, {
      onPending: () => told("notice.pending", "done"), onRetry: () => told("notice.network", "error"),
    });
    if (isTold) notice(say("notice.arrived"), { near, kind: "done" });
    takeAddress();
    ordered(order);
    return answer;
  }

  // The order is the branch's first, and its clock runs from there. The page opens on it.
  async function branch(order) {
    const { id } = await fork(page, past.moment()), urls = { commands: page.urls.commands.replace(page.lab, id) };
    await submit({ ...page, urls }, order);
    await submit({ ...page, urls }, { kind: "play", lane: "all" });
    // The Stage of one's own lab is also at /; in a room the way to a copy says so.
    const isNamed = location.pathname.includes(page.lab) && !page.follows;
    location.assign(
      isNamed ? location.pathname.replace(page.lab, id) + location.search : page.urls.lab.replace("{id}", id),
    );
    return true;
  }

  function fail(error, near) {
    if (error instanceof Refusal && error.status === 403) offerCopy(near);
    else if (error instanceof Refusal && error.status === 404 && "lab" in error.fields) tellGone(notice);
    else if (error instanceof Refusal && error.message) {
      notice(say("notice.refused", { reason: error.message }), { near });
    } else if (error instanceof Refusal) notice(say("notice.failed", { status: error.status }), { near });
    else notice(say("notice.unreachable"), { near });
  }

  function offerCopy(near) {
    notice(say("notice.own_copy"), {
      near, kind: "offer", label: say("notice.make_copy"), onAction: () => copyTo({}, near),
    });
  }

  const copyTo = (changes, near) => moveTo(fork(page, changes), near);

  async function moveTo(opening, near) {
    try {
      const { id } = await opening;
      location.assign(page.urls.lab.replace("{id}", id));
    } catch (error) {
      fail(error, near);
    }
  }

  return { command, copyTo, fail, moveTo, send };
}
