// The look-up's form and its player: the request, its rule, and the step that the page shows.

import { page } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { plainNumber } from "../base/plain_number.js";
import { number } from "../base/say.js";
import { isFinal } from "./address.js";
import { firstExample } from "./example.js";
import { instant } from "./format.js";
import { isBelow } from "./offsets.js";
import { isOutdated, segmentOf } from "./outdated.js";
import { createPlayer } from "./player.js";
import { LONG_MAX, fieldError, isLong } from "./settings_form.js";
import { createTiers } from "./tiers.js";
import { message, stepWords } from "./words.js";

const AGAIN_MS = 700;
const $ = (id) => document.getElementById(id);
// The two walks of the article of docs/kafka/log.md, chapter 2.
const WALKS = [{ kind: "offset", value: 6506155 }, { kind: "timestamp", value: 1570793423501 }];

export function createLookup({ api, say, speak, folder, timestamp, onBatch, onDrawn, onFault }) {
  const input = $("value"), tiers = createTiers($("steps"), { say, folder });
  // isOwn: somebody asked for it
  let kind = "offset", rule = "kafka", answer = null, asked = 0, isPlaying = false, isOwn = false, isRefused = false;
  let bytes = null;                                     // of the segment that the answer ended in, as it was then

  const player = createPlayer({
    onMoment(moment, place, count) {
      isPlaying = place < count - 1;
      tiers.show(moment, { isMoving: isPlaying });
      $("batch").toggleAttribute("data-old", isPlaying || isRefused);
      $("place").textContent = say("log.place", { place: place + 1, count });
      still({ back: place === 0, next: place >= count - 1, autoplay: count < 2 });
      if (place === count - 1) {
        $("told").textContent = isOwn ? stepWords(answer, answer.steps[moment.step], say).join("") : "";
        onBatch(answer.batch ?? null);
      }
      onDrawn();
    },
    onState: ({ isPlaying: isMoving }) => speak($("autoplay"), isMoving ? "log.pause" : "log.play"),
  });

  // A button that has nothing to do keeps the focus: it only says that it rests.
  function still(buttons) {
    for (const [id, isStill] of Object.entries(buttons)) $(id).setAttribute("aria-disabled", String(isStill));
  }

  function form() {
    for (const button of document.querySelectorAll("[data-by]")) {
      button.setAttribute("aria-pressed", String(button.dataset.by === kind));
    }
    for (const button of document.querySelectorAll("[data-rule]")) {
      button.setAttribute("aria-pressed", String(button.dataset.rule === rule));
    }
    $("rule").hidden = kind !== "timestamp";
    $("rule-about").hidden = rule !== "document";
    $("instant").textContent =
      kind === "timestamp" && isLong(plainNumber(input.value)) ? instant(Number(plainNumber(input.value))) : "";
    speak(input, `log.value_${kind}`, "sayLabel");
  }

  function words() {
    const text = answer && !isRefused ? message(answer, folder(), say) : "";
    if ($("answer").textContent !== text) $("answer").textContent = text;
    $("answer").hidden = !$("answer").textContent;
  }

  async function ask(target, isMoving, isFirst = false) {
    const turn = (asked += 1);
    isOwn ||= !isFirst;
    try {
      const found = await api.lookup(target);
      if (turn !== asked) return;
      // retention was faster
      if (isFirst && !isOwn && found.found === null) return setTimeout(() => answer ?? begin(), AGAIN_MS);
      answer = found;
      bytes = segmentOf(answer, folder())?.bytes ?? null;
      refuse("");
      words();
      const isHeld = $("steps").contains(document.activeElement);
      tiers.open(answer);
      if (answer.steps.length) player.open(answer, isMoving && !matchMedia("(prefers-reduced-motion: reduce)").matches);
      else none();
      if (isHeld && !$("steps").contains(document.activeElement)) input.focus();
    } catch (error) {
      if (isFirst && !isFinal(error)) return setTimeout(() => answer ?? begin(), AGAIN_MS);
      const texts =
        error instanceof Refusal ? (error.fields[target.kind] ?? error.fields.value ?? error.fields.rule) : null;
      if (texts) refuse([texts].flat().join(" "));
      else {
        putOld(true);
        onFault(error, $("look-up"));
      }
    }
  }

  // What is still shown belongs to another question than the one that was refused, and its sentence goes.
  function putOld(isOld) {
    isRefused = isOld;
    if (isOld) $("told").textContent = "";
    words();
    for (const id of ["steps", "batch"]) $(id).toggleAttribute("data-old", isRefused);
  }

  function refuse(text) {
    fieldError(input, text);
    putOld(Boolean(text));
  }

  function none() {
    player.close();
    still({ back: true, next: true, autoplay: true });
    $("place").textContent = "";
    onBatch(null);
    onDrawn();
  }

  function set(newKind, value) {
    [kind, input.value] = [newKind, String(value)];
    refuse("");
    form();
  }

  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const value = plainNumber(input.value);
    if (!isLong(value)) {
      refuse(say(`log.${kind}_range`, { most: number(LONG_MAX) }));
      return input.focus();
    }
    ask({ kind, value, rule }, true);
  });
  input.addEventListener("input", form);
  for (const button of document.querySelectorAll("[data-by]")) {
    button.addEventListener("click", () => {
      if (button.dataset.by === kind) return;
      set(button.dataset.by, (button.dataset.by === "timestamp" ? timestamp() : answer?.found) ?? "");
      input.focus();
    });
  }
  for (const button of document.querySelectorAll("[data-rule]")) {
    button.addEventListener("click", () => {
      rule = button.dataset.rule;
      form();
      if (isLong(plainNumber(input.value))) ask({ kind, value: plainNumber(input.value), rule }, false);
    });
  }
  for (const [id, press] of [["back", player.back], ["next", player.next], ["autoplay", player.toggle]]) {
    $(id).addEventListener("click", () => $(id).getAttribute("aria-disabled") === "true" || press());
  }

  const examples = page.log.kind === "article" ? WALKS : [];
  $("examples").hidden = !examples.length;
  $("examples").replaceChildren(...examples.map((example) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.dataset.example = example.kind;
    button.addEventListener("click", () => {
      set(example.kind, example.value);
      ask({ kind, value: example.value, rule }, true);
    });
    return button;
  }));

  function exampleWords() {
    [...$("examples").children].forEach((button, place) => {
      button.textContent = `${say(`log.by_${examples[place].kind}`)} ${examples[place].value}`;
    });
  }

  // The look-up that the address names, else the article's, else one in the last closed segment: at its end, so that
  // the page is whole at once.
  function begin(query = new URLSearchParams()) {
    const { start_offset: start, end_offset: end } = folder(), first = examples[0];
    if (!isBelow(start, end)) return;
    if (query.get("rule") === "document") rule = "document";
    isOwn ||= query.has("timestamp") || query.has("offset");
    if (query.has("timestamp")) set("timestamp", query.get("timestamp"));
    else if (query.has("offset")) set("offset", query.get("offset"));
    else if (!isOwn && first) set(first.kind, first.value);
    else if (!isOwn) set("offset", firstExample(folder()));
    if (isLong(plainNumber(input.value))) ask({ kind, value: plainNumber(input.value), rule }, false, true);
  }

  return {
    begin,
    at(offset) {
      set("offset", offset);
      ask({ kind, value: offset, rule }, false);
    },
    again() {
      if (answer) ask({ ...answer.target, rule: answer.rule ?? rule }, false);
    },
    back: () => player.back(),
    next: () => player.next(),
    toggle: () => player.toggle(),
    redraw() {
      form();
      words();
      exampleWords();
      player.redraw();
    },
    isIdle: () => asked === 0,
    isRefused: () => isRefused,
    // A look-up that nobody asked for follows the log when retention takes its record; any is repeated where the
    // cleaner or a truncation has changed the segment that it ended in. isDue: it waits for another folder, and is
    // repeated then.
    folderCame({ isDue }) {
      const isBehind = answer && answer.found !== null && isBelow(answer.found, folder().start_offset);
      if (!isOwn && isBehind) begin();
      else if (answer && !isDue && !isBehind && isOutdated(answer, bytes, folder())) this.again();
      else words();
      if (answer && bytes === null) bytes = segmentOf(answer, folder())?.bytes ?? null;
    },
    // Whether the log is as far as what is asked for.
    isWithin({ segments, end_offset: end }) {
      const { kind: by, value } = answer?.target ?? { kind: null }, last = segments.at(-1)?.max_timestamp ?? -1;
      return by !== null && (by === "offset" ? isBelow(value, end) : !isBelow(last, value));
    },
    ofFolder: () => tiers.ofFolder(),
    params() {
      if (!answer || !isOwn) return {};
      const { kind: by, value } = answer.target;
      return by === "timestamp"
        ? { timestamp: value, ...(answer.rule === "document" ? { rule: "document" } : {}) }
        : { offset: value };
    },
  };
}
