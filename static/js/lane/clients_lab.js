// A lab for real clients alone, open from its beginning: whoever comes to its page finds the address there.

import { page } from "../base/chrome.js";
import { submit } from "../base/commands.js";
import { send } from "../base/requests.js";
import { OPEN } from "./clients_state.js";

// clients: of the page.
export async function labForClients({ labs, request, page: place }) {
  const { id } = await send(labs, request), urls = { commands: `${labs}${id}/commands/` };
  await submit({ ...page, urls }, { kind: OPEN, lane: "all" });
  location.assign(place.replace("LAB", id));
}
