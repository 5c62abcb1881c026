// Which log is looked at: a replica on one of the cluster's brokers; what that replica is; and the texts of its
// checkpoints.

import { number, sentences } from "../base/say.js";

const GONE = new Set(["crashed", "stopped", "disk_lost", "paused"]);

// The choices as [value, text] of each select. dashboard/logs/presentation.py writes the first ones.
export function choices(folder, say) {
  const brokers = (folder.brokers ?? []).map(({ id, condition }) => [
    String(id), say(GONE.has(condition) ? `log.broker.${condition}` : "log.broker", { broker: id }),
  ]);
  const isEnd = folder.broker !== null && folder.broker !== undefined;
  return {
    broker: brokers,
    topic: (folder.topics ?? []).map((topic) => [topic, topic]),
    partition: (folder.partitions ?? []).map(({ partition, end_offset: end }) => [
      String(partition),
      isEnd && end > 0 ? say("log.partition_end", { partition, end: number(end) }) : String(partition),
    ]),
  };
}

// A list grows and changes while somebody has it open: only what differs is written.
export function writeSelect(select, options, chosen) {
  if (!select) return;
  const label = select.closest("label");
  if (label) label.hidden = options.length < 2;
  const key = JSON.stringify(options);
  if (select.dataset.key !== key) {
    select.replaceChildren(
      ...options.map(([value, text]) => Object.assign(document.createElement("option"), { value, textContent: text })),
    );
    select.dataset.key = key;
  }
  if (select.value !== chosen) select.value = chosen;
}

// What this replica is, in sentences; "" of a log that is none.
export function replicaWords(folder, say) {
  const { replica, broker } = folder;
  if (!replica) return "";
  const about = {
    broker, leader: replica.leader, hw: number(folder.high_watermark), leo: number(folder.end_offset),
    start: number(folder.start_offset),
  };
  if (replica.condition === "disk_lost") return say("log.replica.disk_lost", about);
  const behind = replica.leader_end === null ? 0 : replica.leader_end - folder.end_offset;
  const list = [
    say(replica.role === "not_running" ? `log.replica.${replica.condition}` : `log.replica.${replica.role}`, about),
  ];
  if (replica.role === "follows" && behind) {
    list.push(say(behind > 0 ? "log.replica.behind" : "log.replica.ahead", { count: Math.abs(behind) }));
  }
  if (replica.condition === "paused") list.push(say("log.replica.paused", about));
  list.push(say("log.replica.marks", about));
  if (replica.gaps) list.push(say("log.replica.gaps", { count: replica.gaps }));
  return sentences(list);
}

// Files with lines of text, and what to ask the server for.
export const isText = (name) => /(^|\/)(\.kafka_cleanshutdown|partition\.metadata|[a-z-]+-checkpoint)$/.test(name);

// The checkpoints as buttons; the one that is open has its text below.
export function createTexts(box, { api, say, onFault }) {
  const list = box.querySelector("[data-names]"), text = box.querySelector("pre");
  const title = box.querySelector("[data-title]");
  // wanted: asked for last. A folder that grows reads it again, however long its first answer takes.
  let open = null, wanted = null;

  async function read(name, near) {
    wanted = name;
    try {
      const answer = await api.file(name);
      if (name !== wanted) return;
      [open, text.textContent] = [name, answer.text || say("log.text_empty")];
    } catch (error) {
      if (name !== wanted) return;
      open = wanted = null;
      if (near) onFault(error, near);
    }
    show();
  }

  function show() {
    title.textContent = open ?? "";
    text.hidden = open === null;
    title.hidden = open === null;
    for (const button of list.querySelectorAll("button")) {
      button.setAttribute("aria-expanded", String(button.dataset.name === open));
    }
  }

  list.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    if (button.dataset.name === open) {
      open = wanted = null;
      show();
    } else read(button.dataset.name, button);
  });

  return {
    // names: as the server knows them, those of the broker's folder with "../" before.
    write(names) {
      box.hidden = !names.length;
      const held = [...list.querySelectorAll("button")].map(({ dataset }) => dataset.name);
      if (held.join() !== names.join()) {
        list.replaceChildren(...names.map((name) => {
          const item = document.createElement("li"), button = document.createElement("button");
          Object.assign(button, { type: "button", className: "link n", textContent: name });
          button.dataset.name = name;
          item.append(button);
          return item;
        }));
      }
      if (wanted !== null && !names.includes(wanted)) open = wanted = null;
      if (wanted !== null) read(wanted, null);
      show();
    },
    close() {
      open = wanted = null;
      show();
    },
  };
}
