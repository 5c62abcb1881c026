// A room on the pages of a lab and on a lecture's deck: the presenter's page says what it shows, everybody else's
// follows, or looks around in a copy. Which of the three this tab does is in one line above the bar of time.
//
//   presenter's page ─► PATCH room ─► the room's socket ─► { go } elsewhere, or { moment, chosen } here

import { onLanguage, page, say, speak } from "../base/chrome.js";
import { fork } from "../base/commands.js";
import { setText } from "../base/dom.js";
import { bindKeys } from "../base/keys.js";
import { refusalOf } from "../base/reasons.js";
import { ask, change, remove, send } from "../base/requests.js";
import { openSocket } from "../feed/socket.js";
import { openLane } from "../lane/open_lane.js";
import { createPointer } from "../lesson/pointer.js";
import { isCalled, queryOf, stepsOf } from "./follow.js";
import { holdPage } from "./hold.js";
import { createPanel } from "./panel.js";
import { createPresent } from "./present.js";
import { NO_STORAGE, createSession, tabStorage } from "./session.js";
import { elementsOfThing, thingAt } from "./things.js";

const $ = (id) => document.getElementById(id);
const TICK_MS = 1000, SLEPT_MS = 20_000;
const PRESS = { next: ["next", "step"], back: ["back-frame", "step-back", "back"], pause: ["play"] };
const PRESENTER = "presenter", VISITOR = "visitor";

// notice, past, link: as createTransport has them; of a deck link is its slide. changed(): the room's question or task,
// what is known of its answers, or who one is. inner(): a page within this one that the remote's presses go to first,
// as its document; null where there is none.
export function createRoom({ notice, past, link, changed, inner = () => null }) {
  // A player on a slide is in the same tab, and in no room.
  const session = createSession(page.player ? NO_STORAGE : tabStorage(), location, history), strip = $("room-strip");
  const own = { fork: page.urls.fork, lab: page.urls.lab };
  let state = null, role = "", counts = null, socket = null, thing = null, isPointing = false, isOver = false;
  let isLost = false, isUnheard = false, applied = { moment: null, chosen: {} }, tally = null, answer = null;
  let progress = null, ownTask = null;

  const kept = () => session.read();
  const isPresenter = () => role === PRESENTER && state !== null;
  const isLooking = () => Boolean(kept()?.looking);
  const isFollowing = () => kept() !== null && state !== null && !isPresenter() && !isLooking() && !isOver;
  const address = () => location.pathname + queryOf(location.search);
  const url = () => `/api/rooms/${kept().code}/`;

  // -- what comes from the room ---------------------------------------------------------------------------------------

  function connect() {
    socket = openSocket(`/ws/rooms/${kept().code}/`, {
      onMessage(message) {
        if (message.type === "you") meet(message);
        else if (message.type === "counts") counts = message;
        else if (message.type === "tally") count(message);
        else if (message.type === "progress") progress = message;
        else if (message.type === "done") ownTask = { labs: [], ...ownOf(message), ...message, is_done: true };
        else take(message);
        draw();
        changed();
      },
      onState(status) {
        isLost = status !== "open";
        isOver ||= status === "over";
        if (status === "open") socket.say({ type: "at", is_looking: isLooking() });
        draw();
      },
    });
  }

  // A code that came by a link, and no seat yet: one is taken.
  async function meet(message) {
    const was = role;
    ({ role, answer, task: ownTask } = message);
    session.keep({ presents: role === PRESENTER });
    if (was === PRESENTER && role !== PRESENTER) notice(say("room.taken"), { near: $("room") });
    if (role !== VISITOR) return;
    try {
      await send(`${url()}seat/`, {});
      socket.drop();                                     // it comes back with the seat
    } catch (error) {
      notice(refusalOf(error), { near: strip });
    }
  }

  function count(message) {
    tally = message;
    socket.say({ type: "ack", seq: state?.seq ?? 0 });
  }

  function take(message) {
    if (state && message.seq <= state.seq) return socket.acknowledge(message.seq);
    const handedOver = state !== null && message.handovers !== state.handovers;
    state = message;
    socket.acknowledge(state.seq);
    isOver = state.is_over;
    if (handedOver) return socket.drop();
    if (kept().presses === undefined) session.keep({ presses: state.presses, recalls: state.recalls });
    if (isPresenter()) return press();
    if (isCalled(state, kept())) return goBack();
    if (isLooking()) return null;
    session.keep({ recalls: state.recalls });
    return follow();
  }

  function follow() {
    const steps = stepsOf(state, { address: address(), went: kept().went, ...applied });
    if (page.lab) [page.urls.fork, page.urls.lab] = [`${url()}copy/`, wayTo(own.lab)];
    page.follows = true;
    if (steps.go) {
      session.keep({ went: steps.go });
      return location.assign(steps.go);
    }
    session.keep({ went: null });
    if ("moment" in steps) {
      applied.moment = steps.moment;
      if (steps.moment) past.seek(steps.moment);
      else past.back();
    }
    if ("chosen" in steps) {
      applied.chosen = steps.chosen;
      link.show(steps.chosen);
    }
    if (state.thing !== thing) openLane(/^\[data-lane="([\w-]+)"\]/.exec(state.thing ?? "")?.[1] ?? null);
    ({ thing } = state);
    return point();
  }

  // The remote's presses press this page's own buttons, each once; none that leads out of the room.
  function press() {
    if (state.presses <= kept().presses) return;
    session.keep({ presses: state.presses });
    const own = inner()?.getElementById(PRESS[state.press][0]), isVisible = (button) => button?.offsetParent;
    const button = isVisible(own) && !own.disabled ? own : PRESS[state.press].map($).find(isVisible);
    if (!button?.hasAttribute("data-leaves")) button?.click();
  }

  // -- looking around -------------------------------------------------------------------------------------------------

  const wayTo = (pattern) => `${pattern}${pattern.includes("?") ? "&" : "?"}room=${kept().code}&look=1`;

  async function lookAround() {
    if (!page.lab) return turnAlone();
    try {
      const { id } = await fork(page, past.isShown() ? past.moment() : {});
      location.assign(wayTo(address().replace(page.lab, id)));
    } catch (error) {
      notice(refusalOf(error), { near: $("room-look") });
    }
  }

  // A deck has no lab to copy.
  function turnAlone() {
    session.keep({ looking: true, recalls: state.recalls });
    page.follows = false;
    socket.say({ type: "at", is_looking: true });
    draw();
    changed();
  }

  async function doTask() {
    const { id } = await send(`${url()}task/copy/`, { number: state.task.number });
    location.assign(wayTo(address().replace(page.lab, id)));
  }

  function goBack() {
    session.keep({ looking: false, recalls: state?.recalls ?? 0, went: null });
    location.assign(state?.path ?? `/rooms/${kept().code}/`);
  }

  // -- what the presenter points at -----------------------------------------------------------------------------------

  const point = createPointer(() => {
    if (!thing) return null;
    return { key: thing, elements: elementsOfThing($("main"), thing), text: say("room.here") };
  });

  function startPointing() {
    isPointing = thing === null;
    thing = null;
    if (isPointing) notice(say("room.pointing"), { near: $("room"), kind: "done" });
    point();
    draw();
  }

  document.addEventListener("click", (event) => {
    if (!isPointing || !event.target.closest("#main")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    [isPointing, thing] = [false, thingAt(event.target)];
    point();
    draw();
  }, true);

  // -- the presenter --------------------------------------------------------------------------------------------------

  const place = () => ({ ...(page.shows ?? { page: page.item }), query: queryOf(location.search) });
  // Null on the way to a moment: who follows would see the present between.
  const shown = () => (past.isComing() ? null : {
    ...place(), moment: past.isShown() ? past.place() : null, chosen: link.read(), thing,
  });
  const panel = createPanel({
    room: () => state,
    shown: place,
    opened(answer) {
      if (!kept()) {
        session.keep({ code: answer.code, looking: false });
        connect();
      }
      role = PRESENTER;
      session.keep({ presents: true });
      if (!state || answer.seq > state.seq) state = answer;
      if (kept().presses === undefined) session.keep({ presses: answer.presses, recalls: answer.recalls });
      draw();
    },
    ended: () => { isOver = true; draw(); changed(); },
    point: startPointing,
  });
  createPresent({
    look: shown, where: () => ({ url: url(), lab: page.lab }), isMine: () => Boolean(kept()?.presents) && !isOver,
    failed(error) {
      if (error.status !== 403) return;
      session.keep({ presents: false });
      socket.drop();
    },
    heard(isHeard) {
      if (isUnheard !== isHeard) return;
      isUnheard = !isHeard;
      draw();
    },
  });

  // -- the line above the bar of time ---------------------------------------------------------------------------------

  function words() {
    if (isOver) return ["room.over", {}];
    if ((isLost || isUnheard) && state !== null) return ["room.lost", {}];
    if (isPresenter()) return ["room.presenting", { code: state.code }];
    if (isLooking()) return [page.lab ? "room.looking" : "room.turning", {}];
    return ["room.follows", {}];
  }

  // Where a presenter's step that is shown live came from; null elsewhere.
  const slides = () => (isPresenter() && page.lab ? kept()?.slides : null) ?? null;

  function draw() {
    strip.hidden = kept() === null || (state === null && !isOver);
    if (strip.hidden) return;
    const [code, params] = words();
    if ($("room-word").textContent !== say(code, params)) speak($("room-word"), code, "say", params);
    strip.dataset.role = isOver ? "over" : isPresenter() ? PRESENTER : isLooking() ? "looking" : "following";
    setText($("room-counts"), isPresenter() && counts ? say("room.counts", counts) : "");
    $("room-look").hidden = !isFollowing();
    $("room-look").disabled = Boolean(state?.locked);
    $("room-look").title = state?.locked ? say("room.locked") : "";
    $("room-slides").hidden = slides() === null;
    $("room-slides").href = slides() ?? "";
    $("room-back").hidden = isOver || !isLooking();
    $("room-leave").hidden = !isOver;
    speak($("room-point"), thing || isPointing ? "room.point_stop" : "room.point");
    panel.draw();
  }

  holdPage({
    isHeld: isFollowing,
    offer: (near) => notice(say(state.locked ? "room.locked" : page.lab ? "room.held" : "room.held_deck"), {
      near, kind: "offer",
      ...(state.locked ? {} : { label: say("room.look"), onAction: lookAround }),
    }),
  });
  $("room").addEventListener("click", panel.open);
  $("room-look").addEventListener("click", lookAround);
  $("room-back").addEventListener("click", goBack);
  $("room-leave").addEventListener("click", () => {
    session.leave();
    Object.assign(page.urls, own);
    page.follows = false;
    [state, thing] = [null, null];
    point();
    isOver = false;
    draw();
    changed();
  });
  bindKeys([{ keys: ["o"], says: "room.keys", act: () => !isFollowing() && !isLooking() && (panel.open(), true) }]);
  onLanguage(draw);

  // From a step that is shown live one comes back to its slide.
  addEventListener("pagehide", () => {
    if (page.shows && kept()) session.keep({ slides: location.pathname + location.hash });
  });

  // A machine that slept opens its eyes where the room is now; its sockets may not know yet that they are dead.
  let tickedAt = Date.now();
  setInterval(() => {
    const slept = Date.now() - tickedAt > SLEPT_MS;
    tickedAt = Date.now();
    if (slept && kept() !== null && !document.hidden && !isOver) location.reload();
  }, TICK_MS);

  page.follows = kept() !== null && !kept().looking && !kept().presents;
  if (kept()) connect();

  const ownOf = ({ number }) => (ownTask?.number === number ? ownTask : { number, labs: [], is_done: false });
  const ofNow = (message) => (message && message.number === state?.asked?.number ? message : null);
  return {
    isPresenter: () => isPresenter() && !isOver, isLooking, slides,
    // What the room is asked, null where it is not; how it has answered; one's own answer.
    asked: () => (isOver || kept() === null ? null : state?.asked ?? null),
    tally: () => ofNow(tally), answer: () => ofNow(answer),
    ask: (body) => send(`${url()}question/`, body),
    set: (changes) => change(`${url()}question/`, { number: state.asked.number, ...changes }),
    putAway: () => remove(`${url()}question/`),
    // The room's task, null where there is none; what of it is one's own; how it goes, for the presenter.
    task: () => (isOver || kept() === null ? null : state?.task ?? null),
    ownTask: () => ownOf(state.task), progress: () => (progress?.number === state?.task?.number ? progress : null),
    offers: () => ask(`${url()}task/`), setTask: (body) => send(`${url()}task/`, body), doTask,
    endTask: ({ recall }) => remove(`${url()}task/${recall ? "?recall=1" : ""}`),
    give: async (given) => {
      answer = await send(`${url()}answer/`, { number: state.asked.number, ...given });
      changed();
    },
  };
}
