// The presenter's page says what it shows, whenever that is something else: one request at a time, the newest wins.

import { change } from "../base/requests.js";
import { shownOf } from "./follow.js";

const EVERY_MS = 100;

// look(): {page, query, moment, chosen, thing}, null where that is not known yet. where(): {url, lab}. isMine():
// whether this page presents. failed(error): a refusal.
export function createPresent({ look, where, isMine, failed }) {
  let said = "", isAsking = false;

  async function tell() {
    if (isAsking || !isMine() || document.hidden) return;
    const looked = look();
    if (looked === null) return;
    const { url, lab } = where(), body = { lab, shown: shownOf(looked) }, text = JSON.stringify(body);
    if (text === said) return;
    isAsking = true;
    try {
      await change(url, body);
      said = text;
    } catch (error) {
      if (error.status) failed(error);                   // without an answer it is said again in a moment
      said = error.status && error.status !== 429 ? text : said;
    } finally {
      isAsking = false;
    }
  }

  setInterval(tell, EVERY_MS);
  return { again: () => { said = ""; } };
}
