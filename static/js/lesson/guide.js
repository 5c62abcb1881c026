// Back and Next of a lesson: in the past they look, at its end they go on with the lab itself, by orders that are in
// its journal. A frame that another page shows opens that page.
//
//   Next ─┬─► the past as far as there is one ─► the lab: play_until the next stop, at that way's speed
//   Back ─┴─► a look at the moment where the frame before paused

import { page, say } from "../base/chrome.js";
import { setAttribute, setText } from "../base/dom.js";
import { momentHash } from "../lane/moment_link.js";
import { openLane } from "../lane/open_lane.js";
import { frameShown, isInFrames, isOnWay, placeOf, stopsOf, whereOf } from "./frames.js";
import { createPointer } from "./pointer.js";
import * as line from "./stops.js";
import { PAGES, elementsOf, laneOf } from "./things.js";

const $ = (id) => document.getElementById(id);
const SWIPE_LEAST = 60, SPEED_LEAST = 0.1, SPEED_MOST = 20;

// send(near, order), past: as createTransport has them. current(): the view. lane: of the page, null on the Stage.
// question: what a frame asks. slides(): address of those that a presenter came from, or null. null where the lab plays
// no lesson.
export function createGuide({ send, current, past, lane, question, slides }) {
  if (!$("frames") || !isInFrames(current())) return null;
  const next = $("next"), back = $("back-frame"), now = () => past.now() ?? current();
  // Of the course; null after the last, after one's own, and in a player.
  const after = page.player ? null : page.frame.next_lesson;
  // Where Next leads from the lesson's end, as a sentence's code, an address and what is there.
  const onward = () => {
    if (slides()) return ["room.slides", slides(), ""];
    if (after) return ["lesson.after", after.url, after.title[say("lesson.language")]];
    return ["lesson.all", $("to-learn")?.href, ""];
  };
  let laneShown = null;

  // stop: of stopsOf. Forward of what the page shows, through the past and then on.
  function goOn(stop) {
    if (leaves(stop, stop.at_us <= now().at_us)) return null;
    if (!past.isLooking()) return playTo(stop);
    return past.playUntil({ at_us: stop.at_us, speed: stop.speed, onEnd: () => isShort(stop) && playTo(stop) });
  }

  const isShort = (stop) => now().at_us < stop.at_us;

  // A second press on the way is in a hurry.
  function playTo({ at_us: untilUs, speed }) {
    const { stop_us: stopUs } = now(), isUnderWay = stopUs === untilUs;
    const args = { until_us: untilUs, speed: isUnderWay ? SPEED_MOST : speed };
    return send(next, { kind: "play_until", lane: "all", args });
  }

  function lookAt(stop) {
    if (!leaves(stop, true)) past.seek({ at_us: stop.at_us });
  }

  // -> whether the lab goes on; through the past nothing need be ordered.
  async function goNext() {
    const stop = placeOf(current()).next, isPast = past.isLooking();
    if (stop) return await goOn(stop) === true || isPast;
    if (isPast) past.back();
    return isPast;
  }

  const isOver = () => placeOf(current()).next === null && !past.isLooking();

  function nextCode({ next: stop }) {
    if (isOver()) return onward()[0];
    if (question.isOpen()) return "lesson.skip";
    return stop?.frame === null ? "lesson.to_end" : "lesson.next";
  }

  function goBack() {
    const stop = placeOf(current()).before;
    if (stop) lookAt(stop);
  }

  // number: of a frame, from 1.
  function goTo(number) {
    const stop = stopsOf(now().lesson)[number - 1];
    if (stop.at_us > now().at_us) goOn({ ...stop, speed: speedOver(stop.at_us - current().at_us) });
    else if (stop.at_us === now().at_us && past.isLooking() && !leaves(stop, false)) past.back();
    else lookAt(stop);
  }

  // Of a way over several frames at once; each of them has its own.
  const speedOver = (us) => Math.min(SPEED_MOST, Math.max(SPEED_LEAST, Math.round(us / 3000) / 1000));

  // Whether the stop is seen elsewhere than the frame before it; that page then opens, looking at that frame or at the
  // lab on its way there. Who has gone to another page of the lab stays on it until then.
  function leaves(stop, isPast) {
    if (page.player?.kind === "capsule") return false;  // it is one page
    const { lesson } = now(), { frame } = stopsOf(lesson)[Math.max(1, placeOf(current()).number) - 1];
    const from = whereOf({ frame }, lesson), to = whereOf(stop, lesson), link = $(`to-${to.page}`);
    const isSame = to.page === from.page && to.lane === from.lane;
    const isHere = link?.hasAttribute("aria-current") && (to.lane === null || lane === null || to.lane === lane);
    if (!link || isSame || isHere) return false;
    const address = new URL(link.href);
    if (to.page !== "stage" && to.lane !== null) address.searchParams.set("lane", to.lane);
    if (isPast) address.hash = momentHash(stop);
    const open = () => location.assign(address);
    if (isPast) open();
    else Promise.resolve(playTo(stop)).then((isSent) => isSent && open());
    return true;
  }

  function openLaneOf(view) {
    const frame = frameShown(view), key = frame && `${frame.at_us}`;
    if (lane !== null || key === laneShown) return;
    laneShown = key;
    openLane(frame && (frame.lane ?? (frame.point ? laneOf(frame.point) : null)));
  }

  const item = Object.keys(PAGES).find((name) => document.body.classList.contains(name));
  const showPointer = createPointer(() => {
    const frame = frameShown(current());
    if (!frame?.point) return null;
    const text = (frame.plate ?? frame.word)?.[say("lesson.language")] ?? "";
    return { key: frame.at_us, elements: elementsOf($("main"), item, frame.point), text };
  });

  function draw() {
    const view = current(), place = placeOf(view), total = view.lesson.captions.length;
    setText($("frame-place"), say("lesson.place", { number: Math.max(1, place.number), total }));
    setText(next, say(nextCode(place)));
    next.title = isOver() ? onward()[2] : "";
    next.toggleAttribute("data-leaves", isOver() && !slides());
    back.disabled = place.before === null;
    next.disabled = Boolean(page.player) && isOver();
    setAttribute($("story"), "data-way", String(isOnWay(view)));
    openLaneOf(view);
    question.draw(frameShown(view));
    showPointer();
  }

  // The arrow keys belong to what has the focus where that is a row of choices.
  const isFree = ({ target }) => !target.closest?.("[role=tablist], [role=slider], [role=grid], .seg, nav");
  const byArrow = (act) => (event) => (isFree(event) ? act() : false);
  // At its end the key is for what is around: a slide.
  const byKey = (button, act) => () => (button.disabled ? false : (act(), true));
  const onByKey = byKey(next, goNext), backByKey = byKey(back, goBack);
  const bindings = [
    { keys: ["pagedown"], says: "keys.frame_on", act: onByKey },
    { keys: ["pageup"], says: "keys.frame_back", act: backByKey },
    { keys: ["arrowright"], act: byArrow(onByKey) },
    { keys: ["arrowleft"], act: byArrow(backByKey) },
    ...question.bindings,
  ];
  onSwipe($("main"), (by) => (by < 0 ? goNext() : goBack()));
  next.addEventListener("click", () => (isOver() ? location.assign(onward()[1]) : goNext()));
  back.addEventListener("click", goBack);

  return { draw, goTo, goNext, line, bindings };
}

// act(by): px to the right, of a finger that moves across and hardly up or down, on nothing that scrolls so itself.
function onSwipe(root, act) {
  let from = null;
  const scrolls = (element) => {
    for (let each = element; each && each !== root; each = each.parentElement) {
      if (each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX !== "visible") return true;
    }
    return false;
  };
  root.addEventListener("touchstart", ({ touches, target }) => {
    from = touches.length === 1 && !scrolls(target) ? [touches[0].clientX, touches[0].clientY] : null;
  }, { passive: true });
  root.addEventListener("touchend", ({ changedTouches: [{ clientX, clientY }] }) => {
    if (!from) return;
    const [x, y] = from, by = clientX - x;
    from = null;
    if (Math.abs(by) >= SWIPE_LEAST && Math.abs(by) > 2 * Math.abs(clientY - y)) act(by);
  }, { passive: true });
}
