// The presenter's page says what it shows, whenever that is something else: one request at a time, the newest wins.

import { change } from "../base/requests.js";
import { shownOf } from "./follow.js";

const EVERY_MS = 100, ANSWERED_WITHIN_MS = 5000;

// look(): {page, query, moment, chosen, thing}, null where that is not known yet. where(): {url, lab}. isMine():
// whether this page presents. failed(error): a refusal. heard(isHeard): whether the room hears of it, as far as is
// known.
export function createPresent({ look, where, isMine, failed, heard }) {
  let said = "", isAsking = false;

  async function tell() {
    if (isAsking || !isMine() || document.hidden) return;
    const looked = look();
    if (looked === null) return;
    const { url, lab } = where(), body = { lab, shown: shownOf(looked) }, text = JSON.stringify(body);
    if (text === said) return;
    isAsking = true;
    try {
      await change(url, body, ANSWERED_WITHIN_MS);
      said = text;
      heard(true);
    } catch (error) {
      heard(Boolean(error.status));                      // without an answer it is said again in a moment
      if (error.status) failed(error);
      said = error.status && error.status !== 429 ? text : said;
    } finally {
      isAsking = false;
    }
  }

  setInterval(tell, EVERY_MS);
}
