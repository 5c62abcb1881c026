// The folders of the server, as a path that leads back and a list that leads on. The choice is the current folder, or a
// file in it.

import { page, onLanguage, say, speak } from "../base/chrome.js";
import { reasonOf } from "../base/reasons.js";
import { ask } from "../base/requests.js";
import { el } from "./el.js";
import { bytes } from "./sizes.js";

// onlyLogs: offer Kafka's logs alone. onChange(chosen): { name, kind, topics }, or null where nothing here can be read.
// -> null where no folder is open to anybody
export function createFolderBrowser(root, { onlyLogs = false, onChange }) {
  if (!root) return null;
  const part = (name) => root.querySelector(`[data-${name}]`), topic = part("topic").querySelector("select");
  let here = null, chosen = null, asked = 0;

  // name: a folder, or with file the one around it. null: all that are open.
  async function open(name, { file = null } = {}) {
    const turn = (asked += 1);
    part("wrong").hidden = true;
    try {
      const answer = await ask(page.urls.folders + (name ? `?name=${encodeURIComponent(name)}` : ""));
      if (turn !== asked) return;
      here = answer;
    } catch (error) {
      if (turn === asked) wrong(reasonOf(error));
      return;
    }
    const picked = here.entries.find((entry) => entry.name === file);
    if (picked) choose({ name: file, kind: null, topics: null, bytes: picked.bytes });
    else
      choose(
        here.kind && (!onlyLogs || here.topics) ? { name: here.name, kind: here.kind, topics: here.topics } : null,
      );
  }

  // Where an earlier study read: a folder and its topic, or a file in one.
  async function reach(name, wanted) {
    await open(name);
    if (here === null && name.includes("/")) await open(name.slice(0, name.lastIndexOf("/")), { file: name });
    if (!chosen?.topics?.some((each) => each.topic === wanted)) return;
    topic.value = wanted;
    onChange(chosen);
  }

  function choose(next) {
    chosen = next;
    show();
    onChange(chosen);
  }

  // The kind of a file is only known when its first rows were read.
  function setKind(kind) {
    if (!chosen) return;
    chosen.kind = kind;
    showFound();
  }

  function wrong(text) {
    part("wrong").hidden = !text;
    part("wrong").textContent = text;
  }

  function show() {
    const parts = here.name ? here.name.split("/") : [];
    const crumb = (text, name) => el("button", { type: "button", class: "link", onclick: () => open(name) }, text);
    const trail = parts
      .map((text, place) => [
        el("span", { class: "m", "aria-hidden": "true" }, "/"), crumb(text, parts.slice(0, place + 1).join("/")),
      ])
      .flat();
    part("crumbs").replaceChildren(crumb(say("data.folder_all"), null), ...trail);
    const entries = here.entries.filter((entry) => entry.folder || !onlyLogs);
    part("entries").replaceChildren(...entries.map(row));
    speak(part("summary"), "data.folder_inside", "say", { count: entries.length });
    // The partitions of a log can be opened one by one, but rarely are.
    part("listing").open = !here.topics;
    part("listing").hidden = !entries.length;
    part("topic").hidden = !chosen?.topics || chosen.topics.length < 2;
    showTopics();
    showFound();
  }

  const row = (entry) => {
    const name = `${entry.name.split("/").at(-1)}${entry.folder ? "/" : ""}`;
    const size = entry.bytes === null ? "" : bytes(entry.bytes);
    const act = () =>
      entry.folder ? open(entry.name) : choose({ name: entry.name, kind: null, topics: null, bytes: entry.bytes });
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", "aria-pressed": entry.folder ? null : String(chosen?.name === entry.name), onclick: act },
        el("span", { class: "n" }, name),
        el("span", { class: "n m s" }, size),
      ),
    );
  };

  function showTopics() {
    const topics = chosen?.topics ?? [], before = topic.value;
    const one = ({ topic: name, partitions }) => new Option(say("data.topic_one", { topic: name, partitions }), name);
    topic.replaceChildren(new Option(say("data.topic_all", { count: topics.length }), ""), ...topics.map(one));
    if (topics.some((each) => each.topic === before)) topic.value = before;
  }

  function showFound() {
    const kind = chosen?.kind ? say(`data.folder_${chosen.kind}`) : "";
    const size = chosen?.bytes === undefined ? "" : bytes(chosen.bytes);
    if (chosen?.topics) {
      const partitions = chosen.topics.reduce((sum, each) => sum + each.partitions, 0);
      part("found").textContent = say("data.folder_log", { topics: chosen.topics.length, partitions });
    } else if (chosen && size) part("found").textContent = kind ? say("data.folder_file", { kind, size }) : size;
    else if (chosen) part("found").textContent = say("data.folder_files", { kind });
    else if (!here.entries.length) part("found").textContent = say("data.folder_empty");
    else part("found").textContent = say(onlyLogs ? "data.folder_pick_log" : "data.folder_pick");
  }

  onLanguage(() => here && show());
  return {
    open, reach, setKind,
    isOpen: () => asked > 0,
    chosen: () => chosen,
    // "" means all; a log of one topic needs none named.
    topic: () => (chosen?.topics?.length > 1 && topic.value) || null,
  };
}
