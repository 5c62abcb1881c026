// The panel of who is served: the hash space as ring or line with its lens, the partitions of Failover with their
// standbys, or the round of Shared; and what the last change handed over.

import { page, say } from "../base/chrome.js";
import { fillList, setText } from "../base/dom.js";
import { number, percent } from "../base/say.js";
import { draw } from "../drawing/shapes.js";
import { fingerprint } from "../drawing/slices.js";
import * as lens from "./lens.js";
import * as ranges from "./ranges.js";
import * as ring from "./ring.js";
import * as round from "./round.js";
import { windowOf } from "./space.js";
import * as standbys from "./standbys.js";
import { handedWords, spaceTitle, spaceWords } from "./words.js";

const $ = (id) => document.getElementById(id);
const RING_MOST = 440, BESIDE_LEAST = 210, RING_BESIDE = 330, WIDE_LEAST = 240, LENS_STEP = 2, LENS_START = 24;
const HANDED_SHOWN = 6, HAND_MS = 1600;

// The width of a picture within its panel. Before the first layout a panel has none: then as much as a small phone
// shows.
const spaceWide = () => Math.max(WIDE_LEAST, Math.floor($("space-title").parentElement.clientWidth));

// current(): the lane. chosen(): a consumer's name or null. askedSlot(): of the key that is asked about, or null.
// redraw(): the lens has moved.
export function createSpacePanel({ current, chosen, askedSlot, colorOf, isStill, redraw }) {
  const main = $("main");
  let bandsAt = "", bands = [], handAt = null, at = null, span = null, size = 0;

  function write(now) {
    const { picture, pulsar } = now, isSpace = "space" in picture;
    setText($("space-title"), spaceTitle(pulsar, picture, say));
    setText($("space-words"), spaceWords(now, say));
    $("space").toggleAttribute("hidden", !isSpace);
    $("lens-box").hidden = $("handed-box").hidden = !isSpace;
    $("table-box").hidden = !pulsar.failover;
    $("round").toggleAttribute("hidden", isSpace || Boolean(pulsar.failover));
    main.querySelector(".space-pics").toggleAttribute("data-long", !isSpace && now.order.length > 16);
    if (isSpace) return drawHashes(now);
    bandsAt = "";
    const wide = spaceWide();
    if (pulsar.failover) {
      const svg = $("standbys"), width = Math.max(wide, standbys.wide(pulsar.failover, wide));
      svg.style.setProperty("width", `${width}px`);
      svg.setAttribute("height", standbys.tall(pulsar.failover));
      svg.setAttribute("aria-label", spaceWords(now, say));
      draw(svg, standbys.layout(pulsar, { width: wide, colorOf, chosen: chosen(), say }));
      return;
    }
    $("round").setAttribute("height", round.tall(picture));
    $("round").setAttribute("aria-label", spaceWords(now, say));
    $("round").style.setProperty("width", `${wide}px`);
    const context = { width: wide, colorOf, permitsMost: pulsar.queue_size, chosen: chosen(), say };
    draw($("round"), round.layout(picture, pulsar.consumers, context));
  }

  function drawHashes(now) {
    const { picture, pulsar } = now, isRing = picture.kind === "ring", wide = spaceWide();
    if (at === null || at >= picture.space) at = Math.floor(picture.space / 2);
    if (span === null || span > picture.space) span = picture.space / LENS_START;
    const window = windowOf(at, span, picture.space), svg = $("space"), slot = askedSlot();
    const isBeside = wide >= RING_BESIDE + BESIDE_LEAST;
    size = !isRing ? wide : Math.min(RING_MOST, isBeside ? wide - BESIDE_LEAST : wide);
    if (isRing) main.querySelector(".space-pics").dataset.ring = isBeside ? "beside" : "alone";
    else delete main.querySelector(".space-pics").dataset.ring;
    const cuts = [picture.now, picture.before].map(fingerprint);
    const key = [...cuts, picture.names, size, page.language, picture.kind].join("/");
    if (key !== bandsAt) {
      bands = isRing ? ring.bands(picture, colorOf, size) : ranges.bands(picture, colorOf, size, say);
      bandsAt = key;
    }
    const draining = Object.keys(pulsar.draining?.slots ?? {}).map(Number);
    const live = Object.values(pulsar.consumers).filter(({ connected }) => connected).length;
    const middle = [
      [number(live), "big b"], [say("picture.on_ring"), ""],
      [
        say("picture.unacked", {
          unacked: Object.values(pulsar.consumers).reduce((sum, { unacked, former }) => sum + unacked + former, 0),
        }),
        "m",
      ],
    ];
    svg.setAttribute("width", size);
    svg.setAttribute("height", isRing ? size : ranges.TALL);
    svg.setAttribute("aria-label", `${spaceTitle(pulsar, picture, say)}. ${spaceWords(now, say)}`);
    draw(svg, [
      ...bands,
      ...(isRing
        ? ring.marks(picture, size, { lens: window, slot, draining, lines: middle })
        : ranges.marks(picture, size, { lens: window, slot, draining, number })),
    ]);
    showHanding(now);
    $("lens").style.setProperty("width", `${wide}px`);
    $("lens").setAttribute("aria-label", setText($("lens-words"), `${number(window.from)}..${number(window.to - 1)}`));
    draw(
      $("lens"),
      lens.layout(picture, { window, width: wide, colorOf, slot, draining: pulsar.draining?.slots ?? {}, say }),
    );
    $("lens-at").value = Math.round((at / picture.space) * 1000);
    $("lens-out").disabled = span >= picture.space;
    $("lens-in").disabled = span <= 16;
    drawHanded(now);
  }

  // A change of owners is shown in motion once: what was given grows out of its former owner into its new one.
  function showHanding({ picture }) {
    const key = picture.before ? `${fingerprint(picture.now)}/${fingerprint(picture.before)}` : "";
    if (handAt === key) return;
    const isFirst = handAt === null;                      // what had happened before the page was there
    handAt = key;
    if (isFirst || isStill()) return;
    const svg = $("space");
    svg.removeAttribute("data-handing");
    svg.getBoundingClientRect();                          // so that the same motion begins again
    svg.setAttribute("data-handing", "");
    setTimeout(() => handAt === key && svg.removeAttribute("data-handing"), HAND_MS);
  }

  function drawHanded({ pulsar, picture, bill }) {
    const shown = pulsar.handed.slice(0, HANDED_SHOWN);
    const texts = shown.map((row) => handedWords(row, picture.space, say));
    if (pulsar.handed.length > shown.length) {
      texts.push(say("subscription.handed_more", { count: pulsar.handed.length - shown.length }));
    }
    if (texts.length && bill?.space_moved) {
      texts.unshift(say("subscription.handed_all", { part: percent(bill.space_moved, 1) }));
    }
    if (!texts.length) texts.push(say(picture.before ? "subscription.handed_nothing" : "subscription.handed_none"));
    fillList($("handed"), texts.map((text) => [text, false]));
  }

  // The lens goes where the pointer is on the ring or the line, while it is pressed.
  let isHeld = false;
  $("space").addEventListener("pointerdown", (event) => {
    if (event.button) return;
    isHeld = true;
    $("space").setPointerCapture(event.pointerId);
    follow(event);
  });
  $("space").addEventListener("pointermove", (event) => isHeld && follow(event));
  addEventListener("pointerup", () => { isHeld = false; });
  addEventListener("pointercancel", () => { isHeld = false; });

  function follow(event) {
    const { left, top } = $("space").getBoundingClientRect(), { picture } = current();
    const point = [event.clientX - left, event.clientY - top];
    const slot = picture.kind === "ring" ? ring.slotAt(point, picture, size) : ranges.slotAt(point, picture, size);
    if (slot === null) return;
    at = slot;
    redraw();
  }

  $("lens-at").addEventListener("input", () => {
    const { space } = current().picture;
    at = Math.min(space - 1, Math.floor((Number($("lens-at").value) / 1000) * space));
    redraw();
  });
  const zoom = (factor) => {
    if (!("space" in current().picture)) return;
    span = Math.max(16, Math.min(current().picture.space, span * factor));
    redraw();
  };
  $("lens-in").addEventListener("click", () => zoom(1 / LENS_STEP));
  $("lens-out").addEventListener("click", () => zoom(LENS_STEP));

  // The lens shows this slot.
  function lookAt(slot) {
    at = slot;
    redraw();
  }

  return { write, lookAt, zoomIn: () => zoom(1 / LENS_STEP), zoomOut: () => zoom(LENS_STEP) };
}
