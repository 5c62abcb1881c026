// A look at the lab's past, for whoever has opened this page alone: what the page shows is of then, while the lab goes
// on. An order given there starts a branch (orders.js).
//
//   frames of the feed ─► hear ─┬─► the page, while nobody looks back
//                               └─► the end of the bar of time, while somebody does
//   seek, step ─► the newest wish ─► GET past ─► the page
//   play ─► GET past/frames, two seconds of pictures at a time, the next ones asked for early ─► the page

import { page } from "../base/chrome.js";
import { ask } from "../base/requests.js";
import { applyPatch } from "../feed/patch.js";
import { fromHash } from "./moment_link.js";

const EVERY_MS = 100, PICTURES = 20, SETTLED_US = 1_500_000;
const BUSY = 503, AGAIN_MS = 1000, AGAIN_MAX = 5;

export function createPast() {
  const panels = new URL(page.urls.socket, location.href).searchParams.get("panels");
  const look = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join("");
  let now = null, shown = null, isLooking = false, isPlaying = false, run = 0;
  let wish = null, asked = null, isAsking = false;       // asked: what has no answer yet
  let playsThen = false;                                // from where the look that is on its way ends
  let looking = new AbortController(), stretching = new AbortController();   // of what is on its way: a look, pictures
  let speed = 1, atChanges = null;                      // the latter: while a lane is changing; null: the same
  let way = null;                                       // of a lesson: { at_us, speed, onEnd }, where it pauses
  let take = () => {}, changed = () => {}, fail = () => {}, opened = () => {};
  let heard = () => {};
  let link = fromHash(location.hash);                   // what a link to this page names, until it is looked for
  const from = page.player?.from_us ?? null;            // where a player begins; null: at the present
  if (from !== null && !link.moment) link = { moment: { at_us: from }, shown: {} };
  let chosen = null;                                    // what it says is chosen there, until that moment is shown

  const always = { look, ...(panels ? { panels } : {}) };
  const request = (url, given, signal = null) =>
    ask(`${url}?${new URLSearchParams({ ...given, ...always })}`, signal);

  // A frame of the feed is here. events: what it tells; isWhole: some of that may have been missed. -> whether the page
  // shows it.
  function hear(view, seq, events = [], isWhole = false) {
    now = { view, seq };
    heard(events, isWhole);
    if (isLooking) changed();
    const isShownNow = !isLooking;
    if (link.moment) openLink();
    return isShownNow;
  }

  // Once: who comes back to now has left the moment that the link names.
  function openLink() {
    const { moment } = link;
    chosen = link.shown;
    link = { moment: null, shown: {} };
    history.replaceState(null, "", location.pathname + location.search);
    seek(moment);
  }

  function choose() {
    if (chosen) opened(chosen);
    chosen = null;
  }

  // A link to another moment of the page that is open: only what follows # is another.
  addEventListener("hashchange", () => {
    link = fromHash(location.hash);
    if (link.moment && now) openLink();
  });

  const paceOf = ({ changing }) => way?.speed ?? ((changing && atChanges) || speed);

  function show(picture, events = []) {
    shown = picture;
    Object.assign(picture.view, {
      playing: isPlaying, speed: paceOf(picture.view), own_speed: speed, at_changes: atChanges,
      stop_us: way?.at_us ?? null,
    });
    choose();
    take(picture.view, now.seq, events);
    changed();
  }

  // moment: {at_us, position?, step?, by?}. A newer one overtakes those that have no answer yet.
  function seek(moment) {
    if (!isLooking) [speed, atChanges] = [now.view.own_speed, now.view.at_changes];
    [isLooking, isPlaying, playsThen, wish, way] = [true, false, false, moment, null];
    endRun();
    if (!isAsking) answerWishes();
  }

  async function answerWishes() {
    isAsking = true;
    let again = AGAIN_MAX;
    while (wish) {
      const mine = wish;
      [asked, wish] = [mine, null];
      try {
        looking = new AbortController();
        const picture = await request(page.urls.past, mine, looking.signal);
        asked = null;
        if (isLooking && !isPlaying) show(picture);
      } catch (error) {
        if (!isLooking || isPlaying || wish) continue;
        // A stretch that was asked for before came after it: only this page can have been newer.
        if (error.fields?.look) wish = mine;
        else if (error.status === BUSY && shown === null && again > 0) {   // or the page would begin somewhere else
          again -= 1;
          await new Promise((done) => setTimeout(done, AGAIN_MS));
          wish ??= isLooking ? mine : null;
        } else {
          asked = null;
          stopFor(error);
        }
      }
    }
    [isAsking, asked] = [false, null];
    if (playsThen && isLooking && shown) play();
  }

  function stopFor(error) {
    fail(error);
    choose();
    if (shown === null) back();
    else pause();
  }

  // by: so many records, turning points or changes further, or back.
  function step(unit, by) {
    if (!isLooking && by > 0) return;
    // What has no answer yet is where the page will be: a second press goes on from there.
    const before = wish ?? (isPlaying ? null : asked);
    if (before?.step === unit) seek({ ...before, by: before.by + by });
    else if (before && !before.step) seek({ ...before, step: unit, by });
    else seek({ ...momentShown(), step: unit, by });
  }

  // Where the clock runs, its last second and a half may not be stored yet.
  function momentShown() {
    if (shown) return { at_us: shown.at_us, position: shown.position };
    const { at_us: atUs, playing, speed: pace } = now.view;
    return { at_us: Math.max(0, playing ? Math.round(atUs - SETTLED_US * pace) : atUs) };
  }

  function back() {
    [isLooking, isPlaying, playsThen, wish, asked, shown, way] = [false, false, false, null, null, null, null];
    endRun();
    take(now.view, now.seq, []);
    changed();
  }

  // A player is at its end: once more from where it begins.
  async function again() {
    isLooking = true;
    try {
      show(await request(page.urls.past, { at_us: from ?? 0 }));
      play();
    } catch (error) {
      stopFor(error);
    }
  }

  function pause() {
    [isPlaying, way] = [false, null];
    endRun();
    show(shown);
  }

  // Nothing more of what is played comes. Its pictures on the way are called off: the next look would have them
  // refused, which a browser's console shows as an error.
  function endRun() {
    run += 1;
    stretching.abort();
  }

  // -> the pictures from there on; null at the present, and where the way ends.
  function stretch({ at_us: atUs }, pace) {
    const everyUs = Math.max(1, Math.round(EVERY_MS * 1000 * pace));
    const untilUs = Math.min(atUs + everyUs * PICTURES, now.view.at_us, way?.at_us ?? Infinity);
    if (untilUs < atUs + everyUs) return null;
    looking.abort();
    stretching.abort();
    stretching = new AbortController();
    return request(
      page.urls.past_frames, { at_us: atUs, until_us: untilUs, every_us: everyUs }, stretching.signal,
    );
  }

  async function play() {
    [isPlaying, playsThen, wish] = [true, false, null];
    endRun();
    const mine = run;
    show(shown);
    let pace = paceOf(shown.view), next = stretch(shown, pace), due = performance.now();
    const askFrom = (picture) => {
      next = stretch(picture, pace);
      next?.catch(() => {});   // it is waited for below, with its error
    };
    try {
      while (next) {
        const { frames: [{ view }, ...frames] } = await next;
        if (mine !== run) return;
        if (frames.length) askFrom(frames.at(-1));
        else next = null;
        for (const frame of frames) {
          due = Math.max(due + EVERY_MS, performance.now());
          await new Promise((done) => setTimeout(done, due - performance.now()));
          if (mine !== run) return;
          show({ ...frame, view: applyPatch(view, frame.patch) }, frame.events);
          if (paceOf(shown.view) === pace) continue;
          pace = paceOf(shown.view);   // a change begins, or is over: the pictures asked for are of another pace
          askFrom(shown);
          break;
        }
      }
      end();
    } catch (error) {
      if (mine === run) stopFor(error);
    }
  }

  // Nothing more is there to play: the way is at its end, or the past at the present.
  function end() {
    const ended = way;
    if (ended && ended.at_us < now.view.at_us) return seek({ at_us: ended.at_us });
    back();
    ended?.onEnd();
  }

  return {
    back, hear, look, seek, step,
    // take(view, seq, events): the page shows it. changed(): the bar has something new. fail(error): a look has failed.
    // heard(events, isWhole): of the feed, also while the past is shown.
    attach: (given) => ({ take = take, changed = changed, fail = fail, heard = heard } = given),
    isLooking: () => isLooking,
    isShown: () => shown !== null,
    // A moment is on its way, and none is shown yet.
    isComing: () => link.moment !== null || (isLooking && shown === null),
    // The moment that is shown, as a fork names it.
    moment: () => ({ until_us: shown.at_us, until_position: shown.position }),
    place: () => ({ at_us: shown.at_us, position: shown.position }),
    // show(texts by name): a link that names what else the page shows has been opened.
    onOpened(show) {
      opened = show;
    },
    now: () => now?.view ?? null,
    hash: () => shown?.state_hash ?? "",
    setSpeed(value, slow) {
      [speed, atChanges, way] = [value, slow, way && { ...way, speed: value }];
      if (isPlaying) play();
      else if (shown) show(shown);
    },
    // To a moment, at a speed of its own. onEnd(): the past was over before, or just there.
    playUntil(given) {
      way = given;
      if (shown) play();
    },
    toggle() {
      if (isPlaying) pause();
      else if (isAsking) playsThen = !playsThen;
      else if (shown) play();
      else if (!page.player || isLooking) return;
      else if (page.player.kind === "embed" && now.view.playing) seek(momentShown());
      else again();
    },
  };
}
