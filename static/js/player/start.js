// Before the modules of a capsule's page: what they ask the server is answered from the recording, and nothing leaves
// the file.

import { page, say, speak, words } from "../base/chrome.js";
import { clock } from "../base/say.js";
import { createAnswers } from "./answers.js";

const answers = createAnswers({ ...globalThis.recorded, urls: page.urls, say, words });
const view = Object.assign(document.createElement("script"), { id: "view", type: "application/json" });
view.textContent = JSON.stringify(answers.last());
document.body.append(view);
page.player.questions = answers.questions;

globalThis.fetch = async (address, { method = "GET" } = {}) => {
  const url = new URL(address, "http://capsule/");
  const { status, body } = await answers.answer(method, url.pathname, Object.fromEntries(url.searchParams));
  return { ok: status === 200, status, json: async () => body };
};

// A feed on which nothing comes.
globalThis.WebSocket = class extends EventTarget {
  readyState = 0;                                        // nothing can be said on it
  constructor() {
    super();
    setTimeout(() => this.dispatchEvent(new Event("open")));
  }
};

const { from_us: from, until_us: until } = page.player;
speak(document.getElementById("player-about"), "capsule.about", "say", {
  from: clock(from), until: clock(until), count: answers.count,
});
