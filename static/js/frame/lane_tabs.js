// What the tabs of a page's lanes say, in the page's language.

import { words } from "../base/chrome.js";
import { setText } from "../base/dom.js";
import { tabNames } from "../lane/name.js";

export function createLaneTabs({ current }) {
  const tabs = [...document.querySelectorAll("[data-lane-tab]")];
  return {
    draw() {
      if (!tabs.length) return;
      const names = tabNames(current(), words());
      for (const tab of tabs) setText(tab, names[tab.dataset.laneTab]);
    },
  };
}
