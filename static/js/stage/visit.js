// A visitor's first moment: the page shows the demo that all share, and its first call makes the visitor's own copy of
// it, which the page then is about. Who only fetches the page, as a crawler or a preview of a link does, makes nothing.
// A script of its own, before the Stage's: the call is on its way while the Stage's modules come.

import { page } from "../base/chrome.js";
import { post } from "../base/commands.js";

export const visited = page.visit ? visit() : null;

// page is changed in place, and so are the links, which name the demo.
async function visit() {
  try {
    const { demo, ...own } = await post(page.visit, {}, { csrf: page.csrf });
    for (const link of document.querySelectorAll(`a[href*="/lab/${page.lab}/"]`)) {
      link.setAttribute("href", link.getAttribute("href").replace(page.lab, own.lab));
    }
    document.getElementById("main").dataset.lab = own.lab;
    Object.assign(page, own, { demo: page.plays ? demo : null });
  } catch (error) {
    page.refused = error.message || String(error.status ?? "");
  }
}
