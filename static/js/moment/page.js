// A link to a moment of a lab: asks for the visitor's own copy at that moment, and goes there.

import { page, say } from "../base/chrome.js";
import { Refusal, fork } from "../base/commands.js";
import { keepRemark } from "../base/remark.js";

try {
  const { id } = await fork(page, page.moment);
  keepRemark(id, [say("moment.opened", page.params)]);
  location.replace(page.urls.lab.replace("{id}", id));     // so that "back" does not make another copy
} catch (error) {
  const reason = document.getElementById("reason");
  reason.textContent =
    error instanceof Refusal && error.message
      ? say("notice.refused", { reason: error.message })
      : say("notice.unreachable");
  reason.hidden = false;
}
