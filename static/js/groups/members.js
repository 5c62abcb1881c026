// The members as a list of buttons: colour, name, what it does, its generation or epoch. One press chooses whom the
// verbs are about.

import { paint } from "../drawing/paint.js";
import { doing, isBehind, tagsOf } from "./words.js";

export const COORDINATOR = "@coordinator";

// In the order of their colours; of two lives of one name the living first.
export function inOrder(group, consumers) {
  return Object.entries(group.members).sort(
    ([, a], [, b]) =>
      (consumers[a.consumer]?.order ?? 1e9) - (consumers[b.consumer]?.order ?? 1e9) ||
      Number(b.condition === "running") - Number(a.condition === "running"),
  );
}

// Who stays chosen: a member; when it is no more, the next life of its program. consumer: the name of who was chosen (a
// view is changed in place).
export function stillChosen(chosen, consumer, { members }) {
  if (chosen === null || chosen === COORDINATOR || chosen in members) return chosen;
  return Object.keys(members).find((key) => members[key].consumer === consumer) ?? null;
}

// Its epoch, or generation, while it is a member; null: it is none.
export const epochOf = ({ epoch, member_id: id, generation }) =>
  epoch ?? (id === null || generation === null || generation < 0 ? null : generation);

// isListed(name): whether a member of that program has a row.
export function rowsOf(group, consumers, say, isListed = () => true) {
  const rows = inOrder(group, consumers).filter(([, { consumer }]) => isListed(consumer)).map(([key, member]) => {
    const epoch = epochOf(member);
    return {
      key, name: member.consumer, color: consumers[member.consumer]?.color ?? null, isLeader: member.is_leader,
      doing: doing(member, group, say, key),
      isWell: member.condition === "running" && !member.is_stuck && member.failed === null,
      epoch: epoch === null ? "–" : String(epoch),
      isBehind: member.epoch === null ? epoch !== null && epoch < group.generation : isBehind(member, group),
      tags: tagsOf(member, group, say),
    };
  });
  const isThere = group.coordinator !== null;
  return [
    {
      key: COORDINATOR, name: say("groups.coordinator"), color: null, isLeader: false, isWell: isThere,
      doing: isThere ? say("groups.on_broker", { broker: group.coordinator }) : say("groups.no_coordinator"), epoch: "",
      isBehind: false, tags: "",
    },
    ...rows,
  ];
}

export function createMembers(list, onChoose) {
  const items = new Map();
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-member]");
    if (button) onChoose(button.dataset.member);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], all = [...list.querySelectorAll("button")];
    const place = all.indexOf(document.activeElement);
    if (!step || place < 0) return;
    all[place + step]?.focus();
    event.preventDefault();
  });
  return function write(rows, chosen, say) {
    for (const [key, item] of items) {
      if (rows.some((row) => row.key === key)) continue;
      item.remove();
      items.delete(key);
    }
    rows.forEach((row, place) => {
      const item = items.get(row.key) ?? made(row.key);
      items.set(row.key, item);
      if (list.children[place] !== item) list.insertBefore(item, list.children[place] ?? null);
      fill(item.firstElementChild, row, row.key === chosen, say);
    });
  };
}

function made(key) {
  const item = document.createElement("li"), button = item.appendChild(document.createElement("button"));
  Object.assign(button, { type: "button", className: "member" });
  button.dataset.member = key;
  const swatch = button.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  for (const [name, value] of Object.entries({ width: 14, height: 14, "aria-hidden": "true" })) {
    swatch.setAttribute(name, value);
  }
  const circle = swatch.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "circle"));
  for (const [name, value] of Object.entries({ cx: 7, cy: 7, r: 6, class: "o" })) circle.setAttribute(name, value);
  for (const part of ["who", "what m s", "at n s"]) {
    button.append(Object.assign(document.createElement("span"), { className: part }));
  }
  return item;
}

function fill(button, row, isChosen, say) {
  const [swatch, who, what, at] = button.children, color = row.color === null ? "none" : paint(row.color);
  if (swatch.firstElementChild.getAttribute("fill") !== color) swatch.firstElementChild.setAttribute("fill", color);
  const tagged = row.tags ? say("groups.with_tags", { name: row.name, tags: row.tags }) : row.name;
  const name = `${row.isLeader ? "★ " : ""}${tagged}`;
  if (who.textContent !== name) who.textContent = name;
  if (what.textContent !== row.doing) what.textContent = row.doing;
  if (at.textContent !== row.epoch) at.textContent = row.epoch;
  what.classList.toggle("bad", !row.isWell);
  at.classList.toggle("warn", row.isBehind);
  if (button.title !== (row.isLeader ? say("groups.leads") : "")) {
    button.title = row.isLeader ? say("groups.leads") : "";
  }
  button.setAttribute("aria-pressed", String(isChosen));
}
