// A lab and its branches as tabs below the line of time: each with the mark of what it was last ordered, and, where a
// page of it is open, the way to the same page at the same moment.

import { onLanguage, page, say } from "../base/chrome.js";
import { ask } from "../base/requests.js";
import { draw } from "../drawing/shapes.js";
import { labelOf, lettered, linesOf, nextLetter } from "./branch_names.js";
import { momentHash } from "./moment_link.js";
import { LINE, mark } from "./timeline.js";

const AGAIN_MS = 3000;

// The address of a page of this lab, as a page of the other one. "/" names no lab, a page of two names both.
function sameKind(id, { pathname, search }) {
  const isNamed = pathname.includes(page.lab) && !pathname.includes(id);
  return isNamed ? pathname.replace(page.lab, id) + search : page.urls.lab.replace("{id}", id);
}

// past: what the page looks at. changed(): the line of time has other branches. rename(): opens the lab's name.
export function createBranches({ root, starts, past, current, changed, rename }) {
  let rows = [], key = null, askedAt = -Infinity, timer = 0;

  async function load() {
    askedAt = performance.now();
    try {
      rows = lettered((await ask(page.urls.branches)).branches);
      write();
      changed();
    } catch {
      key = null;                                         // asked again at the next change
    }
  }

  function write() {
    const focused = document.activeElement?.dataset?.branch;
    root.hidden = rows.length < 2;
    root.replaceChildren(...rows.map(tab), ...besides());
    if (focused) root.querySelector(`[data-branch="${focused}"]`)?.focus();
  }

  function tab(row) {
    const isSelf = row.is === "self", element = document.createElement(isSelf && page.owner ? "button" : "a");
    element.dataset.branch = row.id;
    if (isSelf) element.setAttribute("aria-current", "true");
    if (element.tagName === "BUTTON") [element.type, element.title] = ["button", say("frame.rename")];
    else element.href = sameKind(row.id, location);
    if (row.mark) element.append(picture(row.mark));
    const textContent = labelOf(row, rows, page.language, say);
    element.append(Object.assign(document.createElement("span"), { textContent }));
    return element;
  }

  function picture(given) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of Object.entries({ viewBox: `-8 ${LINE - 8} 16 16`, width: 16, height: 16 })) {
      svg.setAttribute(name, value);
    }
    svg.setAttribute("aria-hidden", "true");
    draw(svg, mark({ position: "own", ...given }, 0));
    return svg;
  }

  // Two of them beside each other: the one on the page and the first of the others.
  function besides() {
    const other = rows.find((row) => row.is !== "self");
    if (!other || !page.urls.beside) return [];
    const href = page.urls.beside.replace("{id}", other.id);
    return [Object.assign(document.createElement("a"), {
      href, className: "beside", textContent: say("branches.beside"), title: say("branches.beside_title"),
    })];
  }

  // The moment on the page, where the other lab has come to it; else its present.
  function follow(link) {
    const row = rows.find(({ id }) => id === link.dataset.branch), { at_us: atUs } = current();
    link.hash = row && atUs < row.at_us ? momentHash({ at_us: atUs }) : "";
  }

  function go(by) {
    const links = [...root.querySelectorAll("[data-branch]")];
    const here = links.findIndex((link) => link.hasAttribute("aria-current"));
    const next = links[here + by];
    next?.click();
    return Boolean(next);
  }

  root.addEventListener("click", ({ target }) => {
    const link = target.closest("[data-branch]");
    if (link?.tagName === "BUTTON") rename();
    else if (link) follow(link);
  });
  root.addEventListener("keydown", (event) => {
    const all = [...root.children], step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step ? all[all.indexOf(document.activeElement) + step] : null;
    if (!next) return;
    next.focus();
    event.preventDefault();
  });
  onLanguage(write);

  return {
    load, lines: () => (rows.length > 1 ? linesOf(rows) : []),
    bindings: () => [
      { keys: ["{"], says: "keys.branch_before", act: () => go(-1) },
      { keys: ["}"], says: "keys.branch_after", act: () => go(1) },
    ],
    // Of a newer view: the newest order is the name of a branch that has none.
    draw() {
      const isStart = past.isShown() && rows.length > 0;
      starts.hidden = !isStart;
      if (isStart) starts.textContent = say("branches.starts", { letter: nextLetter(rows) });
      const now = Object.keys((past.now() ?? current()).timeline).at(-1) ?? "";
      if (now === key) return;
      key = now;
      clearTimeout(timer);
      timer = setTimeout(load, Math.max(0, AGAIN_MS - (performance.now() - askedAt)));
    },
  };
}
