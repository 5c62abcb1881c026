// A person's last order as a curl command. The button waits for the first one; its title says which it copies.

import { onLanguage, page, say } from "./chrome.js";

const OWN = ["command_id"];
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// The command that gives this order again, under another id.
export function curlOf(url, order, id) {
  const body = { command_id: id, ...Object.fromEntries(Object.entries(order).filter(([name]) => !OWN.includes(name))) };
  return `curl ${quoted(url)} -H "Authorization: Bearer $OWNER_TOKEN" -H 'Content-Type: application/json' ` +
    `-d ${quoted(JSON.stringify(body))}`;
}

// -> ordered(order): what was sent just now.
export function createCurl(button, notice) {
  let last = null;
  const write = () => { if (last) button.title = say("curl.last", { kind: last.kind }); };
  button?.addEventListener("click", async () => {
    const url = new URL(page.urls.commands, location.href).href;
    try {
      await navigator.clipboard.writeText(curlOf(url, { lane: "all", ...last }, `curl-${Date.now()}`));
      notice(say("curl.copied"), { near: button, kind: "done" });
    } catch {                                                     // no leave, or not a safe address
      notice(say("curl.failed"), { near: button });
    }
  });
  onLanguage(write);
  return (order) => {
    if (!button) return;
    last = order;
    button.disabled = false;
    write();
  };
}
