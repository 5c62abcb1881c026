// Reads {view, words} from standard input and prints the chain of causes of each lane, as the panel "Why?" writes it:
// for the test that holds it with the words of each language.
import { readFileSync } from "node:fs";

import { speaker } from "../../static/js/base/say.js";
import { chain } from "../../static/js/stage/why.js";

const { view, words } = JSON.parse(readFileSync(0, "utf8"));
const chainOf = (id) => chain(view.lanes[id], view.timeline, { say: speaker(words), words });
process.stdout.write(JSON.stringify(Object.fromEntries(view.lane_order.map((id) => [id, chainOf(id)]))));
