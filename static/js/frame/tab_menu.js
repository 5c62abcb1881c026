// The tabs of a lab's pages for which the bar has no room: a button beside them counts those and opens their list.

import { onLanguage, say } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { place } from "../base/place.js";
import { outside, scrollTo } from "./tab_room.js";

const $ = (id) => document.getElementById(id);

export function createTabMenu() {
  const bar = document.querySelector(".lab-tabs"), button = $("more-tabs"), menu = $("tab-menu");

  function parts() {
    const { left } = bar.getBoundingClientRect(), from = bar.scrollLeft - left;
    return [...bar.children].map((tab) => {
      const box = tab.getBoundingClientRect();
      return { tab, start: box.left + from, end: box.right + from };
    });
  }
  const away = () => outside(parts(), bar.scrollLeft, bar.clientWidth);

  function write() {
    button.hidden = true;                               // the tabs may have room without it
    const isOver = bar.scrollWidth > bar.clientWidth;
    button.hidden = !isOver;
    count();
  }

  function count() {
    bar.toggleAttribute("data-cut", bar.scrollLeft + bar.clientWidth < bar.scrollWidth - 1);
    if (!button.hidden) setText(button, say("frame.more_tabs", { count: away().length }));
  }

  function fill() {
    menu.replaceChildren(...away().map(({ tab }) => {
      const link = document.createElement("a");
      Object.assign(link, { className: "item", href: tab.href, textContent: tab.textContent });
      if (tab.hasAttribute("aria-current")) link.setAttribute("aria-current", "page");
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        menu.hidePopover();
        tab.click();                                    // what else a press on the tab does, it does here, too
      });
      return link;
    }));
  }

  menu.addEventListener("beforetoggle", (event) => event.newState === "open" && fill());
  menu.addEventListener("toggle", (event) => {
    const isOpen = event.newState === "open";
    button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return;
    place(menu, button);
    menu.querySelector("a")?.focus();
  });
  bar.addEventListener("scroll", count, { passive: true });
  addEventListener("resize", write);
  new ResizeObserver(count).observe(bar);               // the number itself takes room
  onLanguage(write);
  write();
  const current = parts().find(({ tab }) => tab.hasAttribute("aria-current"));
  if (current) bar.scrollLeft = scrollTo(current, bar.clientWidth);
}
