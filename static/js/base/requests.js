// Requests of the Analyze pages. Nothing is sent twice on its own: a study that was started is started.

import { page } from "./chrome.js";
import { Refusal, cookie } from "./commands.js";

// signal: of who may stop waiting for it.
export const ask = (url, signal = null) =>
  answerOf(fetch(url, { credentials: "same-origin", headers: language(), signal }));

// secret: of a link, which gives the right that no cookie does.
export const send = (url, body, secret = "") => write("POST", url, body, secret);
// withinMs: after which nobody answers; null: as long as the browser waits.
export const change = (url, body, withinMs = null) => write("PATCH", url, body, "", withinMs);

const write = (method, url, body, secret, withinMs) => sendText(url, JSON.stringify(body), method, secret, withinMs);

// text: JSON as it is, of a file that a person chose.
export const sendText = (url, text, method = "POST", secret = "", withinMs = null) =>
  sendAs("application/json", url, text, method, secret, withinMs);
export const sendBytes = (url, bytes) => sendAs("application/octet-stream", url, bytes);

const sendAs = (type, url, body, method = "POST", secret = "", withinMs = null) =>
  answerOf(
    fetch(url, {
      method, credentials: "same-origin", body, ...(withinMs && { signal: AbortSignal.timeout(withinMs) }),
      headers: {
        "Content-Type": type, ...csrf(), ...language(),
        ...(secret && { Authorization: `Bearer ${secret}` }),
      },
    }),
  );

export const remove = (url) =>
  answerOf(fetch(url, { method: "DELETE", credentials: "same-origin", headers: { ...csrf(), ...language() } }));

export const csrf = () => ({ "X-CSRFToken": cookie("csrftoken") || page.csrf });

// The server's refusals come in the language that the page shows, also when it was changed a moment ago.
const language = () => ({ "Accept-Language": page.language });

// -> the answer as JSON; throws Refusal {status, fields} for anything refused, an error without status where nobody
// answers.
async function answerOf(request) {
  const answer = await request, body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  throw new Refusal(answer.status, body.fields ?? {});
}
