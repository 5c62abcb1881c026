// How far a study is: by its websocket, and by asking every two seconds while that is closed.

import { page } from "../base/chrome.js";
import { ask } from "../base/requests.js";
import { openSocket } from "../feed/socket.js";
import { heard } from "./progress_part.js";

const POLL_MS = 2000;

// onStudy(study, how): a study as the API tells it; how: "live" by the socket, "polling" by asking, "disconnected".
// onWindows(rows): of a live study. onFull(): there was no room for one more socket.
export function follow(id, { onStudy, onFull, onWindows = () => {} }) {
  let study = null, isOpen = false;

  function take(next, how) {
    study = next;
    onStudy(study, how);
  }

  async function poll() {
    try {
      take(await ask(`${page.urls.studies}${id}/`), isOpen ? "live" : "polling");
    } catch {
      take(study, "disconnected");
    }
  }

  const socket = openSocket(page.urls.socket, {
    onMessage(message) {
      if (message.type === "window") onWindows(message.rows);
      if (message.type !== "progress" || isOver(study)) return;
      // How it ended is asked for: the words of an error are the server's, in the reader's language.
      if (!study || isOver(message)) poll();
      else take(heard(study, message), "live");
    },
    onState(state) {
      isOpen = state === "open";
      if (!isOver(study)) poll();
      if (state === "full") onFull();
    },
  });
  setInterval(() => isOpen || isOver(study) || poll(), POLL_MS);
  return { poll, drop: () => socket.drop() };
}

export const isOver = (study) => ["done", "failed", "cancelled"].includes(study?.state);
