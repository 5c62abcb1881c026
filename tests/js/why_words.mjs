// Reads {view, words} from standard input and prints the chain of causes of each lane, as the panel "Why?" writes it:
// for the test that holds it with the words of each language.
import { readFileSync } from "node:fs";

import { speaker } from "../../static/js/base/say.js";
import { chain } from "../../static/js/why/chain.js";

const { view, words } = JSON.parse(readFileSync(0, "utf8"));
const answer = (id) => {
  const { why, model } = view.lanes[id];
  return { chain: why, orders: view.timeline, model, thing: `lane:${id}` };
};
const chainOf = (id) => chain(answer(id), { say: speaker(words), words });
process.stdout.write(JSON.stringify(Object.fromEntries(view.lane_order.map((id) => [id, chainOf(id)]))));
