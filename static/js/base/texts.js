// Lessons and cases are texts of their own in both languages, which change in place with the page's.

import { onLanguage, page } from "./chrome.js";

export function followLanguage(changed = () => {}) {
  onLanguage(() => {
    for (const element of document.querySelectorAll("[data-en]")) {
      element.textContent = page.language === "en" ? element.dataset.en : element.dataset.zh;
    }
    changed();
  });
}
