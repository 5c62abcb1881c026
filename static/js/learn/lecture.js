// A lecture's prose is in one language at a time, the server has the other; what was sent is its author's alone.

import { page } from "../base/chrome.js";
import { followLanguage } from "../base/texts.js";

const { language } = page;

followLanguage(() => {
  const isOwn = document.querySelector("form.ways textarea") !== null;
  if (page.language !== language && !isOwn) location.reload();
});
