// The editor for one's own lesson: line numbers, the line that is wrong, and a link that holds the text.

import { say } from "../base/chrome.js";
import { packed, unpacked } from "./share.js";
import { followLanguage } from "../base/texts.js";

const $ = (id) => document.getElementById(id);
const text = $("text"), editor = document.querySelector(".editor"), lines = editor.querySelector(".lines");
const mark = editor.querySelector(".mark"), wrong = $("wrong"), share = $("share"), byHand = $("by-hand");
const max = Number($("own").dataset.max);
const wrongLine = Number(editor.dataset.line);
const sent = text.value;                                          // what the mark is about
let said = "";

// -- lines ------------------------------------------------------------------------------------------------------------

function number() {
  const count = text.value.split("\n").length;
  if (lines.childElementCount === count) return;
  lines.replaceChildren(...Array.from({ length: count }, (_, place) => {
    return Object.assign(document.createElement("span"), { textContent: `${place + 1}\n` });
  }));
}

function follow() {
  lines.style.transform = `translateY(${-text.scrollTop}px)`;
  const isWrong = wrongLine > 0 && text.value === sent;
  mark.hidden = !isWrong;
  lines.children[wrongLine - 1]?.toggleAttribute("data-wrong", isWrong);
  if (!isWrong) {
    wrong?.classList.remove("at-line");
    return;
  }
  const high = parseFloat(getComputedStyle(text).lineHeight), top = parseFloat(getComputedStyle(text).paddingTop);
  const at = top + (wrongLine - 1) * high - text.scrollTop;
  mark.style.transform = `translateY(${at}px)`;
  mark.hidden = at < 0 || at + high > text.clientHeight;
  wrong.classList.toggle("at-line", !mark.hidden && at + 3 * high < text.clientHeight);
  wrong.style.setProperty("--at", `${at + high}px`);
}

function toLine() {
  const before = text.value.split("\n").slice(0, wrongLine - 1).join("\n");
  const begin = before.length + (wrongLine > 1 ? 1 : 0), end = text.value.indexOf("\n", begin);
  text.focus();
  text.setSelectionRange(begin, end < 0 ? text.value.length : end);
  const high = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, (wrongLine - 1) * high - text.clientHeight / 3);
  follow();
}

// -- a link -----------------------------------------------------------------------------------------------------------

function tell(code) {
  said = code;
  $("shared").textContent = code ? say(code) : "";
}

async function copyLink() {
  byHand.hidden = true;
  if (text.value.trim() === "") return tell("learn.share_empty");
  const fragment = new TextEncoder().encode(text.value).length <= max ? await packed(text.value) : null;
  if (fragment === null) return tell("learn.share_long");
  const link = `${location.origin}${location.pathname}#${fragment}`;
  try {
    await navigator.clipboard.writeText(link);
    tell("learn.shared");
  } catch {                                                       // no leave, or not a safe address
    tell("");
    byHand.hidden = false;
    byHand.querySelector("input").value = link;
    byHand.querySelector("input").select();
  }
}

async function openShared() {
  const shared = await unpacked(location.hash.slice(1), max);
  if (shared === undefined) return;
  if (shared === null) return tell("learn.share_bad");
  text.value = shared;
  number();
  follow();
}

text.addEventListener("input", () => {
  number();
  follow();
});
text.addEventListener("scroll", follow);
share.addEventListener("click", copyLink);
$("to-line")?.addEventListener("click", toLine);
addEventListener("hashchange", openShared);
addEventListener("resize", follow);
share.hidden = false;
if ($("to-line")) $("to-line").hidden = false;
number();
follow();
if (wrongLine > 0) toLine();
openShared();
followLanguage(() => tell(said));
