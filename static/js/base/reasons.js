// What went wrong with a request, in one sentence: the server's own words where it has some.

import { say } from "./chrome.js";
import { Refusal } from "./commands.js";

export function reasonOf(error) {
  if (!(error instanceof Refusal)) return say("notice.unreachable");
  return error.message || say("notice.failed", { status: error.status });
}

export const refusalOf = (error) =>
  error instanceof Refusal && error.message ? say("notice.refused", { reason: error.message }) : reasonOf(error);
